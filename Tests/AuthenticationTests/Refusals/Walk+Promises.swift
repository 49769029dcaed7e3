import Bytes

#if canImport(Authentication)
@testable import Authentication
#endif

/// P2 to P4, asked whenever a request is sent, refused, or held back.
extension Walk {
    /// Milliseconds that others wait for a leader whose replica has died.
    private static let leaderTime = 30_000

    /// Whether P2 holds for a request: its server has accepted the version and still accepts it, and at most one other
    /// server refuses it.
    func isPromised(_ asked: Asked) -> Bool {
        asked.isPromised && (asked.page.kind == .open || plan.probedPage != nil && asked.page.isOpen)
            && plan.isRightForEver(asked.server) && !(asked.server == 0 && plan.gone != nil)
            && plan.mayProbe && plan.flakiness == 0 && plan.haste == 0 && setBackSeen == nil
            && plan.wrongOthers(than: asked.server) <= 1 && !isOvershadowed(asked)
    }

    /// Whether the request came while an answer of a dead replica counted as under way. Where a server refuses the version
    /// at the same time, the account may have no room for another 30 s, or until the half hour of one of four slots is over.
    private func isOvershadowed(_ asked: Asked) -> Bool {
        if isDeathOpen, replicas.account.usedSlots(at: clock) >= 4 { return true }
        let time = Self.leaderTime * (plan.servers.contains { $0.trouble != nil } ? 2 : 1)
        return death.map { asked.time <= $0 + time && now >= $0 } ?? false
    }

    private func isTryUnderWay(at server: String) -> Bool {
        underWay.values.contains { sent in
            sent.answer.role == .retry && sent.answer.server == server
                && replicas.account.record(of: server)?.leader == sent.answer.reservation
                && replicas.account.reservations.contains { $0.id == sent.answer.reservation && clock < $0.end }
        }
    }

    /// A leader is alone at its server, and may go there.
    mutating func checkRole(of key: Key, _ answer: Account.SentAnswer, of replica: Int) throws(BrokenPromise) {
        let record = replicas.copies[replica].record(of: answer.server)
        if answer.role == .free || answer.role == .doubt, record?.pause != nil {
            throw BrokenPromise(.lockout, "\(key) goes to \(answer.server), which is paused, as \(answer.role)")
        }
        if answer.role == .open {
            openTries[answer.server, default: 0] += 1
            if openTries[answer.server, default: 0] > 1 {
                throw BrokenPromise(.lockout, "\(key) is the second request at a try of \(answer.server)")
            }
        }
        guard answer.role.isRetrial, record?.isKnown == true else { return }
        if answer.role == .retry, !answer.isProbe, record?.canProbe == true {
            throw BrokenPromise(.others, "\(key) is the try of \(answer.server), which the proxy can ask itself")
        }
        let other = underWay.first { entry in
            entry.value.isAtKnown && entry.value.answer.server == answer.server
                && replicas.account.reservations.contains {
                    $0.id == entry.value.answer.reservation && clock < $0.end
                }
        }
        if let other { throw BrokenPromise(.lockout, "\(key) leads at \(answer.server), as \(other.key) does") }
        guard let asked = requests[key], !asked.wasAccepted else { return }
        for key in waiting.keys {
            guard let other = requests[key], other.server == asked.server, other.replica == asked.replica,
                other.wasAccepted
            else { continue }
            throw BrokenPromise(.others, "\(asked.page) leads at \(answer.server), and \(other.page) was accepted")
        }
    }

    /// The proxy asks the server itself.
    mutating func checkProbe(by sample: Account.Sample, at server: String) throws(BrokenPromise) {
        probes += 1
        if replicas.account.record(of: server)?.isKnown != true {
            throw BrokenPromise(.lockout, "\(server) is asked by the proxy, and has never accepted the version")
        }
        if !plan.mayProbe { throw BrokenPromise(.others, "\(server) is asked by the proxy, and the rule forbids it") }
        if let page = plan.probedPage, page.target != sample.target {
            throw BrokenPromise(.others, "\(server) is asked for another page than the rule's")
        }
    }

    /// A request waits as long as a verdict is to come. What is kept of refused answers has a bound.
    func checkWaiting() throws(BrokenPromise) {
        if replicas.account.slots.count > 4 { throw BrokenPromise(.rest, "five slots are kept") }
        guard plan.replicas == 1, let key = waiting.keys.first, !replicas.account.isAnyUnderWay(at: clock) else {
            return
        }
        throw BrokenPromise(.visibility, "\(key) waits, and no answer is under way")
    }

