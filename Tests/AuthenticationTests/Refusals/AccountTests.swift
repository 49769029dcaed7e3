import Bytes
import Testing

@testable import Authentication

/// Rules of an account that walks cannot check: its limits, and rows that replicas and earlier versions of the program wrote.
@Suite struct AccountTests {
    private let open = Page.open(0)
    private var account = Account()
    private var seat = Account.Seat(replica: 1)

    /// Asks for a page, and has the server judge all answers that are sent for that. A request does not wait.
    private mutating func ask(
        _ server: String, _ page: Page, _ verdict: Account.Verdict, size: Int = 0, at now: WallTime
    ) {
        let request = Account.Request(id: seat.nextID(), server: server, target: page.target)
        let sample = Account.Sample(target: page.target, content: Array(repeating: 0xFF, count: size))
        let decisions = account.request(request, by: &seat, at: now)
        _ = seat.remove(request.id)
        for case .send(let answer, _) in decisions {
            _ = account.judge(answer, verdict, sample: sample, by: &seat, at: now)
        }
    }

    @Test mutating func `servers that a client makes up push out no others`() throws {
        ask("good", open, .accepted, at: 0)
        for page in 0..<2 {
            ask("paused", .open(page), .refused, at: 0)
            ask("good", open, .accepted, at: 1)
        }
        _ = account.learnOfTickets(at: "ticketed")
        let first = Account.Request(id: seat.nextID(), server: "leading", target: open.target)
        #expect(account.request(first, by: &seat, at: 2).count == 1)
        for number in 0..<1000 { ask("made-up-\(number)", open, .refused, at: 3) }
        #expect(account.records.count <= 256)
        #expect(account.record(of: "good")?.isKnown == true)
        #expect(account.record(of: "paused")?.pause != nil)
        #expect(account.record(of: "ticketed")?.takesTickets == true)
        #expect(account.record(of: "leading")?.leader != nil)
    }

    @Test mutating func `a new server is not shown as held while one that may be good is asked first`() {
        ask("good", open, .accepted, at: 0)
        ask("refusing", open, .refused, at: 1000)
        let request = Account.Request(id: seat.nextID(), server: "new", target: open.target)
        let decisions = account.request(request, by: &seat, at: 2000)
        #expect(decisions.count == 2, "it waits, and the good server is asked")
        #expect(account.standing(at: "new", now: 2000).state == .unknown)
    }

    @Test mutating func `a try is shown at the time when there is room, should the answer under way never come`() {
        for server in ["good", "changed"] { ask(server, open, .accepted, at: 0) }
        for now: WallTime in [1000, 2000] { ask("changed", open, .refused, at: now) }
        for case .send(let answer, _) in account.wake(by: &seat, at: 32_000) {
            _ = account.judge(answer, .refused, by: &seat, at: 32_000)
        }
        #expect(account.standing(at: "changed", now: 32_500).nextTry == .time(332_000))
        let request = Account.Request(id: seat.nextID(), server: "good", target: open.target)
        _ = account.request(request, by: &seat, at: 33_000)
        // Three slots and the answer at the good server leave no room before the first slot ends.
        #expect(account.standing(at: "changed", now: 33_000).nextTry == .time(1_801_000))
    }

    @Test mutating func `a slot does not grow with the number of replicas`() {
        ask("a", open, .accepted, at: 0)
        var seats = (0..<200).map { Account.Seat(replica: $0 + 2) }
        let request = Account.Request(id: 0, server: "a", target: open.target)
        let answers = seats.indices.map { seats[$0].send(request, as: .free, knowing: account.number) }
        for (index, answer) in answers.enumerated() { _ = account.judge(answer, .refused, by: &seats[index], at: 2) }
        #expect(account.slots.count == 1)
        #expect(account.slots.allSatisfy { $0.refusals.count <= 8 })
        // Not all that the slot stands for was known.
        let early = seats[0].send(request, as: .free, knowing: account.number - 1)
        _ = account.judge(early, .accepted, by: &seats[0], at: 3)
        #expect(account.slots.count == 1)
        let later = seats[0].send(request, as: .free, knowing: account.number)
        _ = account.judge(later, .accepted, by: &seats[0], at: 4)
        #expect(account.slots.isEmpty)
    }

