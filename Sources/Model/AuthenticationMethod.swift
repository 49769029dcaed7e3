/// How a challenge wants to be answered, by the word of the rule file.
public enum AuthenticationMethod: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case basic
    case digest
    case ntlm
    case negotiate
    case bearer
    case htmlForm = "html-form"
    case clientCertificate = "client-certificate"
    case serverTrust = "server-trust"
    /// A scheme that is none of the others, which nobody here can answer.
    case other
    /// No particular one: of a credential that is kept for whichever of them, and of a request that is signed before anybody
    /// asks. No word of the rule file.
    case `default`

    public var description: String { rawValue }

    /// Whether an answer belongs to the request that it is sent with, and to no connection or session.
    public var answersRequests: Bool {
        switch self {
        case .basic, .digest, .bearer: true
        case .ntlm, .negotiate, .htmlForm, .clientCertificate, .serverTrust, .other, .default: false
        }
    }

    /// Whether responses ask for it; else TLS does.
    public var isOfResponses: Bool { self != .clientCertificate && self != .serverTrust }

    /// Whether answering lets whoever reads the connection have the credential itself.
    public var revealsCredential: Bool {
        switch self {
        case .basic, .bearer, .htmlForm, .other, .default: true
        case .digest, .ntlm, .negotiate, .clientCertificate, .serverTrust: false
        }
    }
}
