import TestSupport
import Testing

/// squid answers `407` to a blocked page if its `http_access deny` line ends with an authentication ACL, although the login is
/// right. Such pages cost the other clients nothing.
@Suite(.serialized) struct ParentRefusalTests {
    private static let demands = [SquidServer.Demand.basic, .digest, .ntlm]

    private func running(
        _ demand: SquidServer.Demand, _ body: (AttacheProcess, RecordingOrigin) throws -> Void
    ) throws {
        let (squid, origin) = (try SquidServer.shared(demand), try RecordingOrigin.answering())
        let rules = """
            credential corp { user \(Account.user); password file @/password }
            parent corp { http \(squid.address) }
            challenge { proxy yes; use corp }
            route * { via corp }
            """
        try AttacheProcess.running(rules) { try body($0, origin) }
    }

    /// Asks for blocked pages, each another one.
    private func expectBlocked(_ count: Int, _ name: String, _ proxy: AttacheProcess, _ origin: RecordingOrigin) {
        let client = Clients(1, through: [proxy], requests: count, pause: 0) { origin.url("/blocked/\(name)/\($1)") }
        let statuses = client.finish()
        #expect(statuses == [502: count])
    }

    /// Asks for new pages, with one client and then with twelve.
    private func expectAnswered(_ name: String, _ proxy: AttacheProcess, _ origin: RecordingOrigin) throws {
        let fetched = try proxy.get(origin.url("/\(name)"))
        #expect(fetched.status == 200, "\(fetched)")
        let clients = Clients(12, through: [proxy], requests: 3, pause: 0) { origin.url("/\(name)/\($0)/\($1)") }
        #expect(clients.finish() == [200: 36])
    }

    @Test(arguments: demands)
    func `a blocked page is the first request since the start, and others get through`(
        demand: SquidServer.Demand
    ) throws {
        try running(demand) { proxy, origin throws in
            for _ in 1...3 { #expect(try proxy.get(origin.url("/blocked/first")).status == 502) }
            try expectAnswered("after", proxy, origin)
        }
    }

    @Test(arguments: demands)
    func `three blocked pages, then fifty: the next page of another client is answered`(
        demand: SquidServer.Demand
    ) throws {
        try running(demand) { proxy, origin throws in
            try expectAnswered("before", proxy, origin)
            expectBlocked(3, "three", proxy, origin)
            try expectAnswered("between", proxy, origin)
            expectBlocked(50, "fifty", proxy, origin)
            try expectAnswered("after", proxy, origin)
        }
    }

    @Test(arguments: demands)
    func `fifty blocked pages while ten clients work: none of the ten is refused`(demand: SquidServer.Demand) throws {
        try running(demand) { proxy, origin throws in
            try expectAnswered("before", proxy, origin)
            let clients = Clients(10, through: [proxy]) { origin.url("/open/\($0)/\($1)") }
            #expect(Wait.until { clients.statuses[200] ?? 0 > 50 })
            expectBlocked(50, "fifty", proxy, origin)
            let before = clients.statuses[200] ?? 0
            #expect(Wait.until { clients.statuses[200] ?? 0 > before + 50 }, "\(clients.statuses)")
            let statuses = clients.stop()
            #expect(Set(statuses.keys) == [200], "\(statuses)")
            print("squid, \(demand): the slowest of \(statuses[200] ?? 0) requests took \(clients.slowest)")
        }
    }

    @Test(arguments: demands)
    func `tunnels to a blocked host cost neither tunnels nor pages anything`(demand: SquidServer.Demand) throws {
        try running(demand) { proxy, origin throws in
            let blocked = "http://\(SquidServer.blockedHost):\(origin.port)/"
            #expect(try proxy.get(origin.url("/tunnel"), "-p").status == 200)
            for number in 1...5 {
                let refused = try proxy.get(blocked, "-p")
                #expect(refused.message.status == 502, "\(refused)")
                #expect(try proxy.get(origin.url("/tunnel/\(number)"), "-p").status == 200)
                #expect(try proxy.get(origin.url("/page/\(number)")).status == 200)
            }
        }
    }
}
