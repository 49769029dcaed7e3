import Foundation
import Synchronization
import TestSupport
import Testing

/// A right credential stays in use, and a wrong one locks no account, with many clients and any responses of the
/// server.
@Suite(.serialized) struct EvidenceTests {
    private func rules(_ origin: RecordingOrigin, store: String = "") -> String {
        """
        \(store)
        credential web { user \(Account.user); password file @/password }
        challenge { host 127.0.0.1; port \(origin.port); retry 2s 4s 8s; use web }
        """
    }

    private func running(
        _ count: Int, _ rules: String, _ setting: AttacheProcess.Setting, _ proxies: [AttacheProcess] = [],
        _ body: ([AttacheProcess]) throws -> Void
    ) throws {
        if proxies.count == count { return try body(proxies) }
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            try running(count, rules, setting, proxies + [proxy], body)
        }
    }

    @Test func `a directory that is away and comes back: three replicas, 64 clients, and no account is locked`() throws
    {
        let cluster = try PostgreSQLCluster()
        let directory = AccountDirectory()
        let origin = try RecordingOrigin.asking(directory)
        let store = "store postgresql \"\(cluster.info)\" { key file @/store.key }"
        let files = ["store.key": String(repeating: "7", count: 64) + "\n", "password": Account.password + "\n"]
        try running(3, rules(origin, store: store), .init(threads: 1, files: files)) { proxies throws in
            // One replica has a wrong password for a while.
            try proxies[2].replace("password", with: Account.wrongPassword + "\n")
            for proxy in proxies.dropLast() { #expect(try proxy.get(origin.url()).status == 200) }
            #expect(try Wait.until { try proxies[2].get(origin.url()).status == 401 })
            for _ in 1...5 { _ = try proxies[2].get(origin.url()) }
            try proxies[2].replace("password", with: Account.password + "\n")
            #expect(try Wait.until { try proxies[2].get(origin.url()).status == 200 })
            #expect(directory.wrong[Account.wrongPassword] ?? 0 <= 1, "\(directory.wrong)")

            let clients = Clients(64, [origin.url()], through: proxies)
            #expect(Wait.until { clients.statuses[200] ?? 0 > 200 })
            directory.set(away: true)
            #expect(Wait.until { clients.statuses[401] ?? 0 > 200 })
            // Parked by now, it is tried again while the directory is still away.
            let early = directory.deniedWhileAway
            #expect(Wait.until { directory.deniedWhileAway > early })
            let denied = directory.deniedWhileAway
            directory.set(away: false)
            // This needs no action by a person.
            #expect(
                try Wait.until {
                    try proxies.allSatisfy { try $0.get(origin.url()).status == 200 }
                })
            // Ten of each client: none is left that began before.
            func awaitAnswers() -> [Int: Int] {
                let before = clients.statuses[200] ?? 0
                #expect(Wait.until { clients.statuses[200] ?? 0 > before + 640 })
                return clients.statuses
            }
            let before = awaitAnswers()
            _ = awaitAnswers()
            let statuses = clients.stop()
            #expect(Set(statuses.keys) == [200, 401], "\(statuses)")
            #expect(statuses[401] == before[401], "a client was refused after the directory was back")
            // What was in progress with each client, one verdict of each replica, and its tries since, which are more if the
            // machine is slow. Far more than 200 clients were refused meanwhile.
            #expect(denied <= 2 * 64, "\(denied)")
            #expect(!directory.isLocked, "\(directory.wrong)")
        }
    }

    @Test func `a page that nobody may see, asked for a hundred times, changes nothing for the others`() throws {
        let directory = AccountDirectory()
        let origin = try RecordingOrigin.asking(directory)
        try AttacheProcess.running(rules(origin)) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            let clients = Clients(8, [origin.url("/page")], through: [proxy])
            let forbidden = try (1...100).map { _ in try proxy.get(origin.url("/forbidden")).status }
            #expect(Set(forbidden) == [401])
            let statuses = clients.stop()
            #expect(Set(statuses.keys) == [200], "\(statuses)")
        }
    }

    @Test(arguments: [
        DigestGuard.Terms(usesPerNonce: 1), .init(noncePerChallenge: true), .init(countsStrictly: true),
    ])
    func `nonces for one use, counters without gaps: 12 clients, 300 requests, all answered`(
        terms: DigestGuard.Terms
    ) throws {
        let sentry = DigestGuard(terms)
        let origin = try RecordingOrigin.guarded(by: sentry)
        try AttacheProcess.running(rules(origin)) { proxy throws in
            let statuses = Mutex<[Int]>([])
            DispatchQueue.concurrentPerform(iterations: 12) { index in
                for number in 1...25 {
                    let status = (try? proxy.get(origin.url("/\(index)/\(number)")).status) ?? 0
                    statuses.withLock { $0.append(status) }
                }
            }
            let all = statuses.withLock { $0 }
            #expect(all.count == 300 && Set(all) == [200], "\(Dictionary(grouping: all) { $0 }.mapValues(\.count))")
            #expect(proxy.errorOutput.contains("refused") == false, "\(proxy.errorOutput)")
        }
    }

    @Test func `a secret that is changed under 64 clients: none sees a 401`() throws {
        let directory = AccountDirectory()
        let origin = try RecordingOrigin.asking(directory)
        try AttacheProcess.running(rules(origin)) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            let clients = Clients(64, [origin.url()], through: [proxy])
            #expect(Wait.until { clients.statuses[200] ?? 0 > 640 })
            // The operator gives the new password to the users, and then removes the old one.
            directory.change(to: [Account.password, Account.unicodePassword])
            try proxy.replace("password", with: Account.unicodePassword + "\n")
            #expect(Wait.until { directory.accepted[Account.unicodePassword] ?? 0 > 640 })
            directory.change(to: [Account.unicodePassword])
            let before = clients.statuses[200] ?? 0
            #expect(Wait.until { clients.statuses[200] ?? 0 > before + 640 })
            let statuses = clients.stop()
            #expect(Set(statuses.keys) == [200], "\(statuses)")
            #expect(directory.wrong[Account.password] ?? 0 <= 1, "\(directory.wrong)")
        }
    }

    @Test func `a password that its server changes at once: the value is read again, and none sees a 401`() throws {
        let directory = AccountDirectory()
        let origin = try RecordingOrigin.asking(directory)
        try AttacheProcess.running(rules(origin)) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            try proxy.replace("password", with: Account.unicodePassword + "\n")
            directory.change(to: [Account.unicodePassword])
            #expect(try Parallel.fetch(4, origin.url(), through: proxy) == Array(repeating: 200, count: 4))
            // At most what was on its way before the first verdict, and never again.
            let wrong = directory.wrong[Account.password] ?? 0
            #expect(wrong <= 4, "\(wrong)")
            #expect(try Parallel.fetch(16, origin.url(), through: proxy) == Array(repeating: 200, count: 16))
            #expect(directory.wrong[Account.password] ?? 0 == wrong)
        }
    }
}
