/// Why a TLS connection failed, divided by whose doing it was.
public enum TLSError: Error, Equatable, Sendable {
    /// The peer broke off, and says why.
    case alert(TLSAlert)
    /// The peer broke off after it had asked for a client certificate and was given none.
    case identityWanted(TLSAlert)
    /// What the peer sent breaks the protocol, or nothing that it offers is acceptable; in the library's words.
    case peer(reason: String)
    /// The peer ended the connection without saying so within TLS: what came may be cut off (RFC 8446 section 6.1).
    case truncated
    /// The server renegotiated as somebody else.
    case serverChanged
    /// The answer to the server's certificate was no.
    case trustRefused
    /// There is no certificate that we could show a client who asked for this name.
    case noIdentity(serverName: String?)
    /// The client's certificate was judged and refused.
    case clientRefused
    /// The certificate and key that we were to show cannot be used on this connection.
    case unusableIdentity(reason: String)
    /// The bytes underneath stopped; an `errno`.
    case transport(errno: Int32)
    /// The library could not do its work here; in its words.
    case local(reason: String)
}

extension TLSError {
    public enum Fault: Sendable {
        /// The other side, or the way to it.
        case peer
        /// A decision about trust or identity.
        case decision
        case us
    }

    public var fault: Fault {
        switch self {
        case .alert, .peer, .truncated, .serverChanged, .transport: .peer
        case .identityWanted, .trustRefused, .noIdentity, .clientRefused: .decision
        case .unusableIdentity, .local: .us
        }
    }
}

extension TLSError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .alert(let alert): "the peer broke the TLS connection off: \(alert)"
        case .identityWanted(let alert): "the server wants a client certificate: \(alert)"
        case .peer(let reason): "TLS with the peer failed: \(reason)"
        case .truncated: "the peer ended the TLS connection without saying so"
        case .serverChanged: "the server renegotiated with another certificate"
        case .trustRefused: "the server's certificate is not trusted"
        case .noIdentity(let name?): "there is no certificate for \(name)"
        case .noIdentity(nil): "there is no certificate for a client that names no server"
        case .clientRefused: "the client's certificate is not trusted"
        case .unusableIdentity(let reason): "the certificate cannot be used: \(reason)"
        case .transport: "the connection under TLS broke"
        case .local(let reason): "TLS failed here: \(reason)"
        }
    }
}
