import Bytes

#if canImport(Authentication)
@testable import Authentication
#endif

/// A small world of which every interleaving is played: requests, verdicts, changes of a password, and time. See `Exploration`.
struct World {
    /// A possible next event.
    enum Move: Hashable {
        case request(Int, replica: Int)
        /// The verdict on an answer that is under way, by its place among those.
        case verdict(Int)
        /// The server of an answer under way gives no verdict on it.
        case trouble(Int)
        /// An answer under way is broken off.
        case leave(Int)
        /// Requests have waited long at a server.
        case hurry(Int)
        /// An operator has the version tried again.
        case reset
        /// The password changes at a server, or comes back.
        case change(Int)
        /// A replica sees the store's change.
        case follow(Int)
        /// A replica's process ends, and another begins.
        case death(Int)
        /// The given number of milliseconds passes.
        case time(Int)
    }

    struct UnderWay {
        let answer: Account.SentAnswer
        let server: Int
        let replica: Int
        let order: Int
        let time: Int
        let knownRun: Int?
        let verdict: Account.Verdict
    }

    struct Waiting {
        let id: Int
        let replica: Int
        let server: Int
        let page: Page
        /// Whether the server had accepted the version by then.
        let isPromised: Bool
        /// How often its replica has learned of verdicts on leaders at its server.
        var verdicts = 0
        /// Whether another replica knows of a verdict that its own does not know yet.
        var hasNews = false
    }

    let setting: WorldSetting
    private(set) var replicas: Replicas
    private(set) var judge = Judge()
    private(set) var pauses = PauseWatch()
    private(set) var now = 0
    /// The played time by the clock of the accounts.
    var clock: WallTime { WallTime(milliseconds: now) }
    /// Whether each server accepts the version now.
    private(set) var accepts: [Bool]
    private(set) var underWay: [UnderWay] = []
    private(set) var waiting: [Waiting] = []
    private(set) var knownRuns: [Int?]
    private(set) var death: Int?
    private var order = 0

    init(_ setting: WorldSetting) throws(BrokenPromise) {
        self.setting = setting
        accepts = setting.servers.map { $0 == .right }
        knownRuns = Array(repeating: nil, count: setting.replicas)
        replicas = Replicas(count: setting.replicas)
        if setting.isKnown { try getKnown() }
        if let times = setting.learningTimes {
            replicas = Replicas(Account(after: replicas.account), count: setting.replicas)
            judge = Judge()
            accepts = times.map { $0 == 0 }
        }
        for move in setting.story { try play(move) }
    }

    /// Each server that is right accepts the version once.
    private mutating func getKnown() throws(BrokenPromise) {
        for server in accepts.indices where accepts[server] {
            try request(server, .open(0), of: 0)
            try hear(.accepted, of: 0)
        }
        for replica in replicas.indices { try carryOut(replicas.follow(replica, at: clock), of: replica) }
    }

    // MARK: - Moves

    var moves: [Move] {
        var moves: [Move] = []
        if underWay.count + waiting.count < setting.width {
            for request in setting.requests.indices {
                for replica in replicas.indices { moves.append(.request(request, replica: replica)) }
            }
        }
        moves += underWay.indices.map { .verdict($0) }
        moves += setting.changing.map { .change($0) }
        if replicas.copies.count > 1 { moves += replicas.indices.map { .follow($0) } }
        if setting.hasDeath, death == nil {
            for replica in replicas.indices
            where underWay.contains(where: { $0.replica == replica && $0.answer.role != .free }) {
                moves.append(.death(replica))
            }
        }
        if setting.hasTrouble { moves += underWay.indices.map { .trouble($0) } }
        if setting.isHasty { moves += underWay.indices.map { .leave($0) } + setting.servers.indices.map { .hurry($0) } }
        if setting.hasResets { moves.append(.reset) }
        if underWay.isEmpty {
            moves += setting.times.map { .time($0) }
        } else if setting.isSlow, let oldest = underWay.map(\.time).min() {
            // No exchange takes half an hour.
            moves += setting.times.filter { now + $0 - oldest < 30 * minute }.map { .time($0) }
        }
        return moves
    }

    mutating func play(_ move: Move) throws(BrokenPromise) {
        switch move {
        case .request(let index, let replica):
            let request = setting.requests[index]
            try self.request(request.server, request.page, of: replica)
        case .verdict(let index): try hear(underWay[index].verdict, of: index)
        case .trouble(let index): try hear(.none, of: index)
        case .leave(let index): try hear(.abandoned, of: index)
        case .hurry(let server):
            try carryOut(replicas.hurry(at: WorldSetting.names[server], of: 0, at: clock), of: 0)
        case .reset:
            judge.reset()
            pauses.reset()
            try carryOut(replicas.reset(by: 0, at: clock), of: 0)
        case .change(let server): accepts[server].toggle()
        case .follow(let replica):
            knownRuns[replica] = judge.run
            for index in waiting.indices where waiting[index].replica == replica && waiting[index].hasNews {
                waiting[index].verdicts += 1
                waiting[index].hasNews = false
            }
            try carryOut(replicas.follow(replica, at: clock), of: replica)
        case .death(let replica):
            death = now
            underWay.removeAll { $0.replica == replica }
            waiting.removeAll { $0.replica == replica }
            replicas.restart(replica)
        case .time(let time):
            now += time
            if let times = setting.learningTimes { accepts = times.map { now >= $0 } }
            try carryOut(replicas.wake(0, at: clock), of: 0)
        }
        if replicas.copies.count == 1, let asked = waiting.first, !replicas.account.isAnyUnderWay(at: clock) {
            throw BrokenPromise(.visibility, "\(asked.page) at \(asked.server) waits, and no answer is under way")
        }
    }

