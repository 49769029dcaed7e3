import Foundation
import TestSupport
import Testing

/// Credentials that outlive the process.
struct CredentialStoreTests {
    private let accepted = Data("\(Account.user):\(Account.password)".utf8).base64EncodedString()

    private func origin() throws -> RecordingOrigin {
        let accepted = accepted
        return try RecordingOrigin.answering { request, connection in
            let isRight = request["Authorization"] == "Basic \(accepted)"
            let challenge = isRight ? [] : ["WWW-Authenticate: Basic realm=\"r\""]
            try connection.reply(isRight ? "200 OK" : "401 Unauthorized", challenge)
        }
    }

    /// Asks with user and password in the URL, which curl would make an `Authorization` of.
    private func getWithUser(_ origin: RecordingOrigin, through proxy: AttacheProcess) throws -> Int {
        try proxy.exchange(
            "GET \(urlWithUser(origin)) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\nConnection: close\r\n\r\n"
        ).status
    }

    private func urlWithUser(_ origin: RecordingOrigin) -> String {
        let password = Account.password.replacing("/", with: "%2F")
        return origin.url().replacing("://", with: "://\(Account.user):\(password)@")
    }

    /// A store of its own for rules that name one.
    private func folder() -> String { Scratch.folder("store") }

    private func command(_ words: [String], input: String = "/dev/null", in folder: String) throws -> Finished {
        try Finished.run(AttacheBinary.path, words, directory: folder, input: input, seconds: 20)
    }

    /// Sets the account's password for the origin's space by the command line.
    private func set(_ password: String, for origin: RecordingOrigin, of proxy: AttacheProcess) throws {
        try Scratch.write(password + "\n", to: proxy.folder + "/typed", mode: 0o600)
        let run = try command(
            ["credential", "set", origin.url(), Account.user, "--realm", "r", "--config", "proxy.conf"],
            input: proxy.folder + "/typed", in: proxy.folder)
        #expect(run.succeeded, "\(run)")
    }

