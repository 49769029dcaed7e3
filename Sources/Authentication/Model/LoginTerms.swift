/// How a connection is logged in, where a rule wants it out of the ordinary.
public struct LoginTerms: Sendable {
    /// The service to get a ticket for; nil: `HTTP` at the host.
    public var servicePrincipal: String?
    /// Whether the server may act in the credential's name elsewhere.
    public var delegates: Bool
    /// Whether the DNS is asked for the host's name.
    public var canonicalises: Bool
    /// Milliseconds that a request waits for what the login needs from third parties; nil: as long as it takes.
    public var patience: Int?
    /// Asks the account of the credential whether its password or key may be shown to the KDC, which may take that many
    /// milliseconds (nil: as long as it takes); nil: there is no account.
    public var admission: (@Sendable (_ kdc: String, _ limit: Int?) async throws(TicketError) -> KDCAdmission)?

    public init(
        servicePrincipal: String? = nil, delegates: Bool = false, canonicalises: Bool = false, patience: Int? = nil
    ) {
        self.patience = patience
        self.servicePrincipal = servicePrincipal
        self.delegates = delegates
        self.canonicalises = canonicalises
    }
}

/// The value that ties an answer to the TLS connection that it is sent on, so that it is worth nothing on another (RFC
/// 5056).
public struct ChannelBinding: Sendable, Hashable {
    /// The unique prefix and the value behind it, as GSSAPI and NTLM hash them.
    public let applicationData: [UInt8]

    /// `tls-server-end-point` (RFC 5929 section 4).
    ///
    /// - Parameter certificateHash: of the server's certificate, made with the hash of its signature; with SHA-256
    ///   where that is MD5 or SHA-1.
    public init(tlsServerEndPoint certificateHash: [UInt8]) {
        applicationData = Array("tls-server-end-point:".utf8) + certificateHash
    }
}
