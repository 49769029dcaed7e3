import Challenges
import Upstream

extension ForwardingContext {
    /// The combined verdict on a response of all servers that may have asked for a credential.
    enum Verdict {
        case pass(note: String?)
        case again
        indirect case cancel(Refusal)

        init(_ verdict: ChallengeVerdict) {
            switch verdict {
            case .pass(let note): self = .pass(note: note)
            case .again: self = .again
            case .cancel(let failure):
                var refusal = Refusal(failure.status, failure.error, failure.sentence)
                refusal.isTransient = failure.isTransient
                self = .cancel(refusal)
            }
        }
    }
}