    /// Checks that no request waits at a server that is good after the reset.
    func checkReset(by replica: Int) throws(BrokenPromise) {
        for key in waiting.keys {
            guard let asked = requests[key], asked.replica == replica,
                replicas.account.isGood(at: plan.servers[asked.server].name)
            else { continue }
            throw BrokenPromise(.healing, "\(key) waits after a reset")
        }
    }

    /// A request meets the state that was shown of its server before.
    ///
    /// - Parameter hold: until when the request was to be refused; nil: it was not.
    func checkHold(_ hold: WallTime?, of key: Key, _ decisions: [Account.Decision]) throws(BrokenPromise) {
        guard plan.replicas == 1 else { return }
        let isRefused = decisions.contains { if case .refuse(key.id, _) = $0 { true } else { false } }
        if isRefused != (hold != nil) {
            let shown = hold.map { "is shown to be held until \($0.milliseconds)" } ?? "is shown to be sent"
            throw BrokenPromise(.visibility, "\(key) \(shown), and is \(isRefused ? "held" : "sent")")
        }
        // Should nothing else happen, it is sent at that time, or waits. Another server may be tried first.
        guard var time = hold, time < .distantFuture, let asked = requests[key],
            !replicas.account.isAnyUnderWay(at: clock)
        else {
            return
        }
        var (account, seat) = (replicas.account, replicas.seats[asked.replica])
        time = max(time, clock)
        _ = account.wake(by: &seat, at: time)
        let next = account.hold(at: plan.servers[asked.server].name, for: asked.page.target, now: time)
        if let next, !account.isAnyUnderWay(at: time) {
            throw BrokenPromise(
                .visibility, "\(key) is shown to be held until \(time.milliseconds), and is until \(next.milliseconds)")
        }
    }

    /// A request that has waited is sent after one exchange: after two, if another server refuses the version meanwhile, or
    /// another replica asks.
    func checkSending(of key: Key, _ answer: Account.SentAnswer) throws(BrokenPromise) {
        if plan.kind == .retryNever, answer.role == .retry, replicas.account.record(of: answer.server)?.isKnown == true
        {
            throw BrokenPromise(.others, "\(key) tries a server again for which the rule says 'retry never'")
        }
        guard let asked = requests[key], let verdicts = waiting[key], isPromised(asked) else { return }
        if plan.replicas == 1, verdicts > 1, plan.kind != .slow {
            throw BrokenPromise(.others, "\(key) at \(answer.server) waited for \(verdicts) verdicts")
        }
        let exchange = plan.servers.map(\.latency).max() ?? 0
        let areOthersRefusing = plan.servers.count > 2 && plan.badness > 0
        let exchanges = max(min(plan.replicas, 2), 1 + plan.wrongOthers(than: asked.server), areOthersRefusing ? 2 : 1)
        if now - asked.time > exchange * exchanges + 60 + 60 * plan.replicas {
            throw BrokenPromise(.others, "\(key) at \(answer.server) waited for \(now - asked.time) ms")
        }
    }

    /// - Parameter hold: nil: the request has given up.
    func checkRefusal(of key: Key, _ hold: Account.Hold?) throws(BrokenPromise) {
        guard let asked = requests[key] else { return }
        let server = plan.servers[asked.server].name
        let reason = hold.map { "\($0)" } ?? "no verdict"
        if plan.replicas == 1, hold != nil {
            let shown = replicas.account.standing(at: server, now: clock)
            if !shown.isTroubled {
                throw BrokenPromise(.visibility, "\(key) is refused as \(reason), and \(server) is shown as \(shown)")
            }
        }
        if hold == .paused, isTryUnderWay(at: server) {
            throw BrokenPromise(.healing, "\(key) is refused as paused while the try of \(server) is under way")
        }
        if isPromised(asked) {
            throw BrokenPromise(.others, "\(key) is refused as \(reason) at \(server), which is right")
        }
        if plan.kind == .hanging, hold == nil, !isCrowded {
            throw BrokenPromise(.others, "\(key) waits for the first request of \(server), and gives up")
        }
        if lastReset != nil, !isRefusedSinceReset, hold != nil, replicas.account.reservations.count < 2 {
            throw BrokenPromise(.healing, "\(key) is refused as \(reason), and an operator has ended that")
        }
        if plan.kind == .peace, plan.badness == 0 {
            throw BrokenPromise(.others, "\(key) is refused as \(reason), and nothing was ever refused")
        }
        try checkTwoHostile(key, asked, reason)
        try checkHealing(of: asked, reason)
    }

