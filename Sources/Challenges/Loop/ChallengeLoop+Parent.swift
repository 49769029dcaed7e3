import Authentication
import Bytes
import IO
import Model

extension ChallengeLoop {
    /// The source of a `401` that came through a parent which made the request: the origin, or the parent itself.
    /// tinyproxy asks for a password with a `407`, and refuses a wrong one with a `401`.
    enum ParentCheck {
        /// The response is of another kind, or was not checked.
        case none
        /// A verdict on the same answer is awaited, which the account may already count as refused. Becomes any other.
        case asked(isCounted: Bool)
        /// The parent accepts the answer: the response is the origin's.
        case accepted
        /// The response is the parent's, and the account knows of the refusal.
        case refused
        /// The parent gave no verdict, and the response does not look like the parent's.
        case undecided

        var isRefused: Bool { if case .refused = self { true } else { false } }
    }

    /// Finds out whether the parent that made the request, or the origin, sent a `401`. While the answer is not known
    /// to be accepted by the parent, and if the response would count against the origin's credential or looks like the
    /// parent's own, the parent is asked. This is done by a sample, or else by CONNECT, which the origin cannot
    /// influence.
    ///
    /// - Parameter outcome: the result of the work that was awaited for this; nil if none.
    func checkParent(after outcome: ChallengeWork.Outcome?) {
        let performer = preparation.performer
        guard let answer = performer.answer, hasAnswered, performer.loginVersion == nil else { return }
        switch (parentCheck, outcome) {
        case (.none, _): break
        case (.asked(let isCounted), .admission(let admission)?):
            return conclude(admission, on: answer, isCounted: isCounted)
        case (.asked(let isCounted), .parentProbe(let verdict)?):
            return conclude(verdict, on: answer, isCounted: isCounted)
        default: return
        }
        let looksLikeIt = looksLikeParents(answer)
        let leads = preparation.attempt?.leads == true
        let isGood = !leads && context.source.evidence(of: answer.credential).isGood
        if isGood, !looksLikeIt, !context.request.answersOrigin() { return }
        // A probe is itself such a check.
        guard context.probe == nil, context.source.retryTerms(for: answer.space).mayProbe else {
            return judgeByLooks(answer, isCounted: false, isGood: isGood)
        }
        if leads, let attempt = preparation.attempt {
            ask(by: attempt.second(), with: answer, isCounted: false)
        } else {
            refuse(answer)
            conclude(context.admit(answer), on: answer, isCounted: true)
        }
    }

    private func conclude(_ admission: Evidence.Admission?, on answer: Answer, isCounted: Bool) {
        switch admission {
        case .wait(let waiter)?:
            parentCheck = .asked(isCounted: isCounted)
            work = .admission(waiter)
        case .send(let attempt)? where attempt.leads: ask(by: attempt, with: answer, isCounted: isCounted)
        case .send?: take(false, answer, isCounted: isCounted)
        case .refused?: take(true, answer, isCounted: isCounted)
        case nil: judgeByLooks(answer, isCounted: isCounted)
        }
    }

    private func conclude(_ verdict: Account.Verdict?, on answer: Answer, isCounted: Bool) {
        switch verdict {
        case .accepted?: take(false, answer, isCounted: isCounted)
        case .refused?: take(true, answer, isCounted: isCounted)
        case .abandoned?, Account.Verdict.none?, nil: judgeByLooks(answer, isCounted: isCounted)
        }
    }

    private func judgeByLooks(_ answer: Answer, isCounted: Bool, isGood: Bool = false) {
        if isGood || looksLikeParents(answer) {
            take(looksLikeParents(answer), answer, isCounted: isCounted)
        } else {
            parentCheck = .undecided
        }
    }

    /// Sets the source of the response.
    private func take(_ isParents: Bool, _ answer: Answer, isCounted: Bool) {
        if isParents, !isCounted { refuse(answer) }
        parentCheck = isParents ? .refused : .accepted
    }

    private func refuse(_ answer: Answer) {
        let place = "\(context.challenger.origin.host):\(context.challenger.port)"
        preparation.refuse(answer, because: "was refused by \(place) with a 401")
    }

    /// Whether the response asks for no credential, or for the answer that the parent got.
    private func looksLikeParents(_ answer: Answer) -> Bool {
        let challenges = context.response.challenges(in: context.challenger.fields)
        let method = answer.space.authenticationMethod
        return challenges.isEmpty
            || challenges.contains { challenge in
                challenge.scheme == method.rawValue
                    && (answer.challenge == .preemptive || challenge.realm == answer.space.realm)
            }
    }

    /// Has the parent asked for a tunnel to the origin, with the same answer.
    private func ask(by attempt: Evidence.Attempt, with answer: Answer, isCounted: Bool) {
        guard let sample = tunnelSample else {
            attempt.settle(.none, now: context.loop.wallTime)
            return judgeByLooks(answer, isCounted: isCounted)
        }
        let probe = Evidence.Probe(attempt: attempt, credential: answer.credential, sample: sample)
        parentCheck = .asked(isCounted: isCounted)
        work = .parentProbe(probe.verdict)
        context.spaces.accounts.ask(probe)
    }

    /// A CONNECT to the origin of a request whose target is in absolute-form; nil for other targets.
    private var tunnelSample: Account.Sample? {
        let target = context.request.target
        let scheme = "http://" as StaticString
        let length = scheme.utf8CodeUnitCount
        guard target.count > length, target.readable.extracting(first: length).equalsIgnoringCase(scheme) else {
            return nil
        }
        var authority: [UInt8] = []
        for offset in length..<target.count {
            let byte = target.readable[offset]
            if byte == .slash || byte == .question { break }
            authority.append(byte)
        }
        if authority.last == UInt8(ascii: "]") || !authority.contains(.colon) { authority += ":80".utf8 }
        return Account.Sample(
            target: Evidence.hash(authority.span), content: Array("CONNECT ".utf8) + authority + Array("\r\n".utf8))
    }
}

extension Evidence.Probe {
    /// Uses the probe's credential for each challenge that it can answer, once.
    func decision(about challenge: AuthenticationChallenge) -> Decision {
        let isMeant =
            credential.canAnswer(challenge.protectionSpace)
            // A ticket would prove nothing.
            && challenge.protectionSpace.authenticationMethod != .negotiate
            && !challenge.refused.contains(credential.version)
        return Decision(isMeant ? .useCredential(credential) : .rejectProtectionSpace, reason: "a probe")
    }
}
