import Testing

@testable import Authentication

/// The actions of clients, servers and operators, with a played clock, and the number of refused answers that they
/// cost. The promises of `Account` are checked with each event.
@Suite struct RefusalSceneTests {
    @Test func `a client that asks for forbidden pages takes nothing from the others`() throws {
        var scene = Scene(["a"])
        scene.open("a", from: 10, to: 20, every: 0.2)
        for number in 0..<200 { scene.ask("a", .forbidden(number), at: 10 + 0.05 * Double(number)) }
        // The pages that the client asked for, and nothing else.
        #expect(try scene.refusedAnswers() == 200)
    }

    @Test func `a field of one client's does not make its page's other readers wait for long`() throws {
        var scene = Scene(["a"])
        scene.open("a", from: 10.3, to: 20, every: 0.5)
        for number in 0..<20 {
            scene.ask("a", .spoiled(1), at: 10 + 0.5 * Double(number))
            scene.ask("a", .spoiled(1), at: 10.02 + 0.5 * Double(number))
        }
        #expect(try scene.refusedAnswers() == 40)
    }

    @Test func `twenty requests in an outage of 50 ms pause nothing`() throws {
        var scene = Scene(["a"])
        scene.outage(at: "a", from: 10, to: 10.05)
        for _ in 0..<20 { scene.ask("a", .open(1), at: 9.97) }
        scene.open("a", from: 10.2, to: 60)
        let refused = try scene.refusedAnswers()
        #expect((1...20).contains(refused))
        #expect(!scene.wasHeldBack)
    }

    @Test func `an outage of 5 s costs two answers`() throws {
        var scene = Scene(["a"])
        scene.outage(at: "a", from: 10, to: 15)
        scene.open("a", from: 9, to: 90)
        #expect(try scene.refusedAnswers() == 2)
    }

    @Test func `an outage of 40 s costs three answers`() throws {
        var scene = Scene(["a"])
        scene.outage(at: "a", from: 10, to: 50)
        scene.open("a", from: 9, to: 500)
        #expect(try scene.refusedAnswers() == 3)
    }

    @Test func `an outage of ten minutes costs four answers`() throws {
        var scene = Scene(["a"])
        scene.outage(at: "a", from: 10, to: 610)
        scene.open("a", from: 9, to: 2600, every: 5)
        #expect(try scene.refusedAnswers() == 4)
    }

    @Test func `an outage of 8 s of a directory costs three answers at three servers`() throws {
        var scene = Scene(["a", "b", "c"])
        for (server, start) in [("a", 9.0), ("b", 9.1), ("c", 9.2)] {
            scene.outage(at: server, from: 10, to: 18)
            scene.open(server, from: start, to: 90)
        }
        #expect(try scene.refusedAnswers() == 3)
    }

    @Test func `a password that is changed centrally costs four answers in half an hour at three servers`() throws {
        var scene = Scene(["a", "b", "c"])
        for (server, start) in [("a", 9.0), ("b", 9.1), ("c", 9.2)] {
            scene.outage(at: server, from: 10, to: 1_000_000)
            scene.open(server, from: start, to: 4000, every: 7)
        }
        #expect(try scene.refusedAnswers(until: 1800) == 4)
        #expect(try scene.refusedAnswers() <= 12)
    }

    @Test func `a password that is changed centrally costs four answers in half an hour at ten servers`() throws {
        var scene = Scene((0..<10).map { "s\($0)" })
        for number in 0..<10 {
            scene.outage(at: "s\(number)", from: 10, to: 1_000_000)
            scene.open("s\(number)", from: 19 + Double(number) / 9, to: 4000, every: 11)
        }
        #expect(try scene.refusedAnswers(until: 1800) == 4)
        #expect(try scene.refusedAnswers() <= 12)
    }

    @Test func `a password that is changed at one of two servers is found right at the idle one at once`() throws {
        var scene = Scene(["a", "b"])
        scene.outage(at: "a", from: 10, to: 50)
        scene.open("a", from: 9, to: 400)
        scene.ask("b", .open(1), at: 390.5)
        #expect(try scene.refusedAnswers() == 3)
    }

    @Test func `a password that is changed at one of two busy servers costs four answers`() throws {
        var scene = Scene(["a", "b"])
        scene.outage(at: "a", from: 10, to: 1_000_000)
        scene.open("a", from: 9, to: 2000, every: 2)
        scene.open("b", from: 9.05, to: 2000, every: 0.3)
        #expect(try scene.refusedAnswers(until: 1800) == 4)
    }

    @Test func `polls of a page that was forbidden do not try a changed password`() throws {
        var scene = Scene(["a"])
        scene.outage(at: "a", from: 20, to: 1_000_000)
        scene.ask("a", .forbidden(1), at: 5)
        scene.ask("a", .open(1), at: 5.5)
        for number in 0..<100 { scene.ask("a", .forbidden(1), at: 6 + 2 * Double(number)) }
        // Eight polls while the password is right; then probes only.
        #expect(try scene.refusedAnswers(until: 49) == 8 + 1)
        #expect(try scene.refusedAnswers() == 8 + 2)
    }

