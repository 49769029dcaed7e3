import Authentication
import Credentials
import Model

/// Why an operator's answer was not taken: a sentence for them. The question stays open.
public enum OperatorAnswerError: Error, CustomStringConvertible {
    /// There is no question of that number any more.
    case gone(Int)
    /// The credential that was named.
    case unusable(CredentialError)
    case unfit(String)
    case notStored(CredentialStorageError)

    public var description: String {
        switch self {
        case .gone(let id): "there is no question \(id) any more: 'attache ask' lists those that are open"
        case .unusable(let error): "\(error)"
        case .unfit(let sentence): sentence
        case .notStored(let error): "\(error)"
        }
    }
}

extension ChallengeState {
    /// Answers a question for an operator.
    ///
    /// - Parameter until: the last day of an exception for a certificate.
    /// - Returns: the question.
    @discardableResult
    public func answer(
        _ id: Int, with answer: OperatorAnswer, until: Day, by actor: AuditEvent.Actor
    ) async throws(OperatorAnswerError) -> OperatorQuestion {
        guard let (question, policy) = questions.find(id) else { throw .gone(id) }
        try check(answer, to: question, under: policy)
        if case .trust = answer.act { try await except(question, until: until, by: actor) }
        guard questions.answer(id, with: answer) != nil else { throw .gone(id) }
        var event = AuditEvent(.questionAnswered, by: actor, question.space)
        event.persistence = answer.persistence
        event.details = answer.words
        audit.note(event)
        return question
    }

    private func check(
        _ answer: OperatorAnswer, to question: OperatorQuestion, under policy: ChallengePolicy
    ) throws(OperatorAnswerError) {
        let method = question.space.authenticationMethod
        switch answer.act {
        case .use(let name):
            let credential: Credential
            do throws(CredentialError) { credential = try policy.credentials.credential(named: name) } catch {
                throw .unusable(error)
            }
            guard credential.canAnswer(question.space) else {
                throw .unfit("\(credential) cannot answer \(method)")
            }
        case .password:
            guard [.basic, .digest, .ntlm, .htmlForm].contains(method) else {
                throw .unfit("a user and a password cannot answer \(method)")
            }
        case .trust:
            guard method == .serverTrust, question.pin != nil else {
                throw .unfit("'trust' is for certificates, and this question is about \(method)")
            }
        case .reject, .cancel: break
        }
        if answer.persistence == .permanent {
            switch answer.act {
            case .password, .trust: break
            case .use, .reject, .cancel:
                throw .unfit("'\(answer.words)' for good is a rule: write it into the rule file")
            }
        }
    }

    private func except(
        _ question: OperatorQuestion, until: Day, by actor: AuditEvent.Actor
    ) async throws(OperatorAnswerError) {
        guard let pin = question.pin else { return }
        let origin = question.space.origin
        let space = ProtectionSpace(
            origin: Origin(host: origin.host, port: origin.port, protocol: .https), realm: nil,
            authenticationMethod: .serverTrust)
        let credential = Credential(
            name: space.credentialName(of: "\(pin)"), trust: TrustException(pin: pin, until: until),
            persistence: .permanent)
        do throws(CredentialStorageError) { try await storage.set(credential, for: space) } catch {
            throw .notStored(error)
        }
        noteException()
        audit.note(
            AuditEvent(.trustSet, by: actor, space, credential: credential.version.name, details: "until \(until)"))
    }
}
