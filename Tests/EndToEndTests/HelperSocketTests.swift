import Foundation
import TestSupport
import Testing

/// Helpers at sockets, the paths that helpers get, and values that programs give.
struct HelperSocketTests {
    /// git's store behind a socket, with the password of an origin.
    private struct Store {
        let folder = Scratch.folder("socket")
        let process: Subprocess
        var socket: String { "\(folder)/helper.sock" }

        init(for origin: RecordingOrigin) throws {
            let lines = [
                "protocol=http", "host=127.0.0.1:\(origin.port)", "username=\(Account.user)",
                "password=\(Account.password)",
            ]
            try Scratch.write(lines.joined(separator: "\n") + "\n\n", to: "\(folder)/approve")
            let stored = try Finished.run(
                "git", ["credential-store", "--file", "\(folder)/store", "store"], input: "\(folder)/approve")
            #expect(stored.succeeded, "\(stored)")
            process = try Subprocess(
                "socat",
                [
                    "UNIX-LISTEN:\(folder)/helper.sock,fork",
                    "EXEC:git credential-store --file \(folder)/store get",
                ])
            let path = socket
            #expect(Wait.until { access(path, F_OK) == 0 })
        }
    }

    private static func rules(_ socket: String, _ origin: RecordingOrigin) -> String {
        """
        credential c { helper git unix:\(socket) }
        challenge { host 127.0.0.1; port \(origin.port); use c }
        """
    }

