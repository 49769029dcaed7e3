/// What ties an answer to the TLS connection that it is sent on, so that it is worth nothing on another (RFC 5056).
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
