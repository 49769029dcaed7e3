#if canImport(Authentication)
@testable import Authentication
#endif

/// P2 to P4, asked whenever a request is sent, refused, or held back.
extension Walk {
    /// Others wait so long for a leader whose replica has died.
    private static let leaderTime = 30_000

    /// Whether P2 holds for a request: its server has accepted the version, goes on to accept it, and no more than one other
    /// server refuses it.
    func isPromised(_ asked: Asked) -> Bool {
        asked.isPromised && asked.page.kind == .open && plan.isRightForEver(asked.server)
            && !(asked.server == 0 && plan.gone != nil) && plan.mayProbe && plan.flakiness == 0
            && plan.wrongOthers(than: asked.server) <= 1 && !isOvershadowed(asked)
    }

    /// Whether the request came while an answer of a dead replica counted as under way. Where a server refuses the version
    /// at the same time, the account may have no room for another 30 s.
    private func isOvershadowed(_ asked: Asked) -> Bool {
        let time = Self.leaderTime * (plan.servers.contains { $0.trouble != nil } ? 2 : 1)
        return death.map { asked.time <= $0 + time && now >= $0 } ?? false
    }

    private func isTryUnderWay(at server: String) -> Bool {
        underWay.values.contains { sent in
            sent.answer.role == .retry && sent.answer.server == server
                && replicas.account.reservations.contains { $0.id == sent.answer.reservation && now < $0.end }
        }
    }

    /// A request that has waited is sent after one exchange: after two, if another server refuses the version meanwhile, or
    /// another replica asks.
    func checkSending(of key: Key, _ answer: SentAnswer) throws(BrokenPromise) {
        if plan.kind == .retryNever, answer.role == .retry, replicas.account.record(of: answer.server)?.isKnown == true
        {
            throw BrokenPromise(.others, "\(key) tries a server again for which the rule says 'retry never'")
        }
        guard let asked = requests[key], let verdicts = waiting[key], isPromised(asked) else { return }
        if plan.replicas == 1, verdicts > 1, plan.kind != .slow {
            throw BrokenPromise(.others, "\(key) at \(answer.server) waited for \(verdicts) verdicts")
        }
        let exchange = plan.servers.map(\.latency).max() ?? 0
        let exchanges = max(min(plan.replicas, 2), 1 + plan.wrongOthers(than: asked.server))
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
            let shown = replicas.account.standing(at: server, now: now)
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
            let pause = replicas.account.firstPause, now >= pause + 30_500
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
            if plan.badness == 0, asked.time > learned + minute + 500 {
                throw BrokenPromise(.healing, "the servers know the new value since \(seconds([learned])), and \(text)")
            }
            return
        }
        guard trouble.lowerBound > 0, asked.isPromised, plan.kind != .stalling, plan.retry == nil,
            !plan.servers.contains(where: { $0.hostility != nil })
        else { return }
        // A dead replica's answer may have been refused, so there is one try less.
        let isAlone = plan.servers.count { $0.trouble != nil } == 1 && !isDeathOpen
        let bound =
            switch trouble.count {
            case ..<30_000: 30_000
            case ..<300_000 where isAlone: 300_000
            default: 1_800_000
            }
        if asked.time >= trouble.upperBound + bound + 700 + (death == nil ? 0 : Self.leaderTime) {
            throw BrokenPromise(
                .healing, "trouble of \(seconds([trouble.count])) s until \(seconds([trouble.upperBound])), and \(text)"
            )
        }
    }
}