    @Test(.enabled(if: HelperScript.isInstalled("git", "socat")))
    func `a process at a socket gives a password, one for each connection`() throws {
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        let store = try Store(for: origin)
        defer { _ = store.process.kill() }
        try AttacheProcess.running(Self.rules(store.socket, origin)) { proxy throws in
            for _ in 1...2 { #expect(try proxy.get(origin.url()).status == 200) }
            #expect(try proxy.metric("attache_helper_runs_total{result=\"success\"}") >= 1)
            #expect(try proxy.metric("attache_helper_runs_total{result=\"failure\"}") == 0)
        }
    }

    @Test(.enabled(if: HelperScript.isInstalled("git", "socat") && geteuid() == 0))
    func `a process that is not the socket's owner gets no question`() throws {
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        let store = try Store(for: origin)
        defer { _ = store.process.kill() }
        chown(store.socket, 65_534, 65_534)
        try AttacheProcess.running(Self.rules(store.socket, origin)) { proxy throws in
            let refused = try proxy.get(origin.url())
            #expect(refused.status == 401)
            #expect(refused.heads.contains("the process at the socket is not its owner's"), "\(refused)")
            chown(store.folder, 65_534, 65_534)
        }
    }

    @Test(.enabled(if: HelperScript.isInstalled("git", "socat")))
    func `a socket that others could replace, and none, cost a sentence`() throws {
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        let store = try Store(for: origin)
        defer { _ = store.process.kill() }
        chmod(store.folder, 0o777)
        try AttacheProcess.running(Self.rules(store.socket, origin)) { proxy throws in
            let refused = try proxy.get(origin.url())
            #expect(refused.status == 401)
            #expect(refused.heads.contains("other users can change it"), "\(refused)")
        }
        chmod(store.folder, 0o700)
        try AttacheProcess.running(Self.rules("\(store.folder)/none", origin)) { proxy throws in
            let refused = try proxy.get(origin.url())
            #expect(refused.status == 401)
            #expect(refused.heads.contains("it cannot be asked"), "\(refused)")
        }
    }

    /// The children of a process.
    private static func children(of process: pid_t) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
            // The fields after the program's name are the state and the parent.
            let fields = Scratch.read("/proc/\(name)/stat").split(separator: ")").last?.split(separator: " ") ?? []
            return fields.count > 1 && fields[1] == "\(process)"
        }
    }

    @Test(.enabled(if: HelperScript.isInstalled("git", "socat")))
    func `a thousand runs at a socket leave no process, no descriptor and no memory`() throws {
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        let store = try Store(for: origin)
        defer { _ = store.process.kill() }
        let rules = Self.rules(store.socket, origin).replacing("helper git", with: "keep 1ms; helper git")
        try AttacheProcess.running(rules, setting: .init(threads: 1, log: "off")) { proxy throws in
            /// Has a client ask until the helper was asked so many times more.
            func ask(runs wanted: Int) throws {
                let before = try proxy.metric("attache_helper_runs_total{result=\"success\"}")
                let isReached = try Wait.until {
                    let client = Clients(1, through: [proxy], requests: 100, pause: 0) { _, _ in origin.url() }
                    let answered = client.finish()
                    // A value that ends after 1 ms may end before its request is sent.
                    #expect(answered[200, default: 0] > 50 && answered.keys.allSatisfy { $0 == 200 || $0 == 401 })
                    return try proxy.metric("attache_helper_runs_total{result=\"success\"}") >= before + wanted
                }
                #expect(isReached)
            }
            func descriptors() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/\(proxy.identifier)/fd").count
            }
            try ask(runs: 200)
            let (open, memory) = (try descriptors(), try proxy.residentKiB())
            try ask(runs: 1_000)
            #expect(try Wait.until(seconds: 30) { try descriptors() <= open }, "\(open) before")
            #expect(try Self.children(of: proxy.identifier) == [])
            let after = try proxy.residentKiB()
            #expect(Sanitizer.isPresent || after < memory + 4_096, "\(memory) KiB grew to \(after)")
            #expect(try proxy.metric("attache_helper_runs_total{result=\"failure\"}") == 0)
        }
    }

    @Test func `with path yes each path has its own credential`() throws {
        let script = try HelperScript(
            """
            cat >in; test "$1" = get || exit 0
            path=$(sed -n 's/^path=//p' in); echo "$path" >>paths
            printf 'username=%s\\npassword=p\\n' "${path%%/*}"
            """)
        let origin = try RecordingOrigin.answering { request, connection in
            let team = request.target.split(separator: "/").first.map(String.init) ?? ""
            let wanted = "Basic " + Data("\(team):p".utf8).base64EncodedString()
            if request["Authorization"] == wanted { return try connection.reply(body: team) }
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\""])
        }
        let rules = """
            credential c { helper git \(script.path); path yes }
            challenge { host 127.0.0.1; port \(origin.port); use c }
            """
        try AttacheProcess.running(rules) { proxy throws in
            for team in ["one", "two", "one", "two"] {
                let fetched = try proxy.get(origin.url("/\(team)/a?q=secret"))
                #expect(fetched.status == 200 && fetched.text == team, "\(fetched)")
            }
        }
        #expect(script.read("paths") == "one/a\ntwo/a\n")
    }

    // MARK: - Values of programs

    @Test func `a program gives the passphrase of a certificate's key`() throws {
        let identity = try ClientCertificate.good.get()
        let folder = Scratch.folder("passphrase")
        let sealed = try Finished.run(
            "openssl",
            ["pkcs8", "-topk8", "-in", identity.key, "-out", "\(folder)/key", "-passout", "pass:\(Account.password)"])
        #expect(sealed.succeeded, "\(sealed)")
        let script = try HelperScript("echo '\(Account.password)'")
        let rules = """
            credential device {
                certificate \(try identity.chain()); key \(folder)/key; passphrase run \(script.path)
            }
            challenge "device" { host *.example.test; method client-certificate; use device }

            """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            let answered = try proxy.visit(Specimen["client-required"], "/client", by: .upgraded)
            #expect(answered.text == "SUCCESS CN=client-good,O=Zoo\n", "\(answered)")
        }
        #expect(script.runs.count == 1)
    }

    @Test func `a program gives the keys that sign requests`() throws {
        let secret = "Wj4lr-S1gn/K7MDENG+secret"
        let script = try HelperScript("echo '\(secret)'")
        let origin = try RecordingOrigin { connection in
            while let head = try connection.requestHead() {
                connection.record(content: try connection.wire.readContent(of: head))
                try connection.reply(body: "ok")
            }
        }
        let rules = """
            credential c { aws eu-central-1 s3; access-key AKIDEXAMPLE; secret-key run \(script.path) show }
            challenge { host 127.0.0.1; port \(origin.port); use c }
            """
        try AttacheProcess.running(rules) { proxy throws in
            for path in ["/a", "/b"] { #expect(try proxy.get(origin.url(path)).status == 200) }
            for message in origin.contents {
                #expect(try SignatureVerifier.fault(in: message, secret: secret) == nil, "\(message.head)")
            }
            #expect(script.runs == ["show"])
        }
    }

    // MARK: - A vault

    @Test(.enabled(if: HelperScript.isInstalled("python3")))
    func `OpenBao's command gives a password of a vault, and a new one after a refusal`() throws {
        let bao = try PythonPackages.vault()
        let folder = Scratch.folder("vault")
        let port = FreePort.take()
        defer { FreePort.release(port) }
        let environment = [
            "BAO_ADDR": "http://127.0.0.1:\(port)", "BAO_TOKEN": "t-\(UUID().uuidString)", "HOME": folder,
        ]
        let server = try Subprocess(
            bao, ["server", "-dev", "-dev-no-store-token", "-dev-listen-address=127.0.0.1:\(port)"],
            environment: environment.merging(["BAO_DEV_ROOT_TOKEN_ID": environment["BAO_TOKEN"] ?? ""]) { old, _ in old
            })
        defer { _ = server.kill() }
        func put(_ password: String) throws -> Bool {
            try Finished.run(bao, ["kv", "put", "secret/ci", "password=\(password)"], environment: environment)
                .succeeded
        }
        #expect(try Wait.until(seconds: 60) { try put(Account.wrongPassword) })
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        let rules = """
            credential c {
                user \(Account.user); password run \(bao) kv get -field=password secret/ci
                environment BAO_ADDR BAO_TOKEN
            }
            challenge { host 127.0.0.1; port \(origin.port); use c }
            """
        try AttacheProcess.running(rules, setting: .init(environment: environment)) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 401)
            #expect(sentry.refused == 1)
            #expect(try put(Account.password))
            #expect(try Wait.until(seconds: 30) { try proxy.get(origin.url()).status == 200 })
            #expect(sentry.refused == 1)
        }
    }
}
