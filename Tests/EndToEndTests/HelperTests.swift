import Foundation
import TestSupport
import Testing

/// Credentials that programs give: the helpers of git and Docker, and password managers.
struct HelperTests {
    private static func isInstalled(_ programs: String...) -> Bool {
        programs.allSatisfy { (try? Spawn.executable($0)) != nil }
    }

    private static func rules(_ credential: String, _ origin: RecordingOrigin, _ more: String = "") -> String {
        """
        credential c { \(credential) }
        challenge { host 127.0.0.1; port \(origin.port); use c }
        \(more)
        """
    }

    /// The file of `git credential-store` with a password for the origin, which git itself writes.
    private static func store(_ password: String, for origin: RecordingOrigin, in path: String) throws {
        let input = "\(Scratch.folder("input"))/approve"
        let lines = [
            "protocol=http", "host=127.0.0.1:\(origin.port)", "username=\(Account.user)", "password=\(password)",
        ]
        try Scratch.write(lines.joined(separator: "\n") + "\n\n", to: input)
        let stored = try Finished.run("git", ["credential-store", "--file", path, "store"], input: input)
        #expect(stored.succeeded, "\(stored)")
    }

    @Test(.enabled(if: isInstalled("git")))
    func `git's store gives a password, loses a wrong one, and is asked again`() throws {
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        let file = "\(Scratch.folder("git"))/credentials"
        try Self.store(Account.password, for: origin, in: file)
        let rules = Self.rules("helper git git-credential-store --file \(file)", origin)
        try AttacheProcess.running(rules) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            // The server has another password now.
            sentry.change(to: Account.nextPassword)
            #expect(try proxy.get(origin.url()).status == 401)
            #expect(Scratch.read(file).contains(Account.user))
        }
        // A password that was never accepted is erased, after one attempt.
        let other = BasicGuard(Account.nextPassword)
        let fresh = try RecordingOrigin.guarded(by: other)
        try Self.store(Account.wrongPassword, for: fresh, in: file)
        let more = Self.rules("helper git git-credential-store --file \(file)", fresh)
        try AttacheProcess.running(more) { proxy throws in
            #expect(try proxy.get(fresh.url()).status == 401)
            #expect(other.refused == 1)
            #expect(
                Wait.until {
                    !Scratch.read(file).contains(":\(fresh.port)") && !Scratch.read(file).contains("%3a\(fresh.port)")
                })
            try Self.store(Account.nextPassword, for: fresh, in: file)
            #expect(try Wait.until(seconds: 30) { try proxy.get(fresh.url()).status == 200 })
            #expect(other.refused == 1)
        }
    }

    @Test(.enabled(if: isInstalled("git")))
    func `a server in trouble erases nothing`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            guard request["Authorization"] != nil else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\""])
            }
            try connection.reply("503 Service Unavailable")
        }
        let file = "\(Scratch.folder("git"))/credentials"
        try Self.store(Account.password, for: origin, in: file)
        try AttacheProcess.running(Self.rules("helper git git-credential-store --file \(file)", origin)) {
            proxy throws in
            for _ in 1...3 { #expect(try proxy.get(origin.url()).status == 503) }
        }
        #expect(Scratch.read(file).contains(Account.user))
    }

    // MARK: - Password managers

    /// A store of pass, with a key of its own.
    private struct PasswordStore {
        let environment: [String: String]

        init() throws {
            let home = Scratch.folder("gpg")
            chmod(home, 0o700)
            environment = ["GNUPGHOME": home, "PASSWORD_STORE_DIR": "\(home)/store"]
            try run(
                "gpg",
                ["--batch", "--passphrase", "", "--quick-gen-key", "ci@example.test", "default", "default", "never"])
            try run("pass", ["init", "ci@example.test"])
        }

        func run(_ program: String, _ arguments: [String], input: String = "") throws {
            let file = "\(Scratch.folder("input"))/input"
            try Scratch.write(input, to: file)
            let done = try Finished.run(program, arguments, environment: environment, input: file)
            #expect(done.succeeded, "\(done)")
        }

        func end() { _ = try? Finished.run("gpgconf", ["--kill", "gpg-agent"], environment: environment) }
    }

    @Test(.enabled(if: isInstalled("pass", "gpg", "docker-credential-pass")))
    func `pass and docker-credential-pass give a password, and a new one after a refusal`() throws {
        let store = try PasswordStore()
        defer { store.end() }
        let (sentry, other) = (BasicGuard(), BasicGuard())
        let (origin, second) = (try RecordingOrigin.guarded(by: sentry), try RecordingOrigin.guarded(by: other))
        let server = "127.0.0.1:\(second.port)"
        let login = { (password: String) -> String in
            "{\"ServerURL\":\"\(server)\",\"Username\":\"\(Account.user)\",\"Secret\":\"\(password)\"}"
        }
        try store.run("pass", ["insert", "-m", "ci/builder"], input: Account.wrongPassword + "\nurl: example.test\n")
        try store.run("docker-credential-pass", ["store"], input: login(Account.wrongPassword))
        let rules = Self.rules(
            "user \(Account.user); password run pass show ci/builder; environment GNUPGHOME PASSWORD_STORE_DIR", origin,
            """
            credential d { helper docker docker-credential-pass; environment GNUPGHOME PASSWORD_STORE_DIR }
            challenge { host 127.0.0.1; port \(second.port); use d }
            """)
        let setting = AttacheProcess.Setting(environment: store.environment)
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            for server in [origin, second] { #expect(try proxy.get(server.url()).status == 401) }
            #expect(sentry.refused == 1)
            #expect(other.refused == 1)
            try store.run("pass", ["insert", "-m", "-f", "ci/builder"], input: Account.password + "\n")
            try store.run("docker-credential-pass", ["store"], input: login(Account.password))
            for server in [origin, second] { #expect(try proxy.get(server.url()).status == 200) }
            #expect(sentry.refused == 1)
            #expect(other.refused == 1)
        }
    }

    @Test(.enabled(if: isInstalled("secret-tool", "gnome-keyring-daemon", "dbus-daemon")))
    func `the keyring of a session gives a password`() throws {
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        let home = Scratch.folder("keyring")
        let bus = "unix:path=\(home)/bus"
        let daemon = try Subprocess(
            "dbus-daemon", ["--session", "--nofork", "--address", bus], environment: ["HOME": home])
        defer { _ = daemon.kill() }
        #expect(Wait.until { access("\(home)/bus", F_OK) == 0 })
        let environment = ["HOME": home, "DBUS_SESSION_BUS_ADDRESS": bus, "XDG_RUNTIME_DIR": home]
        try Scratch.write("keyring\n", to: "\(home)/unlock")
        let keyring = try Subprocess(
            "gnome-keyring-daemon", ["--foreground", "--unlock", "--components=secrets"], environment: environment,
            input: "\(home)/unlock")
        defer { _ = keyring.kill() }
        try Scratch.write(Account.password, to: "\(home)/secret")
        let isStored = try Wait.until(seconds: 30) {
            try Finished.run(
                "secret-tool", ["store", "--label=ci", "service", "ci"], environment: environment,
                input: "\(home)/secret"
            ).succeeded
        }
        #expect(isStored)
        let rules = Self.rules(
            "user \(Account.user); password run secret-tool lookup service ci; environment DBUS_SESSION_BUS_ADDRESS",
            origin)
        try AttacheProcess.running(rules, setting: .init(environment: environment)) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
        }
    }
}
