import Authentication
import Credentials
import Model

extension OperatorAnswer {
    /// The reason why an operator's answer was not accepted, as a sentence. The question stays open.
    public enum Failure: Error, CustomStringConvertible {
        /// The question of that number is closed.
        case gone(Int)
        /// There is no saved answer with this number.
        case unknown(Int)
        /// The named credential cannot be used.
        case unusable(CredentialError)
        case unfit(String)
        case notStored(StoredCredentials.Failure)

        public var description: String {
            switch self {
            case .unknown(let id): "there is no saved answer \(id): 'attache ask answers' lists them"
            case .gone(let id): "question \(id) is closed: 'attache ask' lists the open ones"
            case .unusable(let error): "\(error)"
            case .unfit(let sentence): sentence
            case .notStored(let error): "\(error)"
            }
        }
    }
}

extension ChallengeState {
    /// The challenges of the journal. Those about which a question is open are waiting, and come first.
    public var challenges: [JournalEntry] {
        let asked = Dictionary(questions.open.map { ($0.space, $0) }) { first, _ in first }
        if asked.isEmpty { return journal.entries }
        var known: Set<ProtectionSpace> = []
        var waiting: [(question: Int, entry: JournalEntry)] = []
        var others: [JournalEntry] = []
        for var entry in journal.entries {
            if let question = asked[entry.key.space] {
                known.insert(question.space)
                entry.wait(for: question)
                waiting.append((question.id, entry))
            } else {
                others.append(entry)
            }
        }
        for question in asked.values where !known.contains(question.space) {
            let key = JournalEntry.Key(question.space, scheme: "\(question.space.authenticationMethod)")
            var entry = JournalEntry(key, .waiting, at: question.since)
            entry.wait(for: question)
            waiting.append((question.id, entry))
        }
        return waiting.sorted { $0.question < $1.question }.map(\.entry) + others
    }

    /// Answers a question on behalf of an operator.
    ///
    /// - Parameter until: the last day of a certificate exception.
    /// - Returns: the question.
    @discardableResult
    public func answer(
        _ id: Int, with answer: OperatorAnswer, until: Day, by actor: AuditEvent.Actor
    ) async throws(OperatorAnswer.Failure) -> OperatorQuestion {
        guard let (question, policy) = questions.find(id) else { throw .gone(id) }
        try check(answer, to: question, under: policy)
        if case .trust = answer.act { try await except(question, until: until, by: actor) }
        guard questions.answer(id, with: answer, until: until) != nil else { throw .gone(id) }
        var event = AuditEvent(.questionAnswered, by: actor, question.space)
        event.persistence = answer.persistence
        event.details = answer.words
        audit.note(event)
        return question
    }

    /// The saved answers of operators, the oldest first.
    ///
    /// - Parameter today: the current day; exceptions until an earlier day have ended.
    public func standingAnswers(on today: Day) -> [OperatorAnswer.Standing] {
        questions.standing.filter { standing in
            guard case .trust(let pin, let until) = standing.word else { return true }
            return today <= until && storage.version(of: "\(pin)", for: standing.space.ofExceptions) != nil
        }
    }

    /// Revokes an answer: the next challenge of that kind is a question again.
    ///
    /// - Parameter id: the number of the question that it answered.
    /// - Returns: the answer.
    @discardableResult
    public func forgetAnswer(
        _ id: Int, on today: Day, by actor: AuditEvent.Actor
    ) async throws(OperatorAnswer.Failure) -> OperatorAnswer.Standing {
        guard let standing = standingAnswers(on: today).first(where: { $0.id == id }) else { throw .unknown(id) }
        if case .trust(let pin, _) = standing.word {
            let space = standing.space.ofExceptions
            do throws(StoredCredentials.Failure) { try await storage.remove(user: "\(pin)", for: space) } catch {
                throw .notStored(error)
            }
            audit.note(AuditEvent(.trustRemoved, by: actor, space, credential: space.credentialName(of: "\(pin)")))
        }
        questions.forget(standing)
        // The connections that the answer has made possible are closed.
        if !standing.space.authenticationMethod.isOfResponses { noteException() }
        audit.note(AuditEvent(.answerForgotten, by: actor, standing.space, details: standing.words))
        return standing
    }

    private func check(
        _ answer: OperatorAnswer, to question: OperatorQuestion, under policy: ChallengePolicy
    ) throws(OperatorAnswer.Failure) {
        let method = question.space.authenticationMethod
        switch answer.act {
        case .use(let name):
            let credential: Credential
            do throws(CredentialError) {
                credential = try self.credential(named: name, for: question.space, by: policy)
            } catch { throw .unusable(error) }
            guard credential.canAnswer(question.space) else {
                throw .unfit("\(credential) cannot answer \(method)")
            }
        case .password:
            guard method.traits.credential == .password else {
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
                throw .unfit("'\(answer.words)' cannot be permanent: write a rule instead")
            }
        }
    }

    private func except(
        _ question: OperatorQuestion, until: Day, by actor: AuditEvent.Actor
    ) async throws(OperatorAnswer.Failure) {
        guard let pin = question.pin else { return }
        let space = question.space.ofExceptions
        let credential = Credential(
            name: space.credentialName(of: "\(pin)"), trust: TrustException(pin: pin, until: until),
            persistence: .permanent)
        do throws(StoredCredentials.Failure) { try await storage.set(credential, for: space) } catch {
            throw .notStored(error)
        }
        noteException()
        audit.note(
            AuditEvent(.trustSet, by: actor, space, credential: credential.version.name, details: "until \(until)"))
    }

    /// Returns a credential that an operator names: one of the rule file, or of the store for that space.
    public func credential(
        named name: String, for space: ProtectionSpace, by policy: ChallengePolicy
    ) throws(CredentialError) -> Credential {
        do throws(CredentialError) { return try policy.credentials.credential(named: name, for: space.origin) } catch {
            guard case .unknown = error else { throw error }
            let stored = storage.credentials(for: space).values.first { $0.version.isNamed(name) }
            guard let stored else { throw error }
            return stored
        }
    }
}

extension JournalEntry {
    /// Marks the challenge as one that waits for the answer to a question.
    fileprivate mutating func wait(for question: OperatorQuestion) {
        outcome = .waiting
        reason = "question \(question.id) waits for an operator: '\(question.command)'"
        solved = nil
        remedy = nil
        suggestion = nil
        rule = question.rule
        last = max(last, question.since)
        if lines.isEmpty { lines = question.details }
    }
}
