/// What a connection of a client to us may agree to.
public struct ServerTLSSettings: Sendable {
    public enum ClientCertificates: Sendable {
        case notRequested
        /// A client may show one. The issuers are a hint for it; `isTrusted` judges what it shows, in the handshake and on
        /// the loop, and the handshake fails unless it says yes.
        case requested(issuers: [DistinguishedName], isTrusted: @Sendable (PresentedChain) -> Bool)
    }

    public var minimum: TLSVersion
    /// What we speak by ALPN, the most wanted first. A client that offers only others is refused (RFC 7301 section 3.2).
    public var applicationProtocols: [String]
    public var clientCertificates: ClientCertificates

    public init(
        minimum: TLSVersion = .v12, applicationProtocols: [String] = ["http/1.1"],
        clientCertificates: ClientCertificates = .notRequested
    ) {
        self.minimum = minimum
        self.applicationProtocols = applicationProtocols
        self.clientCertificates = clientCertificates
    }
}
