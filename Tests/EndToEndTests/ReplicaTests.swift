import Foundation
import TestSupport
import Testing

/// Proxies that share a store in PostgreSQL, each in a process of its own.
@Suite(.serialized) struct ReplicaTests {
    private static let key = String(repeating: "7", count: 64)

    private func rules(_ info: String) -> String { "store postgresql \"\(info)\" { key file @/store.key }" }

    private var setting: AttacheProcess.Setting { .init(threads: 1, files: ["store.key": Self.key + "\n"]) }

    private func running(
        _ count: Int, _ info: String, more: String = "", _ proxies: [AttacheProcess] = [],
        _ body: ([AttacheProcess]) throws -> Void
    ) throws {
        if proxies.count == count { return try body(proxies) }
        try AttacheProcess.running(rules(info) + more, setting: setting) { proxy throws in
            try running(count, info, more: more, proxies + [proxy], body)
        }
    }

    /// Whether every one of them has the right answer to give, soon.
    private func allAnswer(_ proxies: [AttacheProcess], _ origin: RecordingOrigin) throws -> Bool {
        try Wait.until { try proxies.allSatisfy { try $0.get(origin.url()).status == 200 } }
    }

    /// Whether every one of them comes to know of so many credentials that were refused.
    private func allPark(_ count: Int, _ proxies: [AttacheProcess]) throws -> Bool {
        try Wait.until { try proxies.allSatisfy { try $0.metric("attache_parked_credentials") == count } }
    }

    @Test func `three replicas show a token endpoint a wrong secret once, and again when one is told to`() throws {
        let cluster = try PostgreSQLCluster()
        let server = try TokenServer(.init(answer: ("401 Unauthorized", "{\"error\":\"invalid_client\"}")))
        let more = """

            credential crm { oauth2 http://127.0.0.1:\(server.endpoint.port)/token; client-id crm; client-secret s }
            challenge "crm" { host 127.0.0.1; port \(server.api.port); use crm }
            """
        try running(3, cluster.info, more: more) { proxies throws in
            for _ in 1...2 {
                let requests = try proxies.map { try Parallel(20, server.api.url(), through: $0) }
                for request in requests { #expect(request.statuses() == Array(repeating: 502, count: 20)) }
            }
            #expect(server.endpoint.messages.count == 1)
            let run = { (words: String, proxy: AttacheProcess) in
                try Finished.run(
                    AttacheBinary.path, words.split(separator: " ").map(String.init) + ["--config", "proxy.conf"],
                    directory: proxy.folder, seconds: 20)
            }
            let list = try run("credential list", proxies[2])
            #expect(list.output.contains("invalid_client"), "\(list)")
            // A grant has one server.
            #expect(list.output.contains("next try 20") && !list.output.contains("another server"), "\(list)")
            server.change { $0.answer = nil }
            let retry = try run("credential retry crm", proxies[1])
            #expect(retry.output == "crm is sent again from now on\n", "\(retry)")
            #expect(try Wait.until { try proxies.allSatisfy { try $0.get(server.api.url()).status == 200 } })
            // The grant and its token are one credential, which two servers judge.
            let accepted = [server.endpoint.port, server.api.port].map { "http://127.0.0.1:\($0): accepted" }
            var good = ""
            // The store has the acceptances a little later.
            #expect(
                try Wait.until {
                    good = try run("credential list", proxies[1]).output
                    return good.hasPrefix("good  ") && accepted.allSatisfy { good.contains($0) }
                }, "\(good)")
            #expect(good.split(separator: "\n").count { $0.contains("crm") } == 1, "\(good)")
        }
    }

    @Test func `three replicas: a change at one is everybody's, and so is a refusal`() throws {
        let cluster = try PostgreSQLCluster()
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        try running(3, cluster.info) { proxies throws in
            for proxy in proxies { #expect(try proxy.get(origin.url()).status == 401) }
            try proxies[0].set(Account.password, for: origin)
            #expect(try allAnswer(proxies, origin))
            #expect(sentry.refused == 0)

            // The origin's password changes: one attempt of one replica, besides those already on their way.
            try proxies[1].set(Account.wrongPassword, for: origin)
            #expect(
                Wait.until {
                    _ = try? proxies[2].get(origin.url())
                    return proxies[2].errorOutput.contains("was refused by")
                })
            #expect(sentry.refused == 1)
            #expect(try allPark(1, proxies))
            for _ in 1...3 {
                for proxy in proxies { #expect(try proxy.get(origin.url()).status == 401) }
            }
            #expect(sentry.refused == 1)

            try proxies[0].set(Account.password, for: origin)
            #expect(try allAnswer(proxies, origin))
            #expect(sentry.refused == 1)
        }
    }

    /// The server is away until both replicas have noticed, and at least as long as the variable says.
    @Test func `while the server is away known credentials answer, and afterwards all is as it was`() throws {
        let seconds = ProcessInfo.processInfo.environment["ATTACHE_STORE_OUTAGE"].flatMap { Double($0) } ?? 0
        let cluster = try PostgreSQLCluster()
        let (known, other) = (BasicGuard(), BasicGuard())
        let (origin, second) = (try RecordingOrigin.guarded(by: known), try RecordingOrigin.guarded(by: other))
        try running(2, cluster.info) { proxies throws in
            try proxies[0].set(Account.password, for: origin)
            try proxies[0].set(Account.wrongPassword, for: second)
            #expect(try allAnswer(proxies, origin))
            cluster.stop()
            let end = Date(timeIntervalSinceNow: seconds)
            var statuses: [Int: Int] = [:]
            let haveNoticed = try Wait.until(seconds: seconds + 60) {
                for proxy in proxies { statuses[try proxy.get(origin.url()).status, default: 0] += 1 }
                return Date() >= end
                    && proxies.allSatisfy {
                        $0.errorOutput.contains("the proxy uses the credentials that it knows")
                            && $0.readiness.contains("cannot be reached")
                    }
            }
            #expect(haveNoticed)
            for proxy in proxies {
                for _ in 1...10 { statuses[try proxy.get(origin.url()).status, default: 0] += 1 }
            }
            #expect(Set(statuses.keys) == [200], "\(statuses)")
            // Verdicts made meanwhile reach the others when they can be reached again.
            #expect(try proxies[0].get(second.url()).status == 401)
            #expect(other.refused == 1)
            try cluster.start()
            for proxy in proxies { #expect(proxy.awaitErrorOutput("the credential store can be reached again")) }
            let unproven = #"attache_credentials{state="unproven"}"#
            #expect(try Wait.until { try proxies.allSatisfy { try $0.metric(unproven) == 1 } })
            #expect(try proxies[1].get(second.url()).status == 401)
            #expect(other.refused == 1)
            try proxies[1].set(Account.password, for: second)
            #expect(try allAnswer(proxies, second))
            #expect(other.refused == 1)
        }
    }

    @Test func `PgBouncer may stand between, in session mode`() throws {
        let cluster = try PostgreSQLCluster()
        try cluster.startBouncer()
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        try running(2, cluster.bouncedInfo) { proxies throws in
            try proxies[0].set(Account.password, for: origin)
            #expect(try allAnswer(proxies, origin))
            #expect(sentry.refused == 0)
        }
    }
}
