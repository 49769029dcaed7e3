import Foundation
import TestSupport
import Testing

/// Password managers whose commands give secrets, and Docker's helpers for them.
struct PasswordManagerTests {
    private static func rules(_ credential: String, _ origin: RecordingOrigin, _ more: String = "") -> String {
        """
        credential c { \(credential) }
        challenge { host 127.0.0.1; port \(origin.port); use c }
        \(more)
        """
    }

    /// A credential of one of Docker's helpers.
    private static func rules(_ helper: String, variables: String, for origin: RecordingOrigin) -> String {
        """
        credential d { helper docker \(helper); environment \(variables) }
        challenge { host 127.0.0.1; port \(origin.port); use d }
        """
    }

    /// The input that `docker login` gives a helper for the origin. It has no scheme.
    private static func login(_ password: String, at origin: RecordingOrigin) -> String {
        "{\"ServerURL\":\"127.0.0.1:\(origin.port)\",\"Username\":\"\(Account.user)\",\"Secret\":\"\(password)\"}"
    }

    /// Runs a program that must succeed.
    private static func run(
        _ program: String, _ arguments: [String], _ environment: [String: String], input: String = ""
    ) throws {
        let file = "\(Scratch.folder("input"))/input"
        try Scratch.write(input, to: file)
        let done = try Finished.run(program, arguments, environment: environment, input: file)
        #expect(done.succeeded, "\(done)")
    }

    // MARK: - pass

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
            try PasswordManagerTests.run(program, arguments, environment, input: input)
        }

        func end() { _ = try? Finished.run("gpgconf", ["--kill", "gpg-agent"], environment: environment) }
    }

    @Test(.enabled(if: HelperScript.isInstalled("pass", "gpg", "docker-credential-pass")))
    func `pass and docker-credential-pass give a password, and a new one after a refusal`() throws {
        let store = try PasswordStore()
        defer { store.end() }
        let (sentry, other) = (BasicGuard(), BasicGuard())
        let (origin, second) = (try RecordingOrigin.guarded(by: sentry), try RecordingOrigin.guarded(by: other))
        try store.run("pass", ["insert", "-m", "ci/builder"], input: Account.wrongPassword + "\nurl: example.test\n")
        try store.run("docker-credential-pass", ["store"], input: Self.login(Account.wrongPassword, at: second))
        let rules = Self.rules(
            "user \(Account.user); password run pass show ci/builder; environment GNUPGHOME PASSWORD_STORE_DIR", origin,
            Self.rules("docker-credential-pass", variables: "GNUPGHOME PASSWORD_STORE_DIR", for: second))
        let setting = AttacheProcess.Setting(environment: store.environment)
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            for server in [origin, second] { #expect(try proxy.get(server.url()).status == 401) }
            #expect(sentry.refused == 1)
            #expect(other.refused == 1)
            try store.run("pass", ["insert", "-m", "-f", "ci/builder"], input: Account.password + "\n")
            try store.run("docker-credential-pass", ["store"], input: Self.login(Account.password, at: second))
            for server in [origin, second] { #expect(try proxy.get(server.url()).status == 200) }
            #expect(sentry.refused == 1)
            #expect(other.refused == 1)
        }
    }

    @Test(.enabled(if: HelperScript.isInstalled("pass", "gpg", "gopass")))
    func `gopass gives the password of a store of pass`() throws {
        let store = try PasswordStore()
        defer { store.end() }
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        try store.run("pass", ["insert", "-m", "ci/builder"], input: Account.password + "\nurl: example.test\n")
        let rules = Self.rules(
            "user \(Account.user); password run gopass show ci/builder; environment GNUPGHOME PASSWORD_STORE_DIR",
            origin)
        try AttacheProcess.running(rules, setting: .init(environment: store.environment)) { proxy throws in
            let fetched = try proxy.get(origin.url())
            #expect(fetched.status == 200, "\(fetched)")
        }
    }

    // MARK: - The keyring of a session

    /// A session bus with the keyring of GNOME.
    private struct Keyring {
        let environment: [String: String]
        private let processes: [Subprocess]

        init() throws {
            let home = Scratch.folder("keyring")
            let bus = "unix:path=\(home)/bus"
            let daemon = try Subprocess(
                "dbus-daemon", ["--session", "--nofork", "--address", bus], environment: ["HOME": home])
            #expect(Wait.until { access("\(home)/bus", F_OK) == 0 })
            environment = ["HOME": home, "DBUS_SESSION_BUS_ADDRESS": bus, "XDG_RUNTIME_DIR": home]
            try Scratch.write("keyring\n", to: "\(home)/unlock")
            let keyring = try Subprocess(
                "gnome-keyring-daemon", ["--foreground", "--unlock", "--components=secrets"],
                environment: environment, input: "\(home)/unlock")
            processes = [keyring, daemon]
            // For a client that comes before it is there, the bus would start a second keyring, which stays locked.
            let variables = environment
            let question = [
                "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
                "org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.secrets",
            ]
            let isReady = try Wait.until(seconds: 60) {
                try Finished.run("dbus-send", question, environment: variables).output.contains("boolean true")
            }
            #expect(isReady)
        }

        func end() { for process in processes { _ = process.kill() } }
    }

    @Test(.enabled(if: HelperScript.isInstalled("secret-tool", "gnome-keyring-daemon", "dbus-daemon", "dbus-send")))
    func `the keyring of a session gives a password`() throws {
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        let keyring = try Keyring()
        defer { keyring.end() }
        try Self.run(
            "secret-tool", ["store", "--label=ci", "service", "ci"], keyring.environment, input: Account.password)
        let rules = Self.rules(
            "user \(Account.user); password run secret-tool lookup service ci; environment DBUS_SESSION_BUS_ADDRESS",
            origin)
        try AttacheProcess.running(rules, setting: .init(environment: keyring.environment)) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
        }
    }

    @Test(
        .enabled(
            if: HelperScript.isInstalled(
                "docker-credential-secretservice", "gnome-keyring-daemon", "dbus-daemon", "dbus-send")))
    func `docker-credential-secretservice gives a password, a new one after a refusal, and none for another server`()
        throws
    {
        let (sentry, other) = (BasicGuard(), BasicGuard())
        let (origin, unknown) = (try RecordingOrigin.guarded(by: sentry), try RecordingOrigin.guarded(by: other))
        let keyring = try Keyring()
        defer { keyring.end() }
        let helper = "docker-credential-secretservice"
        try Self.run(helper, ["store"], keyring.environment, input: Self.login(Account.wrongPassword, at: origin))
        let rules =
            Self.rules(helper, variables: "DBUS_SESSION_BUS_ADDRESS", for: origin)
            + "\nchallenge { host 127.0.0.1; port \(unknown.port); use d }\n"
        try AttacheProcess.running(rules, setting: .init(environment: keyring.environment)) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 401)
            #expect(sentry.refused == 1)
            try Self.run(helper, ["store"], keyring.environment, input: Self.login(Account.password, at: origin))
            #expect(try proxy.get(origin.url()).status == 200)
            #expect(sentry.refused == 1)
            let none = try proxy.get(unknown.url())
            #expect(none.status == 401 && none.heads.contains("it failed with status 1"), "\(none)")
            #expect(other.refused == 0)
        }
    }
}
