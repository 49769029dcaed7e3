import Foundation
import TestSupport
import Testing

/// The effect of changed credentials on running proxies and their connections.
struct RotationTests {
    private func isClosed(_ origin: RecordingOrigin, to proxy: AttacheProcess) throws -> Bool {
        try Wait.until(seconds: 30) { try Self.connections(to: origin.port, of: proxy) == 0 }
    }

    /// Established connections from the proxy to that port.
    private static func connections(to port: UInt16, of proxy: AttacheProcess) throws -> Int {
        try Finished.run("ss", ["-Htnp", "state", "established", "dport", "=", ":\(port)"], seconds: 10)
            .output.split(separator: "\n").count { $0.contains("pid=\(proxy.identifier),") }
    }

    @Test func `a secret that is swapped as Kubernetes does it is read, and what was parked is tried again`() throws {
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        let mount = Scratch.folder("mount")
        func mountSecret(_ name: String, _ password: String) throws {
            mkdir("\(mount)/\(name)", 0o755)
            try Scratch.write(password + "\n", to: "\(mount)/\(name)/password", mode: 0o600)
            symlink(name, "\(mount)/..data_tmp")
            rename("\(mount)/..data_tmp", "\(mount)/..data")
        }
        try mountSecret("..2026_1", Account.wrongPassword)
        symlink("..data/password", "\(mount)/password")
        let rules = """
            credential web { user \(Account.user); password file \(mount)/password }
            challenge { host 127.0.0.1; port \(origin.port); use web }
            """
        try AttacheProcess.running(rules) { proxy throws in
            for _ in 1...3 { #expect(try proxy.get(origin.url()).status == 401) }
            #expect(sentry.refused == 1)
            try mountSecret("..2026_2", Account.password)
            #expect(try Wait.until { try proxy.get(origin.url()).status == 200 })
            #expect(sentry.refused == 1)
        }
    }

    /// A client's connection that is logged in, kept open by a client that waits.
    private func rotating(
        _ rules: String, password: String, _ rotate: (AttacheProcess, RecordingOrigin) throws -> Void
    ) throws {
        let sentry = NTLMGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        let setting = AttacheProcess.Setting(threads: 1, files: ["password": password + "\n"])
        try AttacheProcess.running(rules.replacing("PORT", with: "\(origin.port)"), setting: setting) { proxy throws in
            let wire = try proxy.connect()
            defer { wire.close() }
            func ask(_ fields: String = "") throws -> Int {
                try wire.send("GET \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\(fields)\r\n")
                return try wire.readResponse(to: "GET").status
            }
            if rules.contains("store") {
                try proxy.set(password, for: origin, method: "ntlm")
                #expect(try Wait.until { try ask() == 200 })
            } else {
                #expect(try ask() == 200)
            }
            #expect(sentry.logins == 1)
            #expect(try Self.connections(to: origin.port, of: proxy) == 1)
            try rotate(proxy, origin)
            #expect(try isClosed(origin, to: proxy), "\(proxy.errorOutput)")
        }
    }

    @Test func `an NTLM login with a secret file's old value closes when the file changes`() throws {
        try rotating(
            "credential corp { user \(Account.user); password file @/password }\n"
                + "challenge { host 127.0.0.1; port PORT; method ntlm; use corp }", password: Account.password
        ) { proxy, _ in try proxy.replace("password", with: Account.wrongPassword + "\n") }
    }

    @Test func `a Negotiate login with a keytab's old keys closes when the file changes`() throws {
        let server = try KerberosServer.shared()
        let path = Scratch.folder("keytab") + "/alice.keytab"
        func mount(_ user: String) throws {
            try Data(Scratch.bytes(server.realm.keytab(user))).write(to: URL(filePath: path), options: .atomic)
        }
        try mount("alice")
        let rules = """
            credential svc { kerberos \(server.realm.principal("alice")); keytab \(path) }
            challenge { host localhost; method negotiate; use svc }
            """
        let setting = AttacheProcess.Setting(threads: 1, environment: server.realm.environment)
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let wire = try proxy.connect()
            defer { wire.close() }
            try wire.send(
                "GET \(server.url("/connection/")) HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
            #expect(try wire.readResponse(to: "GET").status == 200)
            #expect(try Self.connections(to: server.port, of: proxy) == 1)
            try mount("bob")
            // The server would keep it for half a minute.
            #expect(
                try Wait.until(seconds: 30) { try Self.connections(to: server.port, of: proxy) == 0 },
                "\(proxy.errorOutput)")
        }
    }

