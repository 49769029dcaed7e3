import Authentication
import Model
import Telemetry

extension ChallengeLoop {
    /// Why a request could not be answered. The later trouble takes the place of the one before.
    enum Trouble {
        case none
        /// The answer could not be made. Becomes `.counted` where the challenge's other methods may do better; else the
        /// request ends with it.
        case unmade(AuthenticationError)
        /// There was no ticket, which the task has been told: the reason that texts give, should no other method help.
        case counted(AuthenticationError)
        /// There is no token or session: the sentence for the client.
        case explained(String)

        /// Tells the task what the lack of an answer means for the credential.
        /// - Returns: nil where the answer was made, or no other method could do better.
        mutating func count(in record: ExchangeRecord) -> RepeatedChallenge? {
            guard case .unmade(let error) = self, let refusal = error.refusal else { return nil }
            self = .counted(error)
            record.details = "\(error)"
            return refusal
        }

        /// The meaning of a challenge for the answer that went out; nil where none did.
        mutating func refusal(
            by challenges: [HeaderChallenge], of performer: AnswerPerformer, in record: ExchangeRecord
        ) -> RepeatedChallenge? {
            let (refusal, error) = performer.refusal(by: challenges)
            if let error {
                self = .counted(error)
                record.details = "\(error)"
            } else if case .refused? = refusal {
                noteVerdict()
            }
            return refusal
        }

        /// The server, or the account, has judged another answer since.
        mutating func noteVerdict() {
            switch self {
            case .counted, .explained: self = .none
            case .none, .unmade: break
            }
        }

        /// Why the request ends, if it does.
        var unmade: AuthenticationError? {
            if case .unmade(let error) = self { error } else { nil }
        }

        /// Why there was no ticket.
        var counted: AuthenticationError? {
            if case .counted(let error) = self { error } else { nil }
        }

        var explanation: String? {
            if case .explained(let sentence) = self { sentence } else { nil }
        }

        /// The sentence for the client in place of a challenge that would be answered if there was a ticket or a token.
        func sentence(instead reason: PassReason, of challenger: Challenger) -> String? {
            switch (self, reason) {
            case (.counted(let error), .aborted): "\(challenger.title) asks for a login, but \(error)"
            case (.explained(let sentence), .parked): sentence
            default: nil
            }
        }

        /// The words of `Proxy-Status` about a challenge that the client gets; nil where it was not ours to answer.
        func note(on reason: PassReason) -> String? {
            if case .attemptsUsed = reason, let counted { return "\(counted)" }
            return reason.note
        }

        /// The end of a request whose challenges are not answered.
        func verdict(
            on reason: PassReason, of challenger: Challenger, onLoginPage isLoginPage: Bool, in record: ExchangeRecord
        ) -> ChallengeVerdict {
            if let sentence = sentence(instead: reason, of: challenger) {
                return .cancel(ChallengeFailure(unanswered: sentence))
            }
            let note = note(on: reason)
            if isLoginPage, let note { record.details = note }
            return .pass(note: note)
        }
    }
}

extension PassReason {
    /// The words of `Proxy-Status` about a challenge that the client gets: only where it was ours to answer.
    public var note: String? {
        switch self {
        case .nothingToAnswer, .defaultHandling, .rejected: nil
        case .attemptsUsed, .alreadyRefused, .parked, .undecided, .unanswerable, .aborted, .denied, .reported, .endless:
            description
        }
    }
}
