import Foundation
import TestSupport
import Testing

/// The log tells of each change of what may answer, and by whom.
struct AuditTests {
    private func attache(_ words: [String], of proxy: AttacheProcess) throws {
        let run = try Finished.run(AttacheBinary.path, words, directory: proxy.folder, seconds: 20)
        #expect(run.succeeded, "\(run)")
    }

    /// Waits for the next event, which is to be of that name.
    private func next(
        _ name: String, of proxy: AttacheProcess, _ told: inout Int, location: SourceLocation = #_sourceLocation
    ) throws -> AccessRecord {
        let count = told + 1
        _ = Wait.until { (try? proxy.events().count) ?? 0 >= count }
        let events = try proxy.events()
        let event = try #require(events.dropFirst(told).first, "\(name) of \(events)", sourceLocation: location)
        #expect(event["event"] == name, "\(events.map(\.line))", sourceLocation: location)
        told = count
        return event
    }

    private func isInOrder(_ lines: [Substring]) -> Bool {
        let times = lines.map { $0.prefix(34) }
        return zip(times, times.dropFirst()).allSatisfy { $0 <= $1 }
    }

    private func origin() throws -> RecordingOrigin { try RecordingOrigin.guarded(by: BasicGuard()) }

    @Test func `each change leaves one line that says by whom`() throws {
        let (named, stored) = (try origin(), try origin())
        let rules = """
            store sqlite @/kept.db { key file @/first.key }
            credential ci { user \(Account.user); password file @/password }
            challenge { host 127.0.0.1; port \(named.port); use ci }
            """
        let setting = AttacheProcess.Setting(
            files: [
                "password": Account.wrongPassword + "\n", "first.key": String(repeating: "1", count: 64),
                "second.key": String(repeating: "2", count: 64),
            ])
        let user = "\(getuid())"
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            var told = 0
            let loaded = try next("rules.loaded", of: proxy, &told)
            #expect(loaded["uid"] == user && loaded["level"] == "info")
            #expect(loaded["details"] == proxy.folder + "/proxy.conf")
            #expect(try next("store.opened", of: proxy, &told)["details"] == "sqlite \(proxy.folder)/kept.db")

            for number in 1...10 { #expect(try proxy.get(named.url("/\(number)")).status == 401) }
            let refused = try next("credential.refused", of: proxy, &told)
            #expect(refused["by"] == "client" && refused["client"] == "127.0.0.1")
            #expect(refused["credential"] == "ci" && refused["port"] == "\(named.port)")
            let parked = try next("credential.parked", of: proxy, &told)
            #expect(parked["credential"] == "ci" && parked["next_try"] != nil && parked["level"] == "warning")
            #expect(parked["details"]?.hasSuffix("/password, or run 'attache credential retry ci'") == true)

            try attache(["credential", "retry"], of: proxy)
            let lifted = try next("credential.lifted", of: proxy, &told)
            #expect(lifted["by"] == "command" && lifted["uid"] == user && lifted["replica"] == nil)
            #expect(try proxy.get(named.url()).status == 401)
            _ = try next("credential.refused", of: proxy, &told)

            try proxy.replace("password", with: Account.password + "\n")
            let changed = try next("credential.changed", of: proxy, &told)
            #expect(changed["by"] == "file" && changed["credential"] == "ci")
            #expect(try Wait.until { try proxy.get(named.url()).status == 200 })

            try proxy.set(Account.password, for: stored)
            let set = try next("credential.set", of: proxy, &told)
            #expect(set["by"] == "command" && set["uid"] == user && set["default"] == "1")
            #expect(set["replica"] != nil && set["happened"] != nil)
            #expect(set["credential"] == "\(Account.user)@127.0.0.1:\(stored.port)")
            #expect(try Wait.until { try proxy.get(stored.url()).status == 200 })
            try attache(["credential", "remove", stored.url(), Account.user, "--realm", "r"], of: proxy)
            #expect(try next("credential.removed", of: proxy, &told)["uid"] == user)
            try attache(["store", "rekey", "--to", "file", "second.key"], of: proxy)
            #expect(try next("store.rekeyed", of: proxy, &told)["uid"] == user)

            try proxy.reload("nonsense")
            let rejected = try next("rules.rejected", of: proxy, &told)
            #expect(rejected["by"] == "signal" && rejected["uid"] == user && rejected["level"] == "error")
            try proxy.reload(rules.replacing("first.key", with: "second.key"))
            _ = try next("rules.reloaded", of: proxy, &told)

            proxy.terminate()
            #expect(proxy.awaitExit() == 0)
            let events = try proxy.events().map(\.line)
            #expect(events.count == told, "\(events)")
            #expect(isInOrder(proxy.accessLog.split(separator: "\n")), "\(proxy.accessLog)")
        }
    }

