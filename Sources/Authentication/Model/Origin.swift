/// Who challenges: one server at one port, as an origin or as a proxy on the way.
public struct Origin: Sendable, Hashable {
    /// Lower case, without brackets.
    public let host: String
    public let port: UInt16
    public let `protocol`: NetworkProtocol
    public let isProxy: Bool

    public init(host: String, port: UInt16, protocol: NetworkProtocol, isProxy: Bool = false) {
        self.host = host.lowercased()
        self.port = port
        self.protocol = `protocol`
        self.isProxy = isProxy
    }
}
