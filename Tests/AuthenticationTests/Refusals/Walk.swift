import Bytes

#if canImport(Authentication)
@testable import Authentication
#endif

/// Clients, replicas and servers over a played clock, by chance or by a scene. The promises P1 to P4 are checked with each
/// event; see `Walk+Promises.swift` for P2 to P4.
struct Walk {
    /// A request or probe, by its replica's process and its number there.
    struct Key: Hashable {
        let process: UInt64
        let id: Int
    }

    /// A client's request.
    struct Asked {
        let server: Int
        let page: Page
        let replica: Int
        let time: Int
        /// Whether the server had accepted the version by then, and the proxy had a sample.
        let isPromised: Bool
        /// Whether the server had accepted its page.
        let wasAccepted: Bool
    }

    /// An answer on its way to the server and back.
    struct UnderWay {
        let answer: Account.SentAnswer
        let replica: Int
        let order: Int
        /// The run of refused answers that its replica knew of when it sent this one.
        let knownRun: Int?
        /// The run of its server's own refused answers that its replica knew of.
        let knownRunOfServer: Int?
        /// Whether it is a leader's, at a server that has accepted the version before.
        let isAtKnown: Bool
        /// Whether its replica has died.
        var isLost = false
    }

    enum Event {
        case request(server: Int, page: Page, replica: Int)
        case verdict(Key, Account.Verdict)
        /// The request has waited for half its time: another leads beside the leader.
        case hurries(Key)
        /// The request does not wait any longer.
        case patienceEnds(Key)
        /// The client of a leader leaves.
        case leaves(server: String, replica: Int)
        /// A replica learns of a run of refused answers, or of its end.
        case learns(replica: Int, run: Int?)
        /// A replica learns that the account has changed.
        case follows(replica: Int)
        case wakes
        case resets
    }

    let plan: WalkPlan
    var random: RandomNumbers
    var replicas: Replicas
    var judge = Judge()
    /// A judge for each server, as if it had a directory of its own. Each knows what a single replica knows.
    var serverJudges: [Judge]
    private var pauses = PauseWatch()
    var now = 0
    var requests: [Key: Asked] = [:]
    /// The number of leaders' verdicts that each waiting request has waited for at its server.
    var waiting: [Key: Int] = [:]
    var underWay: [Key: UnderWay] = [:]
    /// Refused answers that became known.
    private(set) var refusedAnswers = 0
    /// Requests that were refused without an answer.
    private(set) var heldBack = 0
    /// The time when a replica died; nil if it lives.
    private(set) var death: Int?
    /// Whether no leader was accepted that was sent later.
    private(set) var isDeathOpen = false
    private var lastBeforeDeath = 0
    /// The time at which a leader was refused whose page is gone.
    private(set) var pageGoneSince: Int?
    /// The time at which the account saw the clock that was set back.
    private(set) var setBackSeen: Int?
    /// Whether a request had no room to go ahead beside a leader.
    private(set) var isCrowded = false
    /// The time at which an operator last had the version tried again.
    private(set) var lastReset: Int?
    /// Whether an answer was refused since.
    private(set) var isRefusedSinceReset = false
    /// The events so far, if they are recorded.
    private(set) var story: [String]?
    private var events = EventQueue<Event>()
    /// The run that each replica knows of.
    private var knownRuns: [Int?]
    private var wasAccepted: [Set<Page>]
    /// The time of each server's last acceptance.
    private(set) var lastAcceptances: [Int]
    /// Whether each server has accepted a request that the proxy can repeat, with this value or an earlier one.
    private var hasSample: [Bool]
    private var order = 0
    var probes = 0
    private var nextWake: Int?
    /// Times in a row when the account was woken and did nothing.
    private var idleWakes = 0
    /// The number of requests, by server, that went out beside the tries since the last try.
    var openTries: [String: Int] = [:]
    private var hasHung = false

    /// A change reaches the other replicas so much later.
    static let notificationTime = 50
    /// A request waits so long.
    static let patience = 10_000

    init(_ plan: WalkPlan, random: RandomNumbers, isTold: Bool = false) {
        self.plan = plan
        self.random = random
        let account = plan.kind == .rotation ? Self.rotated(plan) : Account()
        replicas = Replicas(account, count: plan.replicas)
        knownRuns = Array(repeating: nil, count: plan.replicas)
        serverJudges = Array(repeating: Judge(), count: plan.servers.count)
        wasAccepted = Array(repeating: [], count: plan.servers.count)
        lastAcceptances = Array(repeating: 0, count: plan.servers.count)
        hasSample = Array(repeating: plan.kind == .rotation, count: plan.servers.count)
        story = isTold ? [] : nil
    }

    init(seed: Int, isTold: Bool = false) {
        var random = RandomNumbers(seed: seed)
        let plan = WalkPlan(drawn: &random)
        self.init(plan, random: random, isTold: isTold)
    }

