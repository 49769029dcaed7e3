import Foundation
import TestSupport
import Testing

/// How often a wrong password is sent, counted by the server: at most four times in half an hour after it was right, and twice
/// if it never was. Answers that were under way when the first refusal came do not count.
@Suite(.serialized) struct WrongPasswordTests {
    private static let clients = 20

    private func rules(_ ports: UInt16..., host: String = "127.0.0.1") -> String {
        """
        credential web { user \(Account.user); password file @/password }
        challenge { host \(host); port \(ports.map(String.init).joined(separator: " ")); use web }
        """
    }

    private func setting(_ password: String = Account.password) -> AttacheProcess.Setting {
        .init(files: ["password": password + "\n", "store.key": String(repeating: "7", count: 64) + "\n"])
    }

    /// Has twenty clients at once ask for five new pages each.
    private func insist(_ proxy: AttacheProcess, _ url: @escaping @Sendable (String) -> String) -> [Int: Int] {
        Clients(Self.clients, through: [proxy], requests: 5, pause: 0) { url("/page/\($0)/\($1)") }.finish()
    }

    @Test(arguments: GuardedOrigin.Scheme.allCases)
    func `a password changes at the server under 20 requests: those count once, and at most four follow`(
        scheme: GuardedOrigin.Scheme
    ) throws {
        let server = try GuardedOrigin(scheme)
        try AttacheProcess.running(rules(server.origin.port), setting: setting()) { proxy throws in
            #expect(try proxy.get(server.origin.url("/page")).status == 200)
            let burst = Clients(Self.clients, through: [proxy], requests: 1) { client, _ in
                server.origin.url("/held/\(client)")
            }
            #expect(Wait.until { server.hold.count == Self.clients }, "\(server.hold.count) are under way")
            server.change(to: Account.nextPassword)
            server.hold.open()
            #expect(burst.finish() == [401: Self.clients])
            #expect(insist(proxy) { server.origin.url($0) } == [401: Self.clients * 5])
            #expect(server.wrong <= Self.clients + 4, "the wrong password was sent \(server.wrong) times")

            try proxy.replace("password", with: Account.nextPassword + "\n")
            #expect(try Wait.until { try proxy.get(server.origin.url("/page")).status == 200 })
            #expect(insist(proxy) { server.origin.url($0) } == [200: Self.clients * 5])
            #expect(server.wrong <= Self.clients + 4, "the wrong password was sent \(server.wrong) times")
        }
    }

    @Test(arguments: GuardedOrigin.Scheme.allCases)
    func `a password that was never right is sent twice at most`(scheme: GuardedOrigin.Scheme) throws {
        let server = try GuardedOrigin(scheme)
        try AttacheProcess.running(rules(server.origin.port), setting: setting(Account.wrongPassword)) { proxy throws in
            #expect(insist(proxy) { server.origin.url($0) } == [401: Self.clients * 5])
            #expect(server.wrong <= 2, "the wrong password was sent \(server.wrong) times")

            try proxy.replace("password", with: Account.password + "\n")
            #expect(try Wait.until { try proxy.get(server.origin.url("/page")).status == 200 })
            #expect(insist(proxy) { server.origin.url($0) } == [200: Self.clients * 5])
        }
    }

    @Test func `realms do not multiply it`() throws {
        let directory = AccountDirectory(Account.nextPassword)
        let origin = try RecordingOrigin.asking(directory) { "realm of \($0.target.split(separator: "/").first ?? "")" }
        try AttacheProcess.running(rules(origin.port)) { proxy throws in
            for realm in 1...6 {
                let pages = Clients(4, through: [proxy], requests: 2, pause: 0) { origin.url("/\(realm)/\($0)/\($1)") }
                #expect(pages.finish() == [401: 8])
            }
            #expect(directory.wrong[Account.password] ?? 0 <= 2, "\(directory.wrong)")
        }
    }

