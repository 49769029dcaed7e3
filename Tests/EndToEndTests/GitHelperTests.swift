import Foundation
import TestSupport
import Testing

/// The credential helpers of git besides its store, each as a distribution has it.
struct GitHelperTests {
    private static func rules(_ helper: String, _ origins: RecordingOrigin...) -> String {
        let challenges = origins.map { "challenge { host 127.0.0.1; port \($0.port); use c }" }
        return "credential c { helper git \(helper) }\n\(challenges.joined(separator: "\n"))\n"
    }

    // MARK: - git-credential-cache

    /// A daemon of git's cache.
    private struct Cache {
        let socket: String
        private let daemon: Subprocess
        private let folder = Scratch.folder("cache")

        init() throws {
            // The daemon refuses a folder that others can enter.
            chmod(folder, 0o700)
            socket = "\(folder)/socket"
            daemon = try Subprocess("git", ["credential-cache--daemon", socket])
            let path = socket
            #expect(Wait.until { access(path, F_OK) == 0 })
        }

        /// Runs git's command with what it knows of the origin.
        func run(_ action: String, _ origin: RecordingOrigin, _ lines: String...) throws -> String {
            let input = ["protocol=http", "host=127.0.0.1:\(origin.port)"] + lines
            try Scratch.write(input.joined(separator: "\n") + "\n\n", to: "\(folder)/input")
            let done = try Finished.run(
                "git", ["credential-cache", "--socket", socket, action], input: "\(folder)/input")
            #expect(done.succeeded, "\(done)")
            return done.output
        }

        func store(_ password: String, for origin: RecordingOrigin) throws {
            _ = try run("store", origin, "username=\(Account.user)", "password=\(password)")
        }

        func end() {
            // A command starts a daemon if none runs.
            _ = try? Finished.run("git", ["credential-cache", "--socket", socket, "exit"])
            _ = daemon.kill()
        }
    }

    @Test(.enabled(if: HelperScript.isInstalled("git")))
    func `git's cache gives a password, and loses one that a server refuses`() throws {
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        let cache = try Cache()
        defer { cache.end() }
        try cache.store(Account.wrongPassword, for: origin)
        try AttacheProcess.running(Self.rules("git-credential-cache --socket \(cache.socket)", origin)) {
            proxy throws in
            #expect(try proxy.get(origin.url()).status == 401)
            #expect(sentry.refused == 1)
            #expect(try Wait.until { try cache.run("get", origin).isEmpty })
            try cache.store(Account.password, for: origin)
            #expect(try Wait.until(seconds: 60) { try proxy.get(origin.url()).status == 200 })
            #expect(sentry.refused == 1)
            #expect(try cache.run("get", origin).contains("password=\(Account.password)\n"))
        }
    }

    // MARK: - git-credential-netrc

    private static let netrc = "/usr/share/doc/git/contrib/credential/netrc/git-credential-netrc.perl"

    @Test(.enabled(if: HelperScript.isInstalled("perl") && access(GitHelperTests.netrc, R_OK) == 0))
    func `git-credential-netrc gives a password of a netrc file, and a new one after a refusal`() throws {
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        let file = "\(Scratch.folder("netrc"))/netrc"
        func store(_ password: String) throws {
            let line = "machine 127.0.0.1 port \(origin.port) login \(Account.user) password \(password)\n"
            try Scratch.write("machine other.example.test login x password y\n" + line, to: file, mode: 0o600)
        }
        try store(Account.wrongPassword)
        try AttacheProcess.running(Self.rules("/usr/bin/perl \(Self.netrc) -f \(file)", origin)) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 401)
            #expect(sentry.refused == 1)
            try store(Account.password)
            #expect(try Wait.until(seconds: 60) { try proxy.get(origin.url()).status == 200 })
            #expect(sentry.refused == 1)
        }
    }

    // MARK: - git-credential-oauth

    /// A forge with its own authorization server, whose user agrees at once.
    private static func forge() throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            let target = try #require(URLComponents(string: request.target))
            switch target.path {
            case "/authorize":
                let asked = target.queryItems ?? []
                let value = { (name: String) in asked.first { $0.name == name }?.value ?? "" }
                var back = try #require(URLComponents(string: value("redirect_uri")))
                back.queryItems = [.init(name: "code", value: "c0de"), .init(name: "state", value: value("state"))]
                // A plus sign in a query is a blank to the helper.
                let location = (back.string ?? "").replacing("+", with: "%2B")
                try connection.reply("302 Found", ["Location: \(location)"])
            case "/token":
                let form = String(decoding: request.body, as: UTF8.self)
                guard form.contains("code=c0de"), form.contains("code_verifier=") else {
                    return try connection.reply("400 Bad Request")
                }
                try connection.reply(
                    "200 OK", ["Content-Type: application/json"],
                    #"{"access_token":"\#(Account.password)","token_type":"bearer","expires_in":3600}"#)
            default:
                let wanted = "Basic " + Data("oauth2:\(Account.password)".utf8).base64EncodedString()
                if request["Authorization"] == wanted { return try connection.reply(body: "ok") }
                try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"forge\""])
            }
        }
    }

    @Test(.enabled(if: HelperScript.isInstalled("git-credential-oauth", "git", "curl")))
    func `git-credential-oauth logs in by a browser once, and has nothing for a server that it does not know`() throws {
        let origin = try Self.forge()
        let unknown = try RecordingOrigin.guarded(by: BasicGuard())
        let folder = Scratch.folder("oauth")
        try Scratch.write(
            """
            [credential "http://127.0.0.1:\(origin.port)"]
                oauthClientId = ci
                oauthAuthURL = /authorize
                oauthTokenURL = /token
                oauthScopes = read

            """, to: "\(folder)/gitconfig")
        // The browser. The helper waits for the end of the program that it starts, and then for the browser's visit.
        try Scratch.write("#!/bin/sh\ncurl -qsL -o /dev/null \"$1\" &\n", to: "\(folder)/open", mode: 0o755)
        let helper = "/usr/bin/env PATH=\(folder):\(Spawn.path) git-credential-oauth; environment GIT_CONFIG_GLOBAL"
        let rules = Self.rules(helper, origin, unknown) + "timeouts { helper 60s }\n"
        let environment = ["GIT_CONFIG_GLOBAL": "\(folder)/gitconfig"]
        try AttacheProcess.running(rules, setting: .init(environment: environment)) { proxy throws in
            for path in ["/a", "/b"] {
                let fetched = try proxy.get(origin.url(path))
                #expect(fetched.status == 200, "\(fetched)")
            }
            #expect(origin.messages.count { $0.target == "/token" } == 1)
            let none = try proxy.get(unknown.url())
            #expect(none.status == 401 && none.heads.contains("it has none"), "\(none)")
        }
    }
}
