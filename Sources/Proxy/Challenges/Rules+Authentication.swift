import Authentication
import Rules

// The two targets do not know each other: the rule file's words and the model's terms meet here.

extension ChallengeMethod {
    init(_ method: AuthenticationMethod) {
        self =
            switch method {
            case .basic: .basic
            case .digest: .digest
            case .ntlm: .ntlm
            case .negotiate: .negotiate
            case .bearer: .bearer
            case .htmlForm: .htmlForm
            case .clientCertificate: .clientCertificate
            case .serverTrust: .serverTrust
            case .default: .unknown
            }
    }
}

extension AuthenticationMethod {
    init(_ method: ChallengeMethod) {
        self =
            switch method {
            case .basic: .basic
            case .digest: .digest
            case .ntlm: .ntlm
            case .negotiate: .negotiate
            case .bearer: .bearer
            case .htmlForm: .htmlForm
            case .clientCertificate: .clientCertificate
            case .serverTrust: .serverTrust
            case .unknown: .default
            }
    }
}

extension ChallengeProtocol {
    init(_ protocol: NetworkProtocol) {
        self =
            switch `protocol` {
            case .http: .http
            case .https: .https
            case .ftp: .ftp
            case .socks: .socks
            }
    }
}

extension Credential.Persistence {
    init(_ persistence: Configuration.Challenge.Persistence) {
        self =
            switch persistence {
            case .none: .none
            case .session: .session
            case .permanent: .permanent
            }
    }
}
