import Bytes

/// The settings of a rule for logins of a connection.
public struct LoginTerms: Sendable {
    /// The service to get a ticket for; nil: `HTTP` at the host.
    public var servicePrincipal: String?
    /// Whether the server may act for the credential's user at other services.
    public var delegates: Bool
    /// Whether the DNS is asked for the host's name.
    public var canonicalises: Bool
    /// The time that a request waits for other servers that the login needs; nil: no limit.
    public var patience: Milliseconds?
    /// Asks the account of the credential whether its password or key may be shown to the KDC; nil if there is no
    /// account. The call may take `limit` (nil: no limit).
    public var admission: (@Sendable (_ kdc: String, _ limit: Milliseconds?) async throws(TicketError) -> KDCAdmission)?

    public init(
        servicePrincipal: String? = nil, delegates: Bool = false, canonicalises: Bool = false,
        patience: Milliseconds? = nil
    ) {
        self.patience = patience
        self.servicePrincipal = servicePrincipal
        self.delegates = delegates
        self.canonicalises = canonicalises
    }
}

/// The value that binds an answer to the TLS connection that carries it, so that it is useless on another one (RFC
/// 5056).
public struct ChannelBinding: Sendable, Hashable {
    /// The unique prefix followed by the value, as GSSAPI and NTLM hash them.
    public let applicationData: [UInt8]

    /// `tls-server-end-point` (RFC 5929 section 4).
    ///
    /// - Parameter certificateHash: the hash of the server's certificate with the algorithm of its signature; with
    ///   SHA-256 in place of MD5 or SHA-1.
    public init(tlsServerEndPoint certificateHash: [UInt8]) {
        applicationData = Array("tls-server-end-point:".utf8) + certificateHash
    }
}