    @Test func `what happens at another replica is told there and here`() throws {
        let origin = try origin()
        let store = Scratch.folder("shared") + "/kept.db"
        let rules =
            "store sqlite \(store)\nchallenge { host 127.0.0.1; method basic; learn yes; persistence permanent; default }"
        try AttacheProcess.running(rules) { first throws in
            try AttacheProcess.running(rules) { second throws in
                let answer = "\(Account.user):\(Account.password)"
                #expect(try first.get(origin.url()).status == 401)
                #expect(try first.get(origin.url(), "-u", answer).status == 200)
                var (here, there) = (2, 2)
                let learned = try next("credential.learned", of: first, &here)
                #expect(learned["by"] == "client" && learned["persistence"] == "permanent" && learned["replica"] == nil)
                let heard = try next("credential.learned", of: second, &there)
                #expect(heard["client"] == "127.0.0.1" && heard["replica"] != nil, "\(heard.line)")
                #expect(heard["credential"] == learned["credential"])
                #expect(try Wait.until { try second.get(origin.url()).status == 200 })
            }
        }
    }

    @Test(arguments: ["events", "common", "off"])
    func `'log' says where the events go`(format: String) throws {
        let origin = try RecordingOrigin.answering()
        let log = format == "off" ? "off" : "\(format) file @/access.log"
        try AttacheProcess.running(setting: .init(log: log)) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            proxy.terminate()
            #expect(proxy.awaitExit() == 0)
            let event = "\"event\":\"rules.loaded\""
            #expect(proxy.accessLog.contains(event) == (format == "events"))
            #expect(proxy.errorOutput.contains(event) == (format == "common"))
            #expect(proxy.accessLog.contains("GET http://127.0.0.1") == (format == "common"))
            #expect(try proxy.events().count == (format == "events" ? 1 : 0), "\(proxy.accessLog)")
            #expect(proxy.accessLogLines.count == (format == "common" ? 1 : 0), "\(proxy.accessLog)")
            // The operator's messages are in the log with the events, and on standard error once.
            let told = "listening on 127.0.0.1:\(proxy.port)"
            let sentences = proxy.errorOutput.split(separator: "\n").filter { $0.contains(told) }
            #expect(sentences.count == 1 && sentences[0].hasPrefix(format == "common" ? "{" : "attache: "))
            #expect(proxy.accessLog.contains(told) == (format == "events"))
        }
    }

    @Test func `what the operator is told stands in the log, too, in the order of time`() throws {
        let rules = """
            credential ci { user \(Account.user); password file @/password }
            challenge { host 127.0.0.1; use ci }
            """
        try AttacheProcess.running(rules) { proxy throws in
            unlink(proxy.folder + "/password")
            let isTold = try Wait.until { try proxy.notices().contains { $0["event"] == "secret.unreadable" } }
            #expect(isTold)
            let notices = try proxy.notices()
            let secret = try #require(notices.first { $0["event"] == "secret.unreadable" })
            #expect(secret["level"] == "warning" && secret["details"]?.contains(proxy.folder + "/password") == true)
            #expect(proxy.awaitErrorOutput("attache: \(secret["details"] ?? "?")\n"), "\(proxy.errorOutput)")
            #expect(notices.contains { $0["details"] == "listening on 127.0.0.1:\(proxy.port)" })
            #expect(isInOrder(proxy.accessLog.split(separator: "\n")), "\(proxy.accessLog)")

            rename(proxy.folder + "/access.log", proxy.folder + "/access.log.1")
            proxy.signal(SIGUSR1)
            #expect(proxy.awaitErrorOutput("the access log was reopened"))
            proxy.terminate()
            #expect(proxy.awaitExit() == 0)
            let events = try proxy.notices().map { $0["event"] ?? "" }
            #expect(events == ["log.reopened", "proxy.stopping", "proxy.stopped"])
        }
    }

    @Test(arguments: [
        "route a.test { intercept; tls revocation @/missing.pem }",
        "challenge { host a.test; anchor @/missing.pem; trust }",
    ])
    func `a file of trust that is missing has an event of its own`(block: String) throws {
        let rules = """
            credential ci { user \(Account.user); password file @/none }
            challenge { host 127.0.0.1; use ci }
            \(block)
            """
        try AttacheProcess.running(rules) { proxy throws in
            let isLogged = try Wait.until { try proxy.notices().contains { $0["event"] == "trust.incomplete" } }
            #expect(isLogged, "\(proxy.accessLog)")
            let notices = try proxy.notices()
            let trust = notices.filter { $0["event"] == "trust.incomplete" }
            #expect(trust.count == 1 && trust[0]["level"] == "warning")
            #expect(trust.first?["details"]?.contains(proxy.folder + "/missing.pem") == true)
            let secrets = notices.filter { $0["event"] == "secret.unreadable" }.map { $0["details"] ?? "" }
            #expect(secrets.allSatisfy { !$0.contains("missing.pem") })
        }
    }

    @Test func `a standard error that takes no event holds nobody up`() throws {
        let origin = try origin()
        let rules = """
            credential ci { user \(Account.user); password file @/password }
            challenge { host 127.0.0.1; method basic; use ci }
            """
        var setting = AttacheProcess.Setting(log: "common file @/access.log")
        setting.hasFullErrorOutput = true
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            for password in [Account.wrongPassword, Account.password] {
                try proxy.replace("password", with: password + "\n")
                let status = password == Account.password ? 200 : 401
                #expect(try Wait.until { try proxy.get(origin.url()).status == status })
            }
            #expect(!proxy.accessLog.contains("\"event\""), "\(proxy.accessLog)")
        }
    }
}
