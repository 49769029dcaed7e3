import Foundation
import Synchronization
import TestSupport
import Testing

/// Three replicas, nine servers and one account of a real Active Directory domain, which five wrong passwords in half an hour
/// lock. The proxies do not lock it, also when the password is wrong or changes.
@Suite(
    .serialized,
    .enabled(
        if: SambaDomain.isAvailable,
        "a Samba domain needs root, mount namespaces, and samba-ad-dc with samba-ad-provision (make test installs them)"
    )
)
struct DomainLockoutTests {
    private struct Setting {
        let domain: SambaDomain
        let server: DomainServer
        let cluster: PostgreSQLCluster
    }

    private static let setting = Mutex<Setting?>(nil)

    /// One domain for all scenes; each has an account of its own.
    private func shared() throws -> Setting {
        try Self.setting.withLock { setting in
            if let setting { return setting }
            let domain = try SambaDomain()
            let made = Setting(
                domain: domain, server: try DomainServer(in: domain), cluster: try PostgreSQLCluster())
            setting = made
            return made
        }
    }

    /// Runs replicas that know the user by this password.
    private func replicas(
        _ count: Int, _ user: String, _ password: String, retry: String = "1s 2s 4s", in setting: Setting,
        _ proxies: [AttacheProcess] = [], _ body: ([AttacheProcess]) throws -> Void
    ) throws {
        if proxies.count == count { return try body(proxies) }
        let challenges = DomainServer.Login.allCases.map { login in
            let ports = setting.server.ports(of: login).map(String.init).joined(separator: " ")
            return "challenge { host localhost; port \(ports); method \(login); retry \(retry); use corp }"
        }
        let rules = """
            store postgresql "\(setting.cluster.info)" { key file @/store.key }
            credential corp { user \(user); password file @/password }
            \(challenges.joined(separator: "\n"))
            """
        let files = ["store.key": String(repeating: "7", count: 64) + "\n", "password": password + "\n"]
        let running = AttacheProcess.Setting(threads: 1, environment: setting.domain.environment, files: files)
        try AttacheProcess.running(rules, setting: running) { proxy throws in
            try replicas(count, user, password, retry: retry, in: setting, proxies + [proxy], body)
        }
    }

    /// Has twenty clients of each way to log in ask for new pages of its three servers.
    private func clients(
        through proxies: [AttacheProcess], of server: DomainServer
    ) -> [DomainServer.Login: Clients] {
        var all: [DomainServer.Login: Clients] = [:]
        for login in DomainServer.Login.allCases {
            all[login] = Clients(20, through: proxies, pause: 0.5) { client, request in
                server.url(login, client + request, "/\(client)/\(request)")
            }
        }
        return all
    }

    /// Waits until the clients of this way to log in have had so many more responses with the status, and each has it last.
    private func awaitResponses(
        _ count: Int, _ status: Int, _ login: DomainServer.Login, _ clients: [DomainServer.Login: Clients]
    ) throws {
        let clients = try #require(clients[login])
        let before = clients.statuses[status] ?? 0
        let isReached = Wait.until { clients.statuses[status] ?? 0 >= before + count } && clients.awaitAll(status)
        try #require(isReached, "\(login): \(clients.statuses)")
    }

    /// The proxies' lists of credentials, and their logs.
    private func reports(of proxies: [AttacheProcess]) throws -> String {
        try proxies.map { proxy in
            let list = try AttacheBinary.run("credential", "list", "--config", "proxy.conf", directory: proxy.folder)
            return list.output + proxy.errorOutput + (try proxy.events().map { "\($0)\n" }.joined())
        }.joined(separator: "\n")
    }

    /// Writes the password for all replicas. As soon as each of them has read it, the next requests of each client are answered,
    /// and the domain is shown no other password.
    private func recover(
        _ proxies: [AttacheProcess], _ clients: [[DomainServer.Login: Clients]], _ user: String,
        _ domain: SambaDomain, _ scene: String
    ) throws {
        let count = { (event: String) in try proxies.map { try $0.events().count { $0["event"] == event } } }
        let (refusals, holds) = (try count("credential.refused"), try count("credential.parked"))
        let all = clients.flatMap(\.values)
        for clients in all { clients.mark() }
        let begin = ContinuousClock.now
        for proxy in proxies { try proxy.replace("password", with: Account.nextPassword + "\n") }
        let isRead = try Wait.until { try count("credential.changed").allSatisfy { $0 == 1 } }
        let unread = isRead ? "" : try reports(of: proxies)
        try #require(isRead, "\(unread)")
        var slowest = all.map(\.slowest)
        for clients in all { clients.mark() }
        for (login, clients) in clients.flatMap({ $0 }) {
            var next: [Int: Int]?
            _ = Wait.until {
                next = clients.awaitMarked(4)
                // A controller that gets no processor gives no tickets for a while, which is no refusal.
                guard login == .negotiate, next?[502] != nil else { return true }
                clients.mark()
                return false
            }
            guard let next, Set(next.keys) == [200] else {
                Issue.record("\(clients.statuses) \(try domain.failures(of: user))\n\(try reports(of: proxies))")
                throw CancellationError()
            }
        }
        let latest = all.compactMap(\.latestFailure).max()
        slowest += all.map(\.slowest)
        print(
            "\(scene): the last refused request was sent \(latest.map { $0 - begin } ?? .zero) after the new password was "
                + "written, and the slowest answer took \(slowest.max() ?? .zero)")
        for (login, clients) in clients.flatMap({ $0 }) {
            let statuses = clients.stop()
            let usual: Set<Int> = login == .negotiate ? [200, 401, 502] : [200, 401]
            #expect(usual.isSuperset(of: statuses.keys), "\(login) \(statuses)")
        }
        #expect(try count("credential.refused") == refusals && count("credential.parked") == holds)
        #expect(try domain.failures(of: user).count == 0)
    }

