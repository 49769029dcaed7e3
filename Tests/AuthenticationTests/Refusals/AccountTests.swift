import Testing

@testable import Authentication

/// Rules of an account that walks cannot check: its limits, and rows that replicas and earlier versions of the program wrote.
@Suite struct AccountTests {
    private let open = Page.open(0)
    private var account = Account()
    private var seat = Account.Seat(replica: 1)

    /// Asks for a page, and has the server judge all answers that are sent for that. A request does not wait.
    private mutating func ask(_ server: String, _ page: Page, _ verdict: AnswerVerdict, size: Int = 0, at now: Int) {
        let request = Account.Request(id: seat.nextID(), server: server, target: page.target)
        let sample = Account.Sample(target: page.target, content: Array(repeating: 0xFF, count: size))
        for case .send(let answer, _) in account.request(request, by: &seat, at: now) {
            _ = account.judge(answer, verdict, sample: sample, by: &seat, at: now)
        }
        _ = Account.giveUp(request.id, by: &seat)
    }

    @Test mutating func `servers that a client makes up do not push out one that has accepted the version`() throws {
        ask("good", open, .accepted, at: 0)
        for number in 0..<1000 {
            for page in 0..<2 {
                ask("made-up-\(number)", .open(page), .refused, at: 1000 * number)
                ask("good", open, .accepted, at: 1000 * number)
            }
        }
        #expect(account.records.count <= 256)
        #expect(account.record(of: "good")?.isKnown == true)
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
        let later = 10_000_000_000
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

    @Test mutating func `a rule that no longer says retry never is followed at once`() {
        ask("a", open, .accepted, at: 0)
        for page in [Page.forbidden(0), open, open] {
            var request = Account.Request(id: seat.nextID(), server: "a", target: page.target)
            request.retry = []
            for case .send(let answer, _) in account.request(request, by: &seat, at: 0) {
                _ = account.judge(answer, .refused, by: &seat, at: 0)
            }
        }
        #expect(account.record(of: "a")?.pause?.nextTry == .max)
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
        #expect(account.record(of: "b")?.pause?.nextTry == 10_000 + 30 * 60_000)
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