    @Test func `an NTLM login with a stored credential closes when that is set again`() throws {
        try rotating("store sqlite \(Scratch.folder("store"))/credentials.db", password: Account.password) {
            proxy, origin in try proxy.set(Account.wrongPassword, for: origin, method: "ntlm")
        }
    }

    @Test func `an NTLM login with a stored credential closes when that is removed`() throws {
        try rotating("store sqlite \(Scratch.folder("store"))/credentials.db", password: Account.password) {
            proxy, origin in
            let run = try Finished.run(
                AttacheBinary.path,
                ["credential", "remove", origin.url(), Account.user, "--method", "ntlm", "--config", "proxy.conf"],
                directory: proxy.folder, seconds: 20)
            #expect(run.succeeded, "\(run)")
        }
    }

    @Test func `an NTLM login that a request is under way on closes behind its response`() throws {
        let gate = Gate()
        let sentry = NTLMGuard(.init(slow: ("/slow", gate)))
        let origin = try RecordingOrigin.guarded(by: sentry)
        let rules = """
            credential corp { user \(Account.user); password file @/password }
            challenge { host 127.0.0.1; port \(origin.port); client 127.0.0.1; method ntlm; use corp }
            """
        let setting = AttacheProcess.Setting(threads: 1, files: ["password": Account.password + "\n"])
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let (resting, busy) = (try proxy.connect(), try proxy.connect())
            defer { for wire in [resting, busy] { wire.close() } }
            func send(_ path: String, on wire: Wire) throws {
                try wire.send("GET \(origin.url(path)) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            }
            for wire in [resting, busy] {
                try send("/", on: wire)
                #expect(try wire.readResponse(to: "GET").status == 200)
            }
            try send("/slow", on: busy)
            #expect(Wait.until { origin.messages.contains { $0.target == "/slow" } })
            #expect(try Self.connections(to: origin.port, of: proxy) == 2)
            try proxy.replace("password", with: Account.wrongPassword + "\n")
            // The one that rests closes at once: the other has been told as well.
            #expect(try Wait.until { try Self.connections(to: origin.port, of: proxy) == 1 })
            gate.open()
            #expect(try busy.readResponse(to: "GET").status == 200)
            #expect(try isClosed(origin, to: proxy), "\(proxy.errorOutput)")
            #expect(sentry.logins == 2 && sentry.faults == [])
        }
    }

    @Test(arguments: ["mv", "cp"])
    func `a store that is put in the place of another is read`(command: String) throws {
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        let (folder, other) = (Scratch.folder("store"), Scratch.folder("other"))
        let key = String(repeating: "7", count: 64) + "\n"
        func rules(_ folder: String) -> String { "store sqlite \(folder)/credentials.db { key file @/store.key }" }
        let setting = AttacheProcess.Setting(files: ["store.key": key])
        try AttacheProcess.running(rules(other), setting: setting) { proxy throws in
            try proxy.set(Account.password, for: origin)
        }
        try AttacheProcess.running(rules(folder), setting: setting) { proxy throws in
            try proxy.set(Account.wrongPassword, for: origin)
            #expect(
                Wait.until {
                    _ = try? proxy.get(origin.url())
                    return sentry.refused == 1
                })
            let copy = try Finished.run(
                "sqlite3", ["\(other)/credentials.db", ".backup \(folder)/copy.db"], seconds: 20)
            #expect(copy.succeeded, "\(copy)")
            let moved = try Finished.run(command, ["\(folder)/copy.db", "\(folder)/credentials.db"], seconds: 20)
            #expect(moved.succeeded, "\(moved)")
            #expect(try Wait.until { try proxy.get(origin.url()).status == 200 }, "\(proxy.errorOutput)")
            // It is the one that is written to.
            try proxy.set(Account.wrongPassword, for: origin)
            #expect(
                Wait.until {
                    _ = try? proxy.get(origin.url())
                    return sentry.refused >= 2
                })
        }
    }
}
