/// What a connection of ours to a server may agree to. Connections with equal settings share a context.
public struct ClientTLSSettings: Sendable, Hashable {
    public var minimum: TLSVersion
    public var maximum: TLSVersion
    /// What we offer by ALPN (RFC 7301), the most wanted first; empty offers nothing.
    public var applicationProtocols: [String]

    public init(
        minimum: TLSVersion = .v12, maximum: TLSVersion = .v13, applicationProtocols: [String] = ["http/1.1"]
    ) {
        self.minimum = minimum
        self.maximum = max(minimum, maximum)
        self.applicationProtocols = applicationProtocols
    }

    /// Whoever asks for a version before 1.2 talks to a server of that time: it also needs that time's ciphers, short
    /// keys, SHA-1 in handshakes, and no secure renegotiation (RFC 5746).
    var isLegacy: Bool { minimum < .v12 }

    var cipherList: String { isLegacy ? "ALL:!aNULL:!eNULL:@SECLEVEL=0" : "DEFAULT:!PSK:!SRP:@SECLEVEL=2" }
}