    private mutating func request(_ server: Int, _ page: Page, of replica: Int) throws(BrokenPromise) {
        let name = WorldSetting.names[server]
        let id = replicas.nextID(of: replica)
        let record = replicas.account.record(of: name)
        waiting.append(
            Waiting(id: id, replica: replica, server: server, page: page, isPromised: record?.isKnown ?? false))
        var request = Account.Request(id: id, server: name, target: page.target)
        request.mayProbe = setting.mayProbe
        request.wasAccepted = record?.samples.contains { $0.target == page.target } ?? false
        if let retry = setting.retry { request.retry = retry }
        try carryOut(replicas.request(request, of: replica, at: clock), of: replica)
    }

    private mutating func hear(_ verdict: Account.Verdict, of index: Int) throws(BrokenPromise) {
        let sent = underWay.remove(at: index)
        if sent.answer.role != .free {
            for index in waiting.indices where waiting[index].server == sent.server {
                if waiting[index].replica == sent.replica {
                    waiting[index].verdicts += 1
                } else {
                    waiting[index].hasNews = true
                }
            }
        }
        try judge.note(verdict, sent.answer.role, order: sent.order, known: sent.knownRun, at: now)
        knownRuns[sent.replica] = judge.run
        let account = replicas.account
        let decisions = replicas.judge(sent.answer, verdict, of: sent.replica, at: clock)
        try pauses.note(verdict, on: sent.answer, order: sent.order, last: order, from: account, to: replicas.account)
        try carryOut(decisions, of: sent.replica)
    }

    private mutating func carryOut(_ decisions: [Account.Decision], of replica: Int) throws(BrokenPromise) {
        for decision in decisions {
            switch decision {
            case .send(let answer, _): try send(answer, of: replica)
            case .wait: break
            case .refuse(let id, let hold):
                guard let asked = takeWaiting(id, of: replica) else { continue }
                try checkRefusal(of: asked, hold)
            }
        }
    }

    private mutating func send(_ answer: Account.SentAnswer, of replica: Int) throws(BrokenPromise) {
        order += 1
        if answer.role == .free || answer.role == .doubt,
            replicas.copies[replica].record(of: answer.server)?.pause != nil
        {
            throw BrokenPromise(.lockout, "an answer goes to \(answer.server), which is paused, as \(answer.role)")
        }
        let page = Page(target: answer.target)
        let server = WorldSetting.names.firstIndex(of: answer.server) ?? 0
        underWay.append(
            UnderWay(
                answer: answer, server: server, replica: replica, order: order, time: now,
                knownRun: replicas.copies.count > 1 ? knownRuns[replica] : judge.run,
                verdict: accepts[server] && page.isOpen ? .accepted : .refused))
        if setting.retry?.isEmpty == true, answer.role == .retry {
            throw BrokenPromise(.others, "a server is tried again for which the rule says 'retry never'")
        }
        guard let asked = takeWaiting(answer.id, of: replica) else { return }
        if asked.verdicts > (replicas.copies.count == 1 ? 1 : 2), isPromised(asked) {
            throw BrokenPromise(.others, "\(asked.page) at \(answer.server) waited for \(asked.verdicts) verdicts")
        }
    }

    private mutating func takeWaiting(_ id: Int, of replica: Int) -> Waiting? {
        waiting.firstIndex { $0.id == id && $0.replica == replica }.map { waiting.remove(at: $0) }
    }

    // MARK: - Promises

    private func isPromised(_ asked: Waiting) -> Bool {
        asked.page.kind == .open && asked.isPromised && setting.isAlwaysRight(asked.server) && setting.wrongServers <= 1
            && setting.mayProbe && !setting.hasTrouble && !setting.isSlow && !setting.isHasty
    }

    private func checkRefusal(of asked: Waiting, _ hold: Account.Hold) throws(BrokenPromise) {
        let server = WorldSetting.names[asked.server]
        if replicas.copies.count == 1 {
            let shown = replicas.account.standing(at: server, now: clock)
            if !shown.isTroubled {
                throw BrokenPromise(.visibility, "\(asked.page) at \(server) is refused as \(hold), shown as \(shown)")
            }
        }
        if isPromised(asked) { throw BrokenPromise(.others, "\(asked.page) at \(server) is refused as \(hold)") }
        if let times = setting.learningTimes, asked.page.kind == .open, now >= (times.max() ?? 0) + 61_000 {
            throw BrokenPromise(.healing, "the server knows the new value, and \(asked.page) is refused as \(hold)")
        }
    }
}