    @Test mutating func `samples have a bound, and each server keeps one`() {
        for server in 0..<256 {
            for page in 0..<4 { ask("s\(server)", .open(page), .accepted, size: 1024, at: 0) }
            ask("s\(server)", .open(5), .accepted, size: 1025, at: 0)
        }
        let samples = account.records.map(\.samples)
        #expect(samples.count == 256)
        #expect(samples.allSatisfy { !$0.isEmpty })
        #expect(samples.joined().allSatisfy { $0.content.count <= 1024 })
        #expect(samples.joined().count <= 325)
    }

    @Test mutating func `a clock that is set back holds a version back for no longer than a step`() throws {
        let later: WallTime = 10_000_000_000
        ask("a", open, .accepted, at: later)
        ask("a", .forbidden(0), .refused, at: later)
        ask("a", open, .refused, at: later)
        #expect(account.record(of: "a")?.pause?.nextTry == later + 30_000)
        // The next event sees the clock as it is now.
        _ = account.follow(by: &seat, at: 1000)
        #expect(account.record(of: "a")?.pause?.nextTry == 31_000)
        #expect(account.nextWake(after: 1000) == 31_000)
        #expect(account.takenSlots(at: 1000 + Account.slotTime).isEmpty)
    }

    @Test mutating func `a clock that is set back holds back no unproven version, and none behind a dead replica`() {
        let later: WallTime = 10_000_000_000
        for page in 0..<2 { ask("a", .open(page), .refused, at: later) }
        _ = account.follow(by: &seat, at: 1000)
        #expect(account.hold(at: "a", now: 1000) == 1000 + .minutes(30))
        account = Account()
        let lost = Account.Request(id: seat.nextID(), server: "a", target: open.target)
        #expect(account.request(lost, by: &seat, at: later).count == 1)
        _ = account.follow(by: &seat, at: 1000)
        #expect(account.nextWake(after: 1000) == 31_000)
    }

    @Test mutating func `an acceptance, and a reset, leave nothing of what was refused`() throws {
        ask("a", open, .accepted, at: 0)
        ask("a", .forbidden(0), .refused, at: 1000)
        for verdict in [Account.Verdict.none, .refused] { ask("a", open, verdict, at: 3000) }
        for step: WallTime in [33_000, 340_000, 2_200_000, 4_100_000] {
            for case .send(let answer, _) in account.wake(by: &seat, at: step) {
                _ = account.judge(answer, .refused, by: &seat, at: step)
            }
        }
        var record = try #require(account.record(of: "a"))
        #expect(record.pause?.step == 4 && record.mayAskOpenly && record.indecisions == 1 && account.firstPause != nil)
        var accepted = account
        for case .send(let answer, _) in accepted.wake(by: &seat, at: 6_000_000) {
            _ = accepted.judge(answer, .accepted, by: &seat, at: 6_000_000)
        }
        account.reset()
        for account in [account, accepted] {
            #expect(account.slots.isEmpty && account.firstPause == nil)
            #expect(!account.isTroubled && account.isGood(at: "a"))
            record = try #require(account.record(of: "a"))
            #expect(record.doubt == nil && record.indecisions == 0 && !record.mayAskOpenly)
        }
        var unproven = Account()
        for page in 0..<2 {
            let request = Account.Request(id: seat.nextID(), server: "a", target: Page.open(page).target)
            for case .send(let answer, _) in unproven.request(request, by: &seat, at: 0) {
                _ = unproven.judge(answer, .refused, by: &seat, at: 0)
            }
        }
        #expect(unproven.isTroubled)
        unproven.reset()
        #expect(!unproven.isTroubled && unproven.hold(at: "a", for: Page.open(1).target, now: 1) == nil)
    }

