import Authentication
import Model
import Rules
import Telemetry

extension ExchangeRecord {
    /// An answer goes to the challenger, or went. A parent's answers have fields of their own.
    func note(_ prepared: PreparedAnswer, to challenger: Challenger) {
        let answer = prepared.answer
        let (name, scheme) = (answer.credential.version.name, AnsweredScheme(answer.space.authenticationMethod))
        if challenger.isProxy {
            parentCredential = name
            parentScheme = scheme
            parentDated = prepared.dated
        } else {
            credential = name
            self.scheme = scheme
            dated = prepared.dated
        }
    }

    /// The rule about the origin's challenges is the one that counts.
    public func note(_ rule: RuleReference?, about challenger: Challenger) {
        if challenger.isProxy, ruleLine > 0 { return }
        self.rule = rule?.label
        ruleLine = rule?.line ?? 0
    }

    /// An answer went out.
    func countAnswer(to challenger: Challenger) { if !challenger.isProxy { attempts += 1 } }
}

extension AnsweredScheme {
    /// Nil for a method that answers no challenge of a response.
    public init?(_ method: AuthenticationMethod) {
        switch method {
        case .basic: self = .basic
        case .digest: self = .digest
        case .ntlm: self = .ntlm
        case .negotiate: self = .negotiate
        case .bearer: self = .bearer
        case .htmlForm: self = .form
        case .default: self = .placed
        case .clientCertificate, .serverTrust, .other: return nil
        }
    }
}