    @Test func `a realm that repeats the Host field, and spellings of the host, do not multiply it`() throws {
        let directory = AccountDirectory(Account.nextPassword)
        let origin = try RecordingOrigin.asking(directory) { $0["Host"] ?? "" }
        try AttacheProcess.running(rules(origin.port, host: "localhost")) { proxy throws in
            for host in ["localhost", "LOCALHOST", "LocalHost", "localhost."] {
                for path in ["1", "2"] {
                    let fetched = try proxy.get("http://\(host):\(origin.port)/\(host)/\(path)")
                    #expect(fetched.status == 401, "\(fetched)")
                }
            }
            #expect(directory.wrong[Account.password] ?? 0 <= 2, "\(directory.wrong)")
        }
    }

    // MARK: - One account behind many servers

    @Test func `a password that six servers check in one directory: five wrong ones would lock the account`() throws {
        let directory = AccountDirectory()
        let origins = try (1...6).map { _ in try RecordingOrigin.asking(directory) }
        let ports = origins.map { "\($0.port)" }.joined(separator: " ")
        let rules = """
            credential web { user \(Account.user); password file @/password }
            challenge { host 127.0.0.1; port \(ports); use web }
            """
        try AttacheProcess.running(rules) { proxy throws in
            for origin in origins { #expect(try proxy.get(origin.url("/first")).status == 200) }
            directory.change(to: [Account.nextPassword])
            for round in 1...3 {
                for origin in origins { #expect(try proxy.get(origin.url("/\(round)")).status == 401) }
            }
            #expect(directory.wrong[Account.password] ?? 0 <= 4, "\(directory.wrong)")
            #expect(!directory.isLocked)
            try proxy.replace("password", with: Account.nextPassword + "\n")
            #expect(
                try Wait.until { try origins.allSatisfy { try proxy.get($0.url("/new")).status == 200 } },
                "\(directory.wrong)")
            #expect(directory.wrong.values.reduce(0, +) <= 4, "\(directory.wrong)")
        }
    }

    // MARK: - Replicas

    private func replicas(
        _ count: Int, _ rules: String, _ setting: AttacheProcess.Setting, _ proxies: [AttacheProcess] = [],
        _ body: ([AttacheProcess]) throws -> Void
    ) throws {
        if proxies.count == count { return try body(proxies) }
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            try replicas(count, rules, setting, proxies + [proxy], body)
        }
    }

    @Test(arguments: [true, false])
    func `three replicas of one store count together`(wasRight: Bool) throws {
        let cluster = try PostgreSQLCluster()
        let directory = AccountDirectory(wasRight ? Account.password : Account.nextPassword)
        let origins = try (1...3).map { _ in try RecordingOrigin.asking(directory) }
        let rules = """
            store postgresql "\(cluster.info)" { key file @/store.key }
            credential web { user \(Account.user); password file @/password }
            challenge { host 127.0.0.1; port \(origins.map { "\($0.port)" }.joined(separator: " ")); use web }
            """
        try replicas(3, rules, setting()) { proxies throws in
            if wasRight {
                for (proxy, origin) in zip(proxies, origins) { #expect(try proxy.get(origin.url()).status == 200) }
                directory.change(to: [Account.nextPassword])
            }
            for round in 1...4 {
                for proxy in proxies {
                    for origin in origins { #expect(try proxy.get(origin.url("/\(round)")).status == 401) }
                }
            }
            // The first answer of each replica may be under way when another replica's is refused.
            #expect(directory.wrong[Account.password] ?? 0 <= (wasRight ? 4 : 2), "\(directory.wrong)")

            for proxy in proxies { try proxy.replace("password", with: Account.nextPassword + "\n") }
            #expect(
                try Wait.until {
                    try proxies.allSatisfy { proxy in
                        try origins.allSatisfy { try proxy.get($0.url("/new")).status == 200 }
                    }
                }, "\(directory.wrong)")
            #expect(!directory.isLocked, "\(directory.wrong)")
        }
    }
}