    @Test func `a credential from a URL is there after a restart, if the rule says so`() throws {
        let origin = try origin()
        let store = Scratch.folder("store") + "/credentials.db"
        for persistence in ["permanent", "none"] {
            let path = store + "." + persistence
            let rules = "store sqlite \(path)\nchallenge { host 127.0.0.1; default; persistence \(persistence) }"
            try AttacheProcess.running(rules) { proxy throws in
                #expect(try proxy.get(origin.url()).status == 401)
                #expect(try getWithUser(origin, through: proxy) == 200)
                // The client has its answer when the credential is on the disk.
                if persistence == "permanent" { #expect(try proxy.get(origin.url()).status == 200) }
            }
            try AttacheProcess.running(rules) { proxy throws in
                #expect(try proxy.get(origin.url()).status == (persistence == "permanent" ? 200 : 401))
            }
            #expect(Data(Scratch.bytes(path)).range(of: Data(Account.password.utf8)) == nil)
        }
    }

    @Test func `a proxy that stops when its client has the response has kept the credential`() throws {
        let origin = try origin()
        for learns in [false, true] {
            for round in 1...3 {
                let store = Scratch.folder("store") + "/credentials.db"
                let rule = "host 127.0.0.1; default; persistence permanent\(learns ? "; learn yes; method basic" : "")"
                try AttacheProcess.running("store sqlite \(store)\nchallenge { \(rule) }") { proxy throws in
                    if learns {
                        #expect(try proxy.get(origin.url()).status == 401)
                        let login = "\(Account.user):\(Account.password)"
                        #expect(try proxy.get(origin.url(), "-u", login).status == 200)
                    } else {
                        #expect(try getWithUser(origin, through: proxy) == 200)
                    }
                    proxy.signal(SIGSTOP)
                    defer { proxy.signal(SIGCONT) }
                    let rows = try Finished.run(
                        "sqlite3", [store, "SELECT count(*) FROM attache_credentials"], seconds: 10)
                    #expect(rows.output == "1\n", "round \(round), learns: \(learns): \(rows)")
                }
            }
        }
    }

    @Test func `a store that takes nothing for a while holds no response for ever, and other clients wait for nothing`()
        throws
    {
        let origin = try origin()
        let store = Scratch.folder("store") + "/credentials.db"
        let rules = "store sqlite \(store)\nchallenge { host 127.0.0.1; default; persistence permanent }"
        try AttacheProcess.running(rules, setting: .init(threads: 1)) { proxy throws in
            let lock = """
                import signal, sqlite3, sys
                store = sqlite3.connect(sys.argv[1], isolation_level=None)
                store.execute("BEGIN IMMEDIATE")
                print("locked", flush=True)
                signal.pause()
                """
            let holder = try Subprocess("python3", ["-c", lock, store])
            defer { _ = holder.kill() }
            #expect(Wait.until { holder.output.contains("locked") }, "\(holder.errorOutput)")
            let wire = try proxy.connect()
            try wire.send("GET \(urlWithUser(origin)) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            #expect(Wait.until { origin.messages.contains { $0["Authorization"] != nil } })
            #expect(try proxy.get(origin.url("/other")).status == 401)
            #expect(try wire.readResponse(to: "GET").status == 200)
        }
    }

    private func postgreSQL(
        _ cluster: PostgreSQLCluster, _ body: (AttacheProcess) throws -> Void
    ) throws {
        let rules = """
            store postgresql "\(cluster.info)" { key file @/store.key }
            challenge { host 127.0.0.1; default; persistence permanent }
            """
        let setting = AttacheProcess.Setting(files: ["store.key": String(repeating: "7", count: 64) + "\n"])
        try AttacheProcess.running(rules, setting: setting, body)
    }

    @Test func `PostgreSQL has the credential when its client has the response`() throws {
        let (origin, cluster) = (try origin(), try PostgreSQLCluster())
        try postgreSQL(cluster) { proxy throws in
            #expect(try getWithUser(origin, through: proxy) == 200)
            proxy.signal(SIGSTOP)
            defer { proxy.signal(SIGCONT) }
            #expect(try cluster.holds("attache_credentials", rows: 1))
        }
        try postgreSQL(cluster) { proxy throws in #expect(try proxy.get(origin.url()).status == 200) }
    }

    @Test func `a database that is down for a while gets the credential when it is back`() throws {
        let (origin, cluster) = (try origin(), try PostgreSQLCluster())
        try postgreSQL(cluster) { proxy throws in
            cluster.stop()
            #expect(try getWithUser(origin, through: proxy) == 200)
            // The client asks on: its answer is known, and no challenge brings the credential again.
            #expect(try getWithUser(origin, through: proxy) == 200)
            #expect(proxy.awaitErrorOutput("cannot store credential url:\(Account.user) yet"), "\(proxy.errorOutput)")
            try cluster.start()
            #expect(try cluster.holds("attache_credentials", rows: 1), "\(proxy.errorOutput)")
            #expect(try proxy.get(origin.url()).status == 200)
        }
    }

    @Test func `without a word about it nothing is kept, and no file is made`() throws {
        let origin = try origin()
        try AttacheProcess.running { proxy throws in
            #expect(try getWithUser(origin, through: proxy) == 200)
            #expect(try proxy.get(origin.url()).status == 401)
            #expect(!FileManager.default.fileExists(atPath: proxy.folder + "/credentials.db"))
            #expect(proxy.awaitErrorOutput("the admin listener is on"))
            let metrics = try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/metrics").text
            #expect(!metrics.contains("attache_store_up"))
        }
    }

    @Test func `a rule that keeps something makes a store in the state directory, with its key beside it`() throws {
        try AttacheProcess.running("challenge { host 127.0.0.1; default; persistence permanent }") { proxy throws in
            for name in ["credentials.db", "credentials.key"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(proxy.folder)/\(name)")
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
            }
            #expect(proxy.awaitErrorOutput("the credential store has a new key"))
            #expect(proxy.awaitErrorOutput("the admin listener is on"))
            let metrics = try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/metrics")
            #expect(metrics.text.contains("attache_store_up 1\n"), "\(metrics)")
        }
    }

    @Test func `a running proxy goes by what the command line changes`() throws {
        let origin = try origin()
        let rules = "store sqlite \(folder())/credentials.db"
        try AttacheProcess.running(rules) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 401)
            try set(Account.wrongPassword, for: origin, of: proxy)
            #expect(proxy.awaitRefusal(of: origin))
            // The right one is another version.
            try set(Account.password, for: origin, of: proxy)
            #expect(try Wait.until { try proxy.get(origin.url()).status == 200 })
            // The store has the acceptance a little later.
            let line = "good  * user  password  basic \"r\" of http://127.0.0.1:\(origin.port)\n"
            let accepted = "\n    http://127.0.0.1:\(origin.port): accepted, last 20"
            var list = ""
            #expect(
                try Wait.until {
                    list = try command(["credential", "list", "--config", "proxy.conf"], in: proxy.folder).output
                    return list.hasPrefix(line) && list.contains(accepted)
                }, "\(list)")
            let removal = try command(
                ["credential", "remove", origin.url(), Account.user, "--realm", "r", "--config", "proxy.conf"],
                in: proxy.folder)
            #expect(removal.succeeded, "\(removal)")
            #expect(try Wait.until { try proxy.get(origin.url()).status == 401 })
        }
    }

    @Test func `another key is put in place while the proxy runs`() throws {
        let origin = try origin()
        let store = folder()
        let keys = (1...2).map { String(repeating: "\($0)", count: 64) }
        let files = ["one.key": keys[0] + "\n", "two.key": keys[1] + "\n"]
        let rules = "store sqlite \(store)/credentials.db { key file @/one.key }"
        try AttacheProcess.running(rules, setting: .init(files: files)) { proxy throws in
            try set(Account.password, for: origin, of: proxy)
            #expect(try Wait.until { try proxy.get(origin.url()).status == 200 })
            let rekey = try command(
                ["store", "rekey", "--to", "file", proxy.folder + "/two.key", "--config", "proxy.conf"],
                in: proxy.folder)
            #expect(rekey.succeeded, "\(rekey)")
            #expect(try proxy.get(origin.url()).status == 200)
            let list = try command(["credential", "list", "--config", "proxy.conf"], in: proxy.folder)
            #expect(list.status == 1)
            #expect(list.errorOutput.contains("is encrypted under the key"), "\(list)")
        }
        let new = rules.replacing("one.key", with: "two.key")
        try AttacheProcess.running(new, setting: .init(files: files)) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
        }
    }
}

extension AttacheProcess {
    /// Asks until the stored credential was refused.
    fileprivate func awaitRefusal(of origin: RecordingOrigin) -> Bool {
        Wait.until {
            _ = try? get(origin.url())
            return errorOutput.contains("was refused by 127.0.0.1:\(origin.port)")
        }
    }
}