    /// The account of a version that replaces one which all servers have accepted.
    private static func rotated(_ plan: WalkPlan) -> Account {
        let next = Account(after: accepted(plan))
        return plan.isRotatedTwice ? Account(after: next) : next
    }

    private static func accepted(_ plan: WalkPlan) -> Account {
        var former = Replicas(count: 1)
        for server in plan.servers {
            let id = former.nextID(of: 0)
            let request = Account.Request(id: id, server: server.name, target: Page.open(0).target)
            for case .send(let answer, _) in former.request(request, of: 0, at: 0) {
                _ = former.judge(answer, .accepted, of: 0, at: 0)
            }
        }
        return former.account
    }

    // MARK: - Time

    mutating func add(_ event: Event, at time: Int) { events.add(event, at: time) }

    /// Draws so many requests, and plays them.
    mutating func run(requests count: Int) throws(BrokenPromise) {
        var time = 0
        var drawn = 0
        for reset in plan.resets { add(.resets, at: reset) }
        while drawn < count {
            let atOnce = plan.comesInBursts && random.happens(5) ? 20 : 1
            time += random.happens(93) ? random.gap(plan.pace) : random.one(of: [1000, 31_000, 301_000, 1_801_000])
            let server = random.below(plan.servers.count)
            for _ in 0..<atOnce {
                let isBad = random.happens(plan.badness) && (drawn >= 3 || plan.kind == .first)
                let isGone = plan.kind == .gone && server == 0 && plan.gone.map { time >= $0 + minute } ?? false
                let kind: Page.Kind =
                    if isBad { random.one(of: [.forbidden, .spoiled]) } else if isGone { .new } else {
                        plan.areAllPosted || plan.kind == .rotation && drawn < plan.posted ? .posted : .open
                    }
                let page = Page(kind: kind, number: random.below(plan.pages))
                add(.request(server: server, page: page, replica: random.below(plan.replicas)), at: time)
                drawn += 1
            }
        }
        try play(until: time)
    }

    /// Plays all events. The account is woken up to that time, and longer while requests are in progress.
    mutating func play(until last: Int) throws(BrokenPromise) {
        var steps = 0
        while let (time, event) = events.next() {
            now = time
            if let setBack = plan.setBack, now >= setBack, setBackSeen == nil { setBackSeen = now }
            steps += 1
            if case .wakes = event {} else { idleWakes = 0 }
            if probes > 5000 { throw BrokenPromise(.rest, "\(probes) probes") }
            if steps > 30_000 { return }
            try play(event)
            if now < last { try checkWaiting() }
            guard let due = replicas.account.nextWake(after: clock).map({ ($0 - clock).count + now }) else { continue }
            if due <= last, nextWake.map({ due < $0 }) ?? true {
                nextWake = due
                add(.wakes, at: due)
            }
        }
    }

    private mutating func play(_ event: Event) throws(BrokenPromise) {
        switch event {
        case .request(let server, let page, let replica): try request(page, at: server, of: replica)
        case .verdict(let key, let verdict): try hear(verdict, of: key)
        case .hurries(let key):
            guard waiting[key] != nil, let asked = requests[key], replicas.seats[asked.replica].replica == key.process
            else { return }
            try hurry(at: plan.servers[asked.server].name, of: asked.replica)
        case .leaves(let server, let replica): try hurry(at: server, of: replica)
        case .patienceEnds(let key):
            guard let asked = requests[key], replicas.seats[asked.replica].replica == key.process,
                replicas.giveUp(key.id, of: asked.replica)
            else { return }
            tell("\(key) gives up")
            try checkRefusal(of: key, nil)
            waiting[key] = nil
        case .learns(let replica, let run): knownRuns[replica] = run
        case .follows(let replica): try carryOut(replicas.follow(replica, at: clock), of: replica)
        case .wakes: try wake()
        case .resets: try reset()
        }
    }

    /// The time by the proxy's clock.
    var clock: WallTime {
        WallTime(milliseconds: plan.setBack.map { now + (now < $0 ? 2 : 1) * 10_000 * minute } ?? now)
    }

    private mutating func wake() throws(BrokenPromise) {
        // Not a time that an earlier one has taken the place of.
        guard nextWake == now else { return }
        nextWake = nil
        let replica = random.below(plan.replicas)
        let before = replicas.account
        let decisions = replicas.wake(replica, at: clock)
        idleWakes = decisions.isEmpty && replicas.account == before ? idleWakes + 1 : 0
        if idleWakes > 20 { throw BrokenPromise(.rest, "the account is woken over and over, and does nothing") }
        try carryOut(decisions, of: replica)
    }

