/// How a protection space wants to be answered.
public enum AuthenticationMethod: String, Sendable, Hashable, CaseIterable {
    case basic
    case digest
    case ntlm
    case negotiate
    case bearer
    case htmlForm = "html-form"
    case clientCertificate = "client-certificate"
    case serverTrust = "server-trust"
    case `default`

    /// Whether what one process learned of a space is of use to the next: a login belongs to its connection.
    var isWorthKeeping: Bool {
        switch self {
        case .basic, .digest, .bearer: true
        case .ntlm, .negotiate, .htmlForm, .clientCertificate, .serverTrust, .default: false
        }
    }

    /// Whether answering lets whoever reads the connection have the credential itself.
    public var revealsCredential: Bool {
        switch self {
        case .basic, .bearer, .htmlForm, .default: true
        case .digest, .ntlm, .negotiate, .clientCertificate, .serverTrust: false
        }
    }
}