    /// Looks at the account's failures, which must not have locked it.
    private func expectUnlocked(
        _ user: String, _ domain: SambaDomain, atMost limit: Int, _ scene: String, _ proxies: [AttacheProcess]
    ) throws {
        let failures = try domain.failures(of: user)
        print("\(scene): the domain counted \(failures.count) wrong passwords")
        let reports = failures.isLocked ? try reports(of: proxies) : ""
        try #require(!failures.isLocked, "\(failures.count) wrong passwords\n\(reports)")
        #expect(failures.count <= limit)
    }

    @Test func `a password that was never right is shown to the domain twice, by 60 clients at nine servers`() throws {
        let (setting, user) = (try shared(), "never")
        try setting.domain.add(user, Account.nextPassword)
        try replicas(3, user, Account.wrongPassword, in: setting) { proxies throws in
            let clients = clients(through: proxies, of: setting.server)
            for login in DomainServer.Login.allCases { try awaitResponses(60, 401, login, clients) }
            try expectUnlocked(user, setting.domain, atMost: 2, "a password that was never right", proxies)
            try recover(proxies, [clients], user, setting.domain, "a password that was never right")
            #expect(try !setting.domain.failures(of: user).isLocked)
        }
    }

    /// Asks each server for a page, one after the other.
    private func askEach(_ proxy: AttacheProcess, _ server: DomainServer, _ page: String) throws -> [Int] {
        try DomainServer.Login.allCases.flatMap { login in
            try (0..<DomainServer.count).map { try proxy.get(server.url(login, $0, page)).status }
        }
    }

    /// Sets three passwords one after the other. From then on the first one counts as wrong wherever it is shown.
    private func changeThrice(_ user: String, _ domain: SambaDomain) throws {
        for password in [Account.wrongPassword, Account.unicodePassword, Account.nextPassword] {
            try domain.change(user, to: password)
        }
    }

    @Test func `a password that was changed is shown to the domain four times, by one client after the other`() throws {
        let (setting, user) = (try shared(), "quiet")
        try setting.domain.add(user, Account.password)
        try replicas(3, user, Account.password, in: setting) { proxies throws in
            for proxy in proxies {
                let statuses = try askEach(proxy, setting.server, "/first")
                try #require(Set(statuses) == [200], "\(statuses) \(proxy.errorOutput)")
            }
            try changeThrice(user, setting.domain)
            for round in 1...3 {
                for proxy in proxies {
                    let statuses = try askEach(proxy, setting.server, "/\(round)")
                    // Tickets, and connections that are logged in, are good for a while.
                    #expect(Set(statuses.prefix(DomainServer.count)) == [401], "\(statuses)")
                    #expect(Set(statuses).isSubset(of: [200, 401]), "\(statuses)")
                }
            }
            // A replica that has no tickets shows the password to the KDC.
            try replicas(1, user, Account.password, in: setting) { others throws in
                for round in 1...2 {
                    #expect(Set(try askEach(others[0], setting.server, "/other/\(round)")) == [401])
                }
                try expectUnlocked(user, setting.domain, atMost: 4, "a password that was changed", proxies + others)
                try recover(
                    proxies + others, [clients(through: proxies + others, of: setting.server)],
                    user, setting.domain, "a password that was changed")
                #expect(try !setting.domain.failures(of: user).isLocked)
            }
        }
    }

    /// The domain does not count the answers that are under way when the password changes: at LDAP and NTLM it forgives the two
    /// passwords before the present one. It counts what the proxies send after the third change, and each wrong password at
    /// the KDC. The first try of `retry` is counted, too, unless the machine is so slow that it comes before the third change.
    @Test func `a password is changed under 60 clients: the account is not locked, and the new one is taken at once`()
        throws
    {
        let (setting, user) = (try shared(), "loaded")
        try setting.domain.add(user, Account.password)
        try replicas(3, user, Account.password, retry: "20s", in: setting) { proxies throws in
            let clients = clients(through: proxies, of: setting.server)
            for login in DomainServer.Login.allCases { try awaitResponses(100, 200, login, clients) }
            try setting.domain.change(user, to: Account.wrongPassword)
            for login in [DomainServer.Login.basic, .ntlm] { try awaitResponses(60, 401, login, clients) }
            for password in [Account.unicodePassword, Account.nextPassword] {
                try setting.domain.change(user, to: password)
            }
            // After the first try of `retry`, the next one comes much later.
            let isTried = try Wait.until {
                try proxies.contains { proxy in
                    try proxy.events().contains {
                        $0["event"] == "credential.parked" && $0["details"]?.contains("30 minutes") == true
                    }
                }
            }
            #expect(isTried)
            for login in [DomainServer.Login.basic, .ntlm] { try awaitResponses(60, 401, login, clients) }
            try replicas(1, user, Account.password, retry: "20s", in: setting) { others throws in
                let others = (proxies: others, clients: self.clients(through: others, of: setting.server))
                for login in DomainServer.Login.allCases { try awaitResponses(60, 401, login, others.clients) }
                let limit = SambaDomain.lockLimit - 1
                try expectUnlocked(user, setting.domain, atMost: limit, "a password changed under load", proxies)
                // Tickets are good until they expire.
                #expect(clients[.negotiate].map { Set($0.statuses.keys) } == [200])
                try recover(
                    proxies + others.proxies, [clients, others.clients], user, setting.domain,
                    "a password changed under load")
                #expect(try !setting.domain.failures(of: user).isLocked)
            }
        }
    }
}
