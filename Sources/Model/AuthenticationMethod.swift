/// The way to answer a challenge, by its word in the rule file.
public enum AuthenticationMethod: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case basic
    case digest
    case ntlm
    case negotiate
    case bearer
    case htmlForm = "html-form"
    case clientCertificate = "client-certificate"
    case serverTrust = "server-trust"
    /// A scheme that the proxy does not support.
    case other
    /// No particular method: for a credential that is stored for any of them, and for a request that is signed without
    /// a challenge. It is not a word of the rule file.
    case `default`

    public var description: String { rawValue }

    /// Whether an answer belongs to its request, and not to a connection or a session.
    public var answersRequests: Bool {
        switch self {
        case .basic, .digest, .bearer: true
        case .ntlm, .negotiate, .htmlForm, .clientCertificate, .serverTrust, .other, .default: false
        }
    }

    /// Whether responses ask for it; if not, TLS does.
    public var isOfResponses: Bool { self != .clientCertificate && self != .serverTrust }

    /// Whether an eavesdropper on the connection can read the credential itself.
    public var revealsCredential: Bool {
        switch self {
        case .basic, .bearer, .htmlForm, .other, .default: true
        case .digest, .ntlm, .negotiate, .clientCertificate, .serverTrust: false
        }
    }
}
