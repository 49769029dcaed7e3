import Bytes

/// Something that expires at a known time.
public struct Expiry: Sendable, Equatable {
    /// The kind, such as "client certificate".
    public let kind: String
    /// The name of the credential, the rule or the listener.
    public let name: String
    /// The server that it is for; nil: no particular one.
    public let place: String?
    /// The first time after the expiry.
    public let end: WallTime

    public init(kind: String, name: String, place: String? = nil, end: WallTime) {
        self.kind = kind
        self.name = name
        self.place = place
        self.end = end
    }
}
