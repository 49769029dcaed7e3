import Foundation
import TestSupport
import Testing

/// A store in PostgreSQL with a hot standby, which takes over.
@Suite(.serialized) struct StandbyTests {
    private var setting: AttacheProcess.Setting {
        .init(threads: 1, files: ["store.key": String(repeating: "7", count: 64) + "\n"])
    }

    private func rules(_ info: String) -> String { "store postgresql \"\(info)\" { key file @/store.key }" }

    private func allAnswer(_ proxies: [AttacheProcess], _ origin: RecordingOrigin) throws -> Bool {
        try Wait.until { try proxies.allSatisfy { try $0.get(origin.url()).status == 200 } }
    }

    private func running(_ info: String, _ body: ([AttacheProcess]) throws -> Void) throws {
        try AttacheProcess.running(rules(info), setting: setting) { first throws in
            try AttacheProcess.running(rules(info), setting: setting) { try body([first, $0]) }
        }
    }

    @Test func `when the standby takes over replicas go on there, and answer meanwhile`() throws {
        let primary = try PostgreSQLCluster()
        let standby = try PostgreSQLCluster(standbyOf: primary)
        let (known, other) = (BasicGuard(), BasicGuard())
        let (origin, second) = (try RecordingOrigin.guarded(by: known), try RecordingOrigin.guarded(by: other))
        let info = """
            host=127.0.0.1,127.0.0.1 port=\(standby.port),\(primary.port) user=attache dbname=postgres \
            target_session_attrs=read-write
            """
        try running(info) { proxies in
            try proxies[0].set(Account.password, for: origin)
            try proxies[0].set(Account.wrongPassword, for: second)
            #expect(try allAnswer(proxies, origin))
            #expect(try standby.holds("attache_credentials", rows: 2))

            primary.stop()
            for proxy in proxies {
                #expect(proxy.awaitErrorOutput("the proxy uses the credentials that it knows"))
                #expect(proxy.readiness.contains("cannot be reached"), "\(proxy.readiness)")
                #expect(try proxy.get(origin.url()).status == 200)
            }
            // A change by a person is refused with a sentence; a refusal reaches the others later.
            let refused = try proxies[0].attempt(toSet: Account.password, for: origin.url())
            #expect(refused.status == 1 && refused.errorOutput.contains("cannot be reached"), "\(refused)")
            #expect(try proxies[0].get(second.url()).status == 401)
            #expect(other.refused == 1)

            try standby.promote()
            for proxy in proxies {
                #expect(proxy.awaitErrorOutput("the credential store can be reached again"))
                #expect(Wait.until { !proxy.readiness.contains("cannot be reached") })
                #expect(try proxy.get(origin.url()).status == 200)
            }
            #expect(try standby.holds("attache_accounts", rows: 2))
            #expect(try proxies[1].get(second.url()).status == 401)
            #expect(other.refused == 1, "the other replica knows of the refusal")
            try proxies[1].set(Account.password, for: second)
            #expect(try allAnswer(proxies, second))
        }
    }

    /// Notifications are lost in transaction mode, where the number of the latest change is polled.
    @Test(arguments: ["session", "transaction"])
    func `a change is everybody's through PgBouncer`(mode: String) throws {
        let cluster = try PostgreSQLCluster()
        try cluster.startBouncer(mode: mode)
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        try running(cluster.bouncedInfo) { proxies in
            for proxy in proxies { #expect(try proxy.get(origin.url()).status == 401) }
            try proxies[0].set(Account.password, for: origin)
            #expect(try allAnswer(proxies, origin))
            try proxies[1].set(Account.wrongPassword, for: origin)
            #expect(try Wait.until { try proxies[0].get(origin.url()).status == 401 })
            #expect(sentry.refused == 1)
            try proxies[1].set(Account.password, for: origin)
            #expect(try allAnswer(proxies, origin))
        }
    }
}