    @Test mutating func `the refusals before a first acceptance do not count after it`() {
        ask("a", open, .refused, at: 0)
        var learned = account
        #expect(account.unprovenRefusals == 1 && learned.learn(of: "b"))
        ask("b", open, .accepted, at: 1)
        #expect(!account.isTroubled)
        for account in [account, learned] { #expect(account.unprovenRefusals == 0 && account.unprovenPlace == nil) }
    }

    @Test mutating func `what goes ahead beside a try does not set its steps back`() {
        ask("b", open, .accepted, at: 0)
        for (page, time): (Int, WallTime) in [(0, 0), (1, 0), (2, 0 + .minutes(31))] {
            ask("a", .open(page), .refused, at: time)
            ask("b", open, .accepted, at: time + 1)
        }
        #expect(account.record(of: "a")?.pause?.step == 1)
        let time: WallTime = 0 + .minutes(92)
        var answers: [Account.SentAnswer] = []
        for page in 3...4 {
            let request = Account.Request(id: seat.nextID(), server: "a", target: Page.open(page).target)
            for case .send(let answer, _) in account.request(request, by: &seat, at: time) { answers.append(answer) }
        }
        for case .send(let answer, _) in account.hurry(at: "a", by: &seat, at: time) { answers.append(answer) }
        #expect(answers.map(\.role) == [.retry, .retry])
        for answer in answers { _ = account.judge(answer, .refused, by: &seat, at: time) }
        #expect(account.record(of: "a")?.pause?.step == 2)
    }

    @Test mutating func `an answer that was sent before a leader says nothing of that leader`() {
        for server in ["a", "b"] { ask(server, open, .accepted, at: 0) }
        ask("a", .forbidden(0), .refused, at: 1)
        var other = Account.Seat(replica: 2)
        var answers: [Account.SentAnswer] = []
        let atA = Account.Request(id: seat.nextID(), server: "a", target: open.target)
        for case .send(let answer, _) in account.request(atA, by: &seat, at: 2) { answers.append(answer) }
        let atB = Account.Request(id: other.nextID(), server: "b", target: open.target)
        for case .send(let answer, _) in account.request(atB, by: &other, at: 2) { answers.append(answer) }
        #expect(answers.map(\.server) == ["a", "b"])
        _ = account.judge(answers[0], .accepted, by: &seat, at: 3)
        #expect(account.reservations.map(\.isCleared) == [false])
    }

    @Test mutating func `requests wait for the leader of now, not for one that took too long`() {
        /// - Returns: the answers that a verdict sends.
        func sent(_ decisions: [Account.Decision]) -> [Account.SentAnswer] {
            decisions.compactMap { if case .send(let answer, _) = $0 { answer } else { nil } }
        }
        ask("a", open, .accepted, at: 0)
        var other = Account.Seat(replica: 2)
        let early = other.send(
            Account.Request(id: 1, server: "b", target: open.target), as: .free, knowing: account.number)
        ask("a", .forbidden(0), .refused, at: 1)
        var leaders: [Account.SentAnswer] = []
        for time: WallTime in [2, 40_000] {
            let request = Account.Request(id: seat.nextID(), server: "a", target: open.target)
            leaders += sent(account.request(request, by: &seat, at: time))
        }
        #expect(leaders.map(\.role) == [.doubt, .doubt])
        // Another server refuses the version meanwhile, so that the first leader's verdict clears nothing.
        _ = account.judge(early, .refused, by: &other, at: 40_001)
        #expect(sent(account.judge(leaders[0], .accepted, by: &seat, at: 40_002)).isEmpty)
        #expect(sent(account.judge(leaders[1], .accepted, by: &seat, at: 40_003)).map(\.role) == [.free, .free])
    }

    @Test mutating func `a server stays doubted until it accepts an answer that was sent after all that it refused`() {
        for server in ["a", "b"] { ask(server, open, .accepted, at: 0) }
        let answers = (0..<3).map { page in
            let request = Account.Request(id: seat.nextID(), server: "a", target: Page.open(page).target)
            return seat.send(request, as: .free, knowing: account.number)
        }
        for number in [0, 2] { _ = account.judge(answers[number], .refused, by: &seat, at: 1) }
        ask("b", open, .accepted, at: 2)
        #expect(account.slots.isEmpty && account.isGood(at: "b") && !account.isGood(at: "a"))
        _ = account.judge(answers[1], .accepted, by: &seat, at: 3)
        #expect(!account.isGood(at: "a") && account.standing(at: "a", now: 3).state == .doubted)
        ask("a", open, .accepted, at: 4)
        #expect(account.isGood(at: "a"))
    }

    @Test mutating func `servers that are doubted for their own refusals are asked at the same time`() {
        let servers = ["a", "b", "c", "d"]
        for server in servers + ["e"] { ask(server, open, .accepted, at: 0) }
        let answers = servers.map { server in
            let request = Account.Request(id: seat.nextID(), server: server, target: open.target)
            return seat.send(request, as: .free, knowing: account.number)
        }
        for answer in answers { _ = account.judge(answer, .refused, by: &seat, at: 1) }
        ask("e", open, .accepted, at: 2)
        #expect(account.slots.isEmpty)
        for server in servers {
            let request = Account.Request(id: seat.nextID(), server: server, target: open.target)
            let sent = account.request(request, by: &seat, at: 3).filter { if case .send = $0 { true } else { false } }
            #expect(sent.count == 1, "\(server)")
        }
    }

    @Test mutating func `a server that accepts an earlier answer while it is paused is tried sooner`() {
        ask("b", open, .accepted, at: 0)
        let request = Account.Request(id: seat.nextID(), server: "a", target: open.target)
        let early = seat.send(request, as: .unknown, knowing: account.number)
        for page in 0..<2 {
            ask("a", .open(page), .refused, at: 1)
            ask("b", open, .accepted, at: 2)
        }
        #expect(account.record(of: "a")?.pause?.nextTry == 1 + .minutes(30))
        _ = account.judge(early, .accepted, by: &seat, at: 10)
        #expect(account.record(of: "a")?.pause?.nextTry == 30_010)
    }

    @Test mutating func `where four slots are taken a version is held until the first is free`() {
        for server in ["a", "b"] { ask(server, open, .accepted, at: 0) }
        ask("c", open, .accepted, size: 1025, at: 0)
        ask("a", .forbidden(0), .refused, at: 0)
        ask("a", open, .refused, at: 1000)
        ask("b", open, .refused, at: 2000)
        for case .send(let answer, _) in account.wake(by: &seat, at: 31_000) {
            _ = account.judge(answer, .refused, by: &seat, at: 31_000)
        }
        #expect(account.slots.count == 4)
        #expect(account.hold(at: "c", now: 40_000) == 0 + .minutes(30))
    }

    @Test mutating func `a rule that no longer says retry never is followed at once`() {
        ask("a", open, .accepted, at: 0)
        for page in [Page.forbidden(0), open, open] {
            var request = Account.Request(id: seat.nextID(), server: "a", target: page.target)
            request.retry = []
            for case .send(let answer, _) in account.request(request, by: &seat, at: 0) {
                _ = account.judge(answer, .refused, by: &seat, at: 0)
            }
        }
        #expect(account.record(of: "a")?.pause?.nextTry == .distantFuture)
        ask("a", open, .accepted, at: 1000)
        #expect(account.record(of: "a")?.pause?.nextTry == 31_000)
    }

    @Test func `what only this process knows completes the store's account`() {
        var (stored, own) = (Account(), Account())
        stored.number = 2
        _ = stored.learn(of: "a")
        _ = own.learn(of: "a")
        _ = own.learn(of: "b")
        own.records[0].samples = [Account.Sample(target: 1, content: [1])]
        let completed = stored.completed(by: own)
        #expect(completed.records.map(\.server) == ["a", "b"])
        #expect(completed.records.allSatisfy(\.isKnown) && completed.records[0].samples.count == 1)
        #expect(completed.number == 2)
        #expect(stored.completed(by: Account()) == stored)
        #expect(completed.completed(by: own) == completed)
    }

    @Test mutating func `a server that takes tickets proves nothing, and is kept where the store does not have it`() {
        #expect(account.learnOfTickets(at: "a") && !account.learnOfTickets(at: "a"))
        #expect(account.standing(now: 0).state == .good && !account.isProven && !account.isGood(at: "a"))
        let completed = Account().completed(by: account)
        #expect(completed.record(of: "a")?.takesTickets == true && !completed.isProven)
        ask("a", open, .refused, at: 0)
        #expect(account.standing(now: 0).state == .unproven)
    }

    @Test func `a process that has counted more while the store was away goes on from that`() {
        var (stored, own) = (Account(), Account())
        _ = stored.learn(of: "b")
        (stored.number, own.number) = (1, 2)
        own.slots = [Account.Slot(time: 5, id: 2, refusals: [])]
        let completed = stored.completed(by: own)
        #expect(completed.slots == own.slots && completed.record(of: "b")?.isKnown == true)
        own.number = 1
        #expect(stored.completed(by: own) == stored)
    }

    @Test func `earlier refusals of a version that was accepted there pause it there`() throws {
        let refusals = [
            Account.EarlierRefusal(at: "a", since: 5, nextTry: 1_000_000, retries: 2),
            Account.EarlierRefusal(at: "a", since: 7, nextTry: nil, retries: 0),
            Account.EarlierRefusal(at: "b", since: 9, nextTry: nil, retries: 0),
        ]
        let account = Account(earlier: refusals, acceptedBy: ["a", "c"], at: 10_000)
        #expect(account.isProven && account.isTroubled && account.unprovenRefusals == 0)
        let pause = try #require(account.record(of: "a")?.pause)
        #expect(pause.nextTry == 1_000_000 && pause.step == 2 && pause.since == 5)
        #expect(account.record(of: "b")?.isKnown == false)
        #expect(account.record(of: "b")?.pause?.nextTry == 1_810_000)
        #expect(account.isGood(at: "c"))
        let due = Account(earlier: [refusals[1]], acceptedBy: ["a"], at: 10_000)
        #expect(due.record(of: "a")?.pause?.nextTry == 40_000)
    }

    @Test func `earlier refusals of a version that was never accepted are its two`() {
        let refusal = Account.EarlierRefusal(at: "a", since: 5, nextTry: 6, retries: 0)
        let account = Account(earlier: [refusal], acceptedBy: [], at: 10_000)
        #expect(account.standing(now: 20_000).nextTry == .time(10_000 + 30 * 60_000))
        #expect(account.hold(at: "b", now: 20_000) != nil)
    }

    @Test mutating func `a new value begins with what is known of servers that accepted the value before`() throws {
        ask("a", open, .accepted, at: 0)
        ask("b", open, .refused, at: 0)
        for account in [Account(after: account), Account(after: Account(after: account))] {
            #expect(account.isRotated && !account.isProven)
            #expect(account.records.map(\.server) == ["a"])
            let record = try #require(account.record(of: "a"))
            #expect(record.wasKnown && !record.isKnown && record.samples.map(\.target) == [open.target])
        }
        #expect(!Account(after: Account()).isRotated)
    }

    @Test mutating func `a request goes ahead beside a first leader, but not for a target that was refused`() {
        /// - Returns: whether it goes ahead of a leader that takes long.
        func goesAhead(_ account: Account, _ seat: Account.Seat, _ page: Page) -> Bool {
            var (account, seat) = (account, seat)
            for page in [Page.open(9), page] {
                let request = Account.Request(id: seat.nextID(), server: "a", target: page.target)
                _ = account.request(request, by: &seat, at: 10)
            }
            return !account.hurry(at: "a", by: &seat, at: 5000).isEmpty
        }
        #expect(goesAhead(account, seat, open))
        ask("a", open, .refused, at: 0)
        #expect(!goesAhead(account, seat, open))
        ask("b", open, .accepted, at: 1)
        ask("a", open, .refused, at: 1)
        ask("b", open, .accepted, at: 2)
        #expect(!goesAhead(account, seat, open) && goesAhead(account, seat, .open(1)))
    }
}
