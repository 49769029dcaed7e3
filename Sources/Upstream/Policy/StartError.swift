/// The reason why the proxy cannot start: one sentence for the person who started it.
public struct StartError: Error, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}