    /// While two other servers refuse the version a request may be refused, but only in the first 30 s of the pause.
    private func checkTwoHostile(_ key: Key, _ asked: Asked, _ reason: String) throws(BrokenPromise) {
        guard plan.kind == .twoHostile, asked.page.kind == .open, asked.isPromised,
            plan.servers[asked.server].hostility == nil,
            let pause = replicas.account.firstPause, clock >= pause + 30_500
        else { return }
        throw BrokenPromise(.others, "\(key) is refused as \(reason), later than 30 s after the first pause")
    }

    /// P3: a trouble has ended so long before that its servers should have been asked again.
    ///
    /// - Parameter reason: why the request fails.
    func checkHealing(of asked: Asked, _ reason: String) throws(BrokenPromise) {
        if isOvershadowed(asked) { return }
        let server = plan.servers[asked.server]
        let text = "\(asked.page) of \(server.name) was asked for at \(seconds([asked.time])) and fails: \(reason)"
        if let gone = plan.gone, plan.servers.count == 1, asked.page.kind == .new,
            asked.time > gone + 60 * minute + 400_000, reason != "it was sent, and refused"
        {
            throw BrokenPromise(.healing, "the samples are gone since \(seconds([gone])), and \(text)")
        }
        if plan.kind == .pageFails, asked.page.kind == .open, asked.page.number > 0,
            replicas.account.record(of: server.name)?.samples.count ?? 0 > 1
        {
            throw BrokenPromise(.others, "a page gets no verdict, and \(text)")
        }
        if plan.kind == .pageGone, asked.server == 0, asked.page.number > 0, let since = pageGoneSince,
            asked.time > since + 31_000, replicas.account.record(of: server.name)?.samples.count ?? 0 > 1
        {
            throw BrokenPromise(.healing, "a page is gone since \(seconds([since])), and \(text)")
        }
        guard let trouble = server.trouble, asked.page.kind == .open, plan.mayProbe, plan.flakiness == 0,
            asked.time >= trouble.upperBound
        else { return }
        if plan.kind == .rotation {
            let learned = plan.servers.compactMap(\.trouble?.upperBound).max() ?? 0
            if plan.badness == 0, asked.time > learned + minute + 500 + (plan.hang ?? 0) {
                throw BrokenPromise(.healing, "the servers know the new value since \(seconds([learned])), and \(text)")
            }
            return
        }
        guard let bound = healingTime(after: trouble, for: asked) else { return }
        if asked.time >= max(trouble.upperBound, setBackSeen ?? 0) + bound + 700 {
            throw BrokenPromise(
                .healing, "trouble of \(seconds([trouble.count])) s until \(seconds([trouble.upperBound])), and \(text)"
            )
        }
    }

    /// How long after a trouble requests are refused at most; nil: for ever.
    private func healingTime(after trouble: Range<Int>, for asked: Asked) -> Int? {
        switch plan.kind {
        case .stalling, .retryNever: return nil
        // Tries come after half an hour, one hour, two hours.
        case .late: return max(30 * minute, 2 * trouble.count)
        // Four servers are tried in half an hour.
        case .straggler:
            let hasHealed = lastAcceptances[asked.server] > trouble.upperBound
            return asked.isPromised && !hasHealed ? plan.servers.count * 30 * minute : nil
        default: break
        }
        guard trouble.lowerBound > 0, asked.isPromised, plan.gone == nil,
            !plan.servers.contains(where: { $0.hostility != nil })
        else { return nil }
        // A dead replica's answer may have been refused, so there is one try less.
        let isAlone = plan.servers.count { $0.trouble != nil } == 1 && !isDeathOpen
        let steps = plan.retry?.map(\.count) ?? [30_000, 5 * minute, 30 * minute]
        let step = steps.first { trouble.count < $0 }
        let isEarly = step == steps.first || isAlone && steps.count > 1 && step == steps[1]
        return (isEarly ? step ?? 0 : max(30 * minute, steps.last ?? 0)) + (death == nil ? 0 : Self.leaderTime)
    }
}
