import Foundation
import TestSupport
import Testing

/// A right password that its server refuses for a while: it is used again by itself soon after.
@Suite(.serialized) struct OutageTests {
    private func rules(_ origin: RecordingOrigin, _ modifiers: String) -> String {
        """
        credential web { user \(Account.user); password file @/password }
        challenge { host 127.0.0.1; port \(origin.port); use web; \(modifiers) }
        """
    }

    /// An outage that only those requests see that are under way: a moment of 50 ms.
    @Test(arguments: [
        (GuardedOrigin.Scheme.basic, ""), (.basic, "method basic; preempt always"), (.digest, ""), (.ntlm, ""),
    ])
    func `twelve requests are refused in one moment, and then every new page is answered at once`(
        scheme: GuardedOrigin.Scheme, modifiers: String
    ) throws {
        let server = try GuardedOrigin(scheme)
        try AttacheProcess.running(rules(server.origin, modifiers)) { proxy throws in
            #expect(try proxy.get(server.origin.url("/0")).status == 200)
            let burst = Clients(12, through: [proxy], requests: 1) { client, _ in server.origin.url("/held/\(client)") }
            #expect(Wait.until { server.hold.count == 12 }, "\(server.hold.count) are under way")
            server.hold.open(refusing: 12)
            // Digest answers those again on the new nonce.
            let statuses = burst.finish()
            #expect(Set(statuses.keys).isSubset(of: [200, 401]), "\(statuses)")

            for page in 1...5 { #expect(try proxy.get(server.origin.url("/new/\(page)")).status == 200) }
            let clients = Clients(12, through: [proxy], requests: 3, pause: 0) {
                server.origin.url("/newer/\($0)/\($1)")
            }
            #expect(clients.finish() == [200: 36])
            #expect(try proxy.get(server.origin.url("/0")).status == 200)
        }
    }

    /// The first of the times of `retry` is longer than the outage.
    @Test(arguments: ["", "method basic; preempt always"])
    func `after an outage of three seconds all clients are answered again, and stay so`(modifiers: String) throws {
        let directory = AccountDirectory()
        let origin = try RecordingOrigin.asking(directory)
        try AttacheProcess.running(rules(origin, "retry 8s 5m 30m; \(modifiers)")) { proxy throws in
            #expect(try proxy.get(origin.url("/0")).status == 200)
            let clients = Clients(12, through: [proxy]) { origin.url("/\($0)/\($1)") }
            #expect(Wait.until { clients.statuses[200] ?? 0 > 240 })
            let begin = ContinuousClock.now
            directory.set(away: true)
            #expect(Wait.until { clients.statuses[401] ?? 0 > 240 && ContinuousClock.now - begin > .seconds(3) })
            directory.set(away: false)
            // Nothing is set and no command is given.
            #expect(clients.awaitAll(200, seconds: 30), "\(proxy.errorOutput)")
            let before = clients.statuses
            #expect(Wait.until { clients.statuses[200] ?? 0 > (before[200] ?? 0) + 240 })
            let after = clients.stop()
            #expect(Set(after.keys) == [200, 401] && after[401] == before[401], "\(before), then \(after)")
        }
    }
}