    private mutating func hurry(at server: String, of replica: Int) throws(BrokenPromise) {
        tell("replica \(replica) hurries at \(server)")
        let decisions = replicas.hurry(at: server, of: replica, at: clock)
        if decisions.isEmpty, replicas.account.reservations.count >= 2 { isCrowded = true }
        try carryOut(decisions, of: replica)
    }

    private mutating func reset() throws(BrokenPromise) {
        tell("an operator resets the account")
        lastReset = now
        isRefusedSinceReset = false
        judge.reset()
        for server in serverJudges.indices { serverJudges[server].reset() }
        pauses.reset()
        knownRuns = Array(repeating: nil, count: plan.replicas)
        let replica = random.below(plan.replicas)
        try carryOut(replicas.reset(by: replica, at: clock), of: replica)
        try checkReset(by: replica)
        for other in replicas.indices where other != replica {
            add(.follows(replica: other), at: now + Self.notificationTime)
        }
    }

    // MARK: - Events

    private mutating func request(_ page: Page, at server: Int, of replica: Int) throws(BrokenPromise) {
        let name = plan.servers[server].name
        let record = replicas.account.record(of: name)
        let key = Key(process: replicas.seats[replica].replica, id: replicas.nextID(of: replica))
        requests[key] = Asked(
            server: server, page: page, replica: replica, time: now,
            isPromised: hasSample[server] && record?.isKnown ?? false,
            wasAccepted: wasAccepted[server].contains(page))
        add(.hurries(key), at: now + Self.patience / 2)
        add(.patienceEnds(key), at: now + Self.patience)
        var request = Account.Request(id: key.id, server: name, target: page.target)
        request.wasAccepted = wasAccepted[server].contains(page)
        request.mayProbe = plan.mayProbe
        request.fixedSample = plan.probedPage?.sample
        if let retry = plan.retry { request.retry = retry }
        tell("\(key) asks \(name) for \(page)")
        let hold = replicas.account.hold(at: name, for: page.target, now: clock)
        let decisions = replicas.request(request, of: replica, at: clock)
        try checkHold(hold, of: key, decisions)
        try carryOut(decisions, of: replica)
    }

    private mutating func hear(_ verdict: Account.Verdict, of key: Key) throws(BrokenPromise) {
        guard let sent = underWay.removeValue(forKey: key) else { return }
        let answer = sent.answer
        if sent.isLost {
            // The proxy never knows of it, but the directory counts it in a run.
            if verdict == .refused, judge.run != nil {
                try judge.noteRefusal(order: sent.order, known: sent.knownRun, at: now)
            }
            return
        }
        let server = plan.servers.firstIndex { $0.name == answer.server } ?? 0
        tell("\(key) is \(verdict) by \(answer.server), as \(answer.role)")
        let former = judge.run
        try judge.note(verdict, answer.role, order: sent.order, known: sent.knownRun, at: now)
        try judgeAtServer(server, verdict, on: sent)
        let others = replicas.indices.filter { $0 != sent.replica }
        if let run = judge.run, former == nil {
            knownRuns = Array(repeating: nil, count: plan.replicas)
            knownRuns[sent.replica] = run
            for other in others { add(.learns(replica: other, run: run), at: now + Self.notificationTime) }
        }
        if verdict == .accepted {
            let page = Page(target: answer.target)
            wasAccepted[server].insert(page)
            lastAcceptances[server] = now
            if page.sample != nil || plan.probedPage != nil { hasSample[server] = true }
            if answer.role.isRetrial {
                for other in others { add(.learns(replica: other, run: nil), at: now + Self.notificationTime) }
            }
        }
        if answer.role != .free {
            for key in waiting.keys where requests[key]?.server == server { waiting[key, default: 0] += 1 }
        }
        let account = replicas.account
        let decisions = replicas.judge(answer, verdict, of: sent.replica, at: clock)
        try pauses.note(verdict, on: answer, order: sent.order, last: order, from: account, to: replicas.account)
        for other in others { add(.follows(replica: other), at: now + Self.notificationTime) }
        if verdict == .accepted, answer.role != .free, sent.order > lastBeforeDeath { isDeathOpen = false }
        if answer.role == .retry { openTries[answer.server] = answer.isProbe ? 0 : 1 }
        if verdict == .refused {
            if plan.kind == .pageGone, answer.role == .doubt, now > plan.gone ?? 0 { try notePageGone() }
            refusedAnswers += 1
            isRefusedSinceReset = true
            if let asked = requests[key] { try checkHealing(of: asked, "it was sent, and refused") }
        }
        try carryOut(decisions, of: sent.replica)
    }

