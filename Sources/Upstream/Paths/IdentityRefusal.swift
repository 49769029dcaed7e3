import Authentication
import Bytes
import Challenges
import IO
import Rules
import TLS

/// A server's refusal of the certificate that it was shown. Records the refusal and asks the rules again.
struct IdentityRefusal {
    let choice: IdentityChoice
    let server: UpstreamServer
    /// The server's reason: the name of an alert, or the status and text of a page.
    let words: String
    /// The page; nil: the server sent an alert.
    var response: ResponseExcerpt?
    private var space: ProtectionSpace { choice.space }
    private var challenges: ChallengeState { choice.delegate.state }

    /// - Returns: the progress of the request. Its next connection shows another certificate, or none.
    func settle(for downstream: Downstream) async -> IdentityProgress {
        // The certificate was shown on an earlier connection, whose session was resumed. In a full handshake the server
        // asks.
        if choice.challenge == nil { return choice.beginning }
        if let version = choice.shown.credential?.version {
            choice.progress.refusals.append(IdentityProgress.Refused(version: version, words: words))
        }
        choice.progress.response = response
        var action = choice.refused()
        while true {
            switch action {
            case .reread(let answer):
                await challenges.refresh(choice.delegate.policy.credentials)
                action = choice.progress.task.reread(value(of: answer))
            case .park(let answer):
                park(answer, for: downstream)
                action = choice.progress.task.parked()
            default:
                choice.settle(action)
                return choice.progress
            }
        }
    }

    /// The value of the credential, just read again.
    private func value(of answer: Answer) -> ChallengeTask.Reread {
        let version = answer.credential.version
        let named = choice.delegate.policy.credentials.certificate(named: version.name)
        guard let current = named ?? choice.stored.first(where: { $0.version.key == version.key }) else {
            return .unchanged
        }
        return current.version == version ? .unchanged : .newer(current)
    }

    private func park(_ answer: Answer, for downstream: Downstream) {
        let reason = "was refused by \(space.host):\(space.port) (\(words))"
        choice.settle(answer.credential, .refused, because: reason)
        challenges.refuse(
            answer.credential, in: space, of: choice.delegate.client, countedBy: downstream.metrics)
    }
}
