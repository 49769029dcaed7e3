import Authentication
import IO
import Model
import PAC
import Rules
import TestPolicies
import TestSupport
import Testing
import Transport

@testable import Challenges
@testable import Upstream

/// The entry that was used longest ago is forgotten or closed.
struct RecencyTests {
    @Test func `a map gives back what was used longest ago, whatever was removed from it`() {
        var map = LRUMap<Int, Int>()
        for number in 0..<4 { map.put(number, for: number) }
        _ = map.use(0)
        map.remove(2)
        map.remove(2)
        map.put(4, for: 4)
        _ = map.use(3)
        var order: [Int] = []
        while let oldest = map.oldest {
            order.append(oldest.value)
            map.remove(oldest.key)
        }
        #expect(order == [1, 0, 4, 3])
        #expect(map.count == 0)
    }

    @Test func `a map puts a value in the place of the older one, and forgets by use`() {
        var map = LRUMap<String, Int>()
        for (number, key) in ["a", "b", "c", "a"].enumerated() { map.put(number, for: key) }
        #expect(map.use("b") == 1)
        #expect(map.oldest?.key == "c")
        map.makeRoom(below: 2)
        #expect(map.count == 1 && map.use("b") == 1 && map.use("a") == nil)
    }

    @Test func `of the origins of sessions those are kept that were put in last, and others are news`() {
        let origins = SessionCredentials.Origins(capacity: 2)
        let hosts = ["a", "b", "c"].map { Origin(host: $0, port: 80, protocol: .http) }
        origins.insert([hosts[0]])
        origins.insert([hosts[1]])
        let generation = origins.generation
        origins.insert([hosts[0]])
        #expect(origins.generation == generation)
        origins.insert([hosts[2]])
        #expect(origins.generation > generation && origins.count == 2)
        #expect(hosts.map { origins.contains($0) } == [true, false, true])
    }

    @Test func `parents that a PAC file names make no others forgotten`() throws {
        var table = ParentTable(pool: IdlePool(limit: 8), limit: 2)
        let rules = try policy("parent a { pac a.pac }\nparent b { http p1:1 }\nroute x { via a }\nroute y { via b }")
            .rules
        let host = ["x", "y"]
        let detours = host.compactMap { rules.route(host: $0.utf8Span.span, port: 80).parentList }
        try #require(detours.count == 2)
        func parents(_ names: String...) -> [Parent] {
            let found = names.map { PACPath.proxy(.http, host: $0, port: 8080) }
            return table.hops(of: detours[0], to: host[0].utf8Span.span, found: ["a": found]).compactMap(\.parent)
        }
        let configured = table.hops(of: detours[1], to: host[1].utf8Span.span).compactMap(\.parent)
        let first = parents("f1", "f2")
        let again = parents("f1")
        #expect(again[0] === first[0])
        let others = parents("f3", "f1")
        #expect(others[1] === first[0])
        #expect(parents("f2")[0] !== first[1])
        #expect(table.hops(of: detours[1], to: host[1].utf8Span.span).first?.parent === configured[0])
    }
}
