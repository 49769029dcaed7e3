import Authentication
import Credentials
import IO
import Model
import Rules
import Telemetry

/// The sources of credentials: files that are read again, and programs that run.
extension ChallengeLoop {
    /// The work before a challenge is decided: a source must be read.
    func sources(for challenge: AuthenticationChallenge, by rule: RuleDecision) -> ChallengeWork? {
        let delegate = context.delegate
        if let question = delegate.helperQuestion(for: challenge, by: rule, at: context.loop.wallTime) {
            return .helper(question)
        }
        return delegate.wantsFreshCredentials(for: challenge, by: rule) ? .credentials : nil
    }

    /// The work after a refusal: the source of the answer's credential is read again. Nil if its program is not run now.
    func source(of answer: Answer, challenges: [HeaderChallenge]) -> ChallengeWork? {
        let (credentials, version) = (context.policy.credentials, answer.credential.version)
        guard credentials.isGiven(version.name) else { return .credentials }
        return credentials.question(
            version.name, for: answer.space.origin, path: context.delegate.path, besides: version,
            challenges: challenges.map { "\($0)" }, at: context.loop.wallTime
        ).map { .helper($0) }
    }

    /// The decision where a program has given no credential: the client gets the challenge, with the reason.
    func unread(
        _ error: CredentialError, on challenge: AuthenticationChallenge, by rule: RuleDecision
    ) -> Decision {
        let unread = context.delegate.unread(error, by: rule)
        noteUnread(unread)
        context.note(unread, on: challenge)
        return unread.decision
    }

    /// Keeps the reason why a program has given no credential, for the client.
    func noteUnread(_ ruled: RuleDelegate.DelegateDecision) {
        guard let error = ruled.trouble, case .rejectProtectionSpace = ruled.decision.disposition else { return }
        trouble = .tokenless("\(error)", isTransient: error.isTransient)
    }

    /// Keeps the reason why a program has given no credential for every request, for the client.
    func noteUnreadPreemptive() {
        guard let error = context.source.unreadPreemptive() else { return }
        trouble = .tokenless("\(error)", isTransient: error.isTransient)
    }

    /// The action after a credential could not be exchanged for a token.
    func exchanged(_ error: TokenSupply.Missing, _ reason: String) -> ChallengeTask.Action {
        let sentence = error.sentenceForChallenge
        trouble =
            sentence.map { .tokenless($0, isTransient: error.isTransient) }
            ?? .explained(
                "\(context.challenger.title) asks for a token, but \(error)", isTransient: error.isTransient)
        if case .refused(let credential, let details, let pause) = error {
            context.request.record.facts.details = details
            return task.withheld(credential, for: pause)
        }
        if case .failed(_, let details, _) = error { context.request.record.facts.details = details }
        if sentence != nil { return task.decided(Decision(.rejectProtectionSpace, reason: reason)) }
        return task.decided(Decision(.cancelAuthenticationChallenge, reason: reason))
    }

    /// Tells the helper that has given the credential what the server says of it. A refusal counts when the value is on
    /// hold.
    func tellHelper(_ verdict: HelperVerdict, of answer: Answer) {
        let credentials = context.policy.credentials
        guard credentials.hasHelpers else { return }
        if case .refused = verdict, !context.delegate.isHeld(answer.credential, in: answer.space) { return }
        credentials.report(verdict, on: answer.credential, for: context.challenger.origin, path: context.delegate.path)
    }
}
