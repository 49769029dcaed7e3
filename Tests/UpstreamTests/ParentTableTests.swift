import Authentication
import Bytes
import Rules
import TestPolicies
import Testing

@testable import Challenges
@testable import Upstream

struct ParentTableTests {
    private func hops(_ table: inout ParentTable, _ rules: String, to host: String) throws -> [RouteHop] {
        let rules = try policy(rules).rules
        return table.hops(of: rules.route(host: host.utf8Span.span, port: 80).parentList, to: host.utf8Span.span)
    }

    @Test func `a route's parents come in its order, and what one excepts is asked directly from there on`() throws {
        var table = ParentTable(pool: IdlePool(limit: 8))
        let rules = """
            parent a { http p1:1 p2:2; except *.local }
            parent b { socks5 p3:3 }
            route * { via a b direct }
            """
        let words = { (hops: [RouteHop]) in hops.map { $0.parent?.label ?? "direct" } }
        #expect(try words(hops(&table, rules, to: "example.com")) == ["a p1:1", "a p2:2", "b p3:3", "direct"])
        #expect(try hops(&table, rules, to: "x.local").isEmpty)
        let other = "parent a { http p1:1 }\nparent b { http p2:2; except *.local }\nroute * { via a b }"
        #expect(try words(hops(&table, other, to: "x.local")) == ["a p1:1", "direct"])
    }

    @Test func `a parent is one over all hosts and reloads`() throws {
        var table = ParentTable(pool: IdlePool(limit: 8))
        let rules = "parent a { http p1:1 p2:2 }\nroute * { via a }"
        let (one, two) = (try hops(&table, rules, to: "x"), try hops(&table, rules, to: "y"))
        #expect(one.first?.parent === two.first?.parent)
        #expect(one.first?.parent?.origin.authority.isProxy == true)
    }

    @Test func `a parent that fails is looked at after ever longer pauses, to a limit`() {
        var health = Parent.Health.working
        var pauses: [Milliseconds] = []
        for _ in 1...9 { pauses.append(health.failed()) }
        #expect(pauses == [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
        health.worked()
        #expect(health == .working)
    }
}