    @Test func `a version that no server has accepted costs two answers in half an hour`() throws {
        var scene = Scene(["a", "b", "c"], isWarm: false)
        for server in ["a", "b", "c"] { scene.outage(at: server, from: 0, to: 1_000_000) }
        for number in 0..<500 {
            scene.ask(["a", "b", "c"][number % 3], .open(number % 6), at: 20 * Double(number))
        }
        #expect(try scene.refusedAnswers(until: 1800) == 2)
        // After half an hour, one, two hours: all in 10,000 s.
        #expect(try scene.refusedAnswers() == 4)
    }

    @Test func `a page of a server that never accepts the version costs one answer in half an hour`() throws {
        var scene = Scene(["a"])
        scene.addHostile("h")
        for number in 0..<300 { scene.ask("h", .open(1), at: 10 + 10 * Double(number)) }
        #expect(try scene.refusedAnswers(until: 1800) == 1)
        #expect(try scene.refusedAnswers() == 2)
    }

    @Test func `a page of a version that no server has accepted costs one answer in half an hour`() throws {
        var scene = Scene(["a"], isWarm: false)
        scene.outage(at: "a", from: 0, to: 1_000_000)
        for number in 0..<300 { scene.ask("a", .open(1), at: 10 * Double(number)) }
        #expect(try scene.refusedAnswers(until: 1800) == 1)
        #expect(try scene.refusedAnswers() == 2)
    }

    @Test func `a first page that is forbidden costs one answer`() throws {
        var scene = Scene(["a"], isWarm: false)
        scene.ask("a", .forbidden(1), at: 1)
        scene.ask("a", .open(1), at: 2)
        scene.ask("a", .open(2), at: 3)
        #expect(try scene.refusedAnswers() == 1)
    }

    @Test func `forbidden pages of a slow server cost the other clients one exchange`() throws {
        var scene = Scene(["a"], latency: 2, isWarm: false)
        scene.ask("a", .open(1), at: 1)
        scene.ask("a", .open(2), at: 5)
        for number in 0..<20 { scene.ask("a", .forbidden(number % 6), at: 10 + 3 * Double(number)) }
        scene.open("a", from: 11, to: 70, every: 2)
        #expect(try scene.refusedAnswers() == 20)
    }

    @Test
    func `a server that never accepts the version costs two answers in half an hour, and the other server nothing`()
        throws
    {
        var scene = Scene(["a"])
        scene.addHostile("h")
        for number in 0..<700 { scene.ask("h", .open(number % 6), at: 10 + 3 * Double(number)) }
        scene.open("a", from: 11, to: 2000, every: 13)
        #expect(try scene.refusedAnswers(until: 1800) == 2)
        #expect(try scene.refusedAnswers() == 3)
    }
}

/// Servers, and what clients ask of them. Times are seconds.
private struct Scene {
    private var plan: WalkPlan
    private var requests: [(time: Int, server: Int, page: Page)] = []
    private(set) var wasHeldBack = false

    /// - Parameter isWarm: each server is asked for three pages first.
    init(_ servers: [String], latency: Double = 0.1, isWarm: Bool = true) {
        plan = WalkPlan(servers.map { WalkPlan.Server(name: $0, latency: Self.milliseconds(latency)) })
        guard isWarm else { return }
        for (index, server) in servers.enumerated() {
            for number in 0..<3 { ask(server, .open(number), at: Double(index) + 0.3 * Double(number)) }
        }
    }

    mutating func addHostile(_ server: String) {
        plan.servers.append(WalkPlan.Server(name: server, latency: 100, hostility: .never))
    }

    mutating func outage(at server: String, from start: Double, to end: Double) {
        for index in plan.servers.indices where plan.servers[index].name == server {
            plan.servers[index].trouble = Self.milliseconds(start)..<Self.milliseconds(end)
        }
    }

    mutating func ask(_ server: String, _ page: Page, at time: Double) {
        guard let index = plan.servers.firstIndex(where: { $0.name == server }) else { return }
        requests.append((Self.milliseconds(time), index, page))
    }

    /// An open page is asked for over and over.
    mutating func open(_ server: String, from start: Double, to end: Double, every step: Double = 1) {
        for time in stride(from: start, to: end, by: step) { ask(server, .open(1), at: time) }
    }

    /// Plays it.
    ///
    /// - Parameter end: when it ends; nil: some seconds after the last request.
    mutating func refusedAnswers(until end: Double? = nil) throws -> Int {
        var walk = Walk(plan, random: RandomNumbers(seed: 1))
        let end = end.map(Self.milliseconds) ?? .max
        for request in requests where request.time < end {
            walk.add(.request(server: request.server, page: request.page, replica: 0), at: request.time)
        }
        try walk.play(until: min(end, (requests.map(\.time).max() ?? 0) + 5000))
        wasHeldBack = walk.heldBack > 0
        return walk.refusedAnswers
    }

    private static func milliseconds(_ seconds: Double) -> Int { Int((1000 * seconds).rounded()) }
}
