import Authentication
import Telemetry

extension AnsweredScheme {
    /// Nil for a method that this version cannot answer.
    init?(_ method: AuthenticationMethod) {
        switch method {
        case .basic: self = .basic
        case .digest: self = .digest
        case .ntlm: self = .ntlm
        case .negotiate: self = .negotiate
        case .bearer: self = .bearer
        case .htmlForm: self = .form
        case .clientCertificate, .serverTrust, .default: return nil
        }
    }
}
