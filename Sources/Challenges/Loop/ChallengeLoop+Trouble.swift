import Authentication
import Telemetry

extension ChallengeLoop {
    /// Whether the challenge stays unanswered for a reason that may soon have gone: a source of credentials cannot be reached.
    public var mayBeAnsweredLater: Bool { trouble.isTransient }

    /// The reason why a request could not be answered. A later reason replaces the earlier one.
    enum Trouble {
        case none
        /// The answer could not be made. Becomes `.counted` if another method of the challenge may succeed; else the
        /// request ends with it.
        case unmade(AuthenticationError)
        /// There was no ticket, which the task has counted. Texts give this reason if no other method succeeds.
        case counted(AuthenticationError)
        /// There is no token or session: the sentence for the client.
        ///
        /// - Parameter isTransient: whether the same request may succeed later.
        case explained(String, isTransient: Bool = false)
        /// There is no token, and the client gets the challenge with this sentence in `Proxy-Status`.
        ///
        /// - Parameter isTransient: whether the same request may succeed later.
        case tokenless(String, isTransient: Bool = false)

        /// Reports to the task what the missing answer means for the credential.
        /// - Returns: nil where the answer was made, or no other method could do better.
        mutating func count(in record: ExchangeRecord) -> RepeatedChallenge? {
            guard case .unmade(let error) = self, let refusal = error.refusal else { return nil }
            self = .counted(error)
            record.facts.details = "\(error)"
            return refusal
        }

        /// The meaning of a challenge for the answer that was sent; nil if none was sent.
        mutating func refusal(
            by challenges: [HeaderChallenge], of performer: AnswerSession, in record: ExchangeRecord
        ) -> RepeatedChallenge? {
            let (refusal, error) = performer.refusal(by: challenges)
            if let error {
                self = .counted(error)
                record.facts.details = "\(error)"
            } else if case .refused? = refusal {
                noteVerdict()
            }
            return refusal
        }

        /// Records that the server, or the account, has judged another answer since.
        mutating func noteVerdict() {
            switch self {
            case .counted, .explained, .tokenless: self = .none
            case .none, .unmade: break
            }
        }

        /// The reason why the request ends; nil if it does not.
        var unmade: AuthenticationError? {
            if case .unmade(let error) = self { error } else { nil }
        }

        var explanation: String? {
            if case .explained(let sentence, _) = self { sentence } else { nil }
        }

        /// Whether the same request may succeed later, though nothing is changed.
        var isTransient: Bool {
            switch self {
            case .none: false
            case .unmade(let error), .counted(let error): error.isTransient
            case .explained(_, let isTransient), .tokenless(_, let isTransient): isTransient
            }
        }

        /// The sentence for the client instead of a challenge that a ticket or a token would have answered.
        func sentence(instead reason: ChallengeTask.PassReason, of challenger: Challenger) -> String? {
            switch (self, reason) {
            case (.counted(let error), .aborted): "\(challenger.title) asks for a login, but \(error)"
            case (.explained(let sentence, _), .parked): sentence
            default: nil
            }
        }

        /// The text of `Proxy-Status` about a challenge that the client gets; nil if the proxy does not answer it.
        func note(on reason: ChallengeTask.PassReason) -> String? {
            switch (self, reason) {
            case (.counted(let error), .attemptsUsed): "\(error)"
            case (.tokenless(let sentence, _), _): sentence
            default: reason.note
            }
        }

        /// The end of a request whose challenges are not answered.
        func verdict(
            on reason: ChallengeTask.PassReason, of challenger: Challenger, onLoginPage isLoginPage: Bool,
            in record: ExchangeRecord
        ) -> ChallengeVerdict {
            if let sentence = sentence(instead: reason, of: challenger) {
                return .cancel(ChallengeFailure(unanswered: sentence, isTransient: isTransient))
            }
            let note = note(on: reason)
            if isLoginPage, let note { record.facts.details = note }
            return .pass(note: note)
        }
    }
}

extension ChallengeTask.PassReason {
    /// The text of `Proxy-Status` about a challenge that the client gets; nil if the proxy does not answer it.
    public var note: String? {
        switch self {
        case .nothingToAnswer, .defaultHandling, .rejected: nil
        case .attemptsUsed, .alreadyRefused, .parked, .undecided, .unanswerable, .aborted, .denied, .reported, .endless:
            description
        }
    }
}