    /// Counts what one server refused, as its own directory would. Only for a single replica, the usual steps, and servers whose
    /// verdicts come before another request may lead.
    private mutating func judgeAtServer(
        _ server: Int, _ verdict: Account.Verdict, on sent: UnderWay
    ) throws(BrokenPromise) {
        guard plan.replicas == 1, plan.kind != .steps, plan.kind != .stalling else { return }
        switch verdict {
        case .accepted:
            // What it refused before the first acceptance may have been under way with that.
            if !serverJudges[server].wasAccepted { serverJudges[server].reset() }
            serverJudges[server].noteAcceptance(sent.answer.role, order: sent.order)
        case .refused:
            try serverJudges[server].noteRefusal(order: sent.order, known: sent.knownRunOfServer, at: now)
        case .none, .abandoned: break
        }
    }

    private mutating func carryOut(_ decisions: [Account.Decision], of replica: Int) throws(BrokenPromise) {
        var leads = false
        for decision in decisions {
            let process = replicas.seats[replica].replica
            switch decision {
            case .send(let answer, let sample):
                if let sample { try checkProbe(by: sample, at: answer.server) }
                leads = leads || answer.role != .free
                try send(answer, Key(process: process, id: answer.id), of: replica)
            case .wait(let id): waiting[Key(process: process, id: id), default: 0] += 0
            case .refuse(let id, let hold):
                let key = Key(process: process, id: id)
                tell("\(key) is held back: \(hold)")
                heldBack += 1
                try checkRefusal(of: key, hold)
                waiting[key] = nil
            }
        }
        if leads, death == nil, let time = plan.death, now >= time { die(replica) }
    }

    private mutating func send(_ answer: Account.SentAnswer, _ key: Key, of replica: Int) throws(BrokenPromise) {
        tell("\(key) goes to \(answer.server) as \(answer.role), for \(Page(target: answer.target))")
        order += 1
        try checkRole(of: key, answer, of: replica)
        // What has waited for an acceptance is sent before that is known.
        let isReleased =
            plan.replicas > 1 && answer.role == .free && answer.knew == 0 && !replicas.account.slots.isEmpty
        let run = knownRuns[replica] == judge.run && !isReleased ? judge.run : nil
        let index = plan.servers.firstIndex { $0.name == answer.server } ?? 0
        underWay[key] = UnderWay(
            answer: answer, replica: replica, order: order, knownRun: run, knownRunOfServer: serverJudges[index].run,
            isAtKnown: answer.role.isRetrial && replicas.account.record(of: answer.server)?.isKnown == true)
        let server = plan.servers[index]
        var time = server.latency / 2 + random.below(server.latency / 2)
        // The server judges it half-way.
        let verdict = verdict(of: index, on: Page(target: answer.target), at: now + random.below(time))
        if plan.kind == .slow, index == 0, !answer.isProbe, random.happens(30) { time += random.within(1000...9000) }
        if plan.kind == .stalling, verdict != .accepted || random.happens(10) { time += random.within(5000...90_000) }
        if let hang = plan.hang, index == 0, !hasHung {
            hasHung = true
            time += hang
        }
        if answer.role != .free, !answer.isProbe, random.happens(plan.haste) {
            add(.leaves(server: answer.server, replica: replica), at: now + random.below(time))
        }
        add(.verdict(key, verdict), at: now + time)
        try checkSending(of: key, answer)
        waiting[key] = nil
    }

    private mutating func verdict(of index: Int, on page: Page, at time: Int) -> Account.Verdict {
        let server = plan.servers[index]
        if random.happens(plan.flakiness) { return .none }
        if random.happens(plan.haste / 4) { return .abandoned }
        if server.hostility == .never { return .refused }
        if server.hostility == .flips, random.happens(50) { return .refused }
        if index == 0, let gone = plan.gone, time >= gone {
            switch plan.kind {
            case .gone: return page.kind == .new ? .accepted : .refused
            case .pageFails where page == .open(0): return .none
            default: return page.isOpen && page.number > 0 ? .accepted : .refused
            }
        }
        return server.isRight(at: time) && page.isOpen ? .accepted : .refused
    }

    /// The replica's process ends: its answers never come back, and what waits there is lost.
    private mutating func die(_ replica: Int) {
        tell("replica \(replica) dies")
        death = now
        isDeathOpen = true
        lastBeforeDeath = order
        let process = replicas.seats[replica].replica
        for key in underWay.keys where key.process == process { underWay[key]?.isLost = true }
        for key in waiting.keys where key.process == process { waiting[key] = nil }
        replicas.restart(replica)
    }

    /// The probe of a page that is gone pauses the version once. After that other samples are taken.
    private mutating func notePageGone() throws(BrokenPromise) {
        if let pageGoneSince {
            throw BrokenPromise(.others, "the page that is gone since \(seconds([pageGoneSince])) pauses it again")
        }
        pageGoneSince = now
    }

    private mutating func tell(_ line: @autoclosure () -> String) {
        if story != nil { story?.append("\(seconds([now])) \(line())") }
    }
}

extension Walk.Key: CustomStringConvertible {
    var description: String { "\(process)/\(id)" }
}
