import Foundation
import TestSupport
import Testing

/// Credentials that programs give: when they run, and what becomes of what they give.
struct HelperTests {
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

    @Test(.enabled(if: HelperScript.isInstalled("git")))
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

    @Test(.enabled(if: HelperScript.isInstalled("git")))
    func `a server in trouble erases nothing`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            guard request["Authorization"] != nil else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\""])
            }
            try connection.reply(request.target == "/well" ? "200 OK" : "503 Service Unavailable")
        }
        let file = "\(Scratch.folder("git"))/credentials"
        try Self.store(Account.password, for: origin, in: file)
        try AttacheProcess.running(Self.rules("helper git git-credential-store --file \(file)", origin)) {
            proxy throws in
            for _ in 1...3 { #expect(try proxy.get(origin.url()).status == 503) }
            // The helper hears of the first acceptance, and had heard of nothing before.
            #expect(try proxy.get(origin.url("/well")).status == 200)
            let runs = { try proxy.metric("attache_helper_runs_total{result=\"success\"}") }
            #expect(try Wait.until { try runs() >= 2 })
            #expect(try runs() == 2)
        }
        #expect(Scratch.read(file).contains(Account.user))
    }

    @Test func `64 clients cause one run, and the value is in no list of processes`() throws {
        let script = try HelperScript(
            "until test -e go; do sleep 0.05; done; ps -o args -p $PPID --ppid $PPID >seen; "
                + "printf '\(Account.user)\\n\(Account.password)\\n'")
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        try AttacheProcess.running(Self.rules("helper plain \(script.path)", origin)) { proxy throws in
            let crowd = try Parallel(64, origin.url(), through: proxy)
            #expect(try Wait.until { try proxy.metric("attache_clients_open") >= 64 })
            try Scratch.write("", to: "\(script.folder)/go")
            #expect(crowd.statuses() == Array(repeating: 200, count: 64))
            #expect(script.runs.count == 1)
            #expect(try proxy.get(origin.url()).status == 200)
            #expect(script.runs.count == 1)
        }
        let seen = Scratch.read("\(script.folder)/seen")
        #expect(
            seen.contains("attache run ") && seen.contains(script.path) && !seen.contains(Account.password), "\(seen)")
    }

    @Test func `a helper that fails is not run for each request, and other servers are not hurt`() throws {
        let script = try HelperScript("echo no entry >&2; exit 1")
        let hanging = try HelperScript("tail -f /dev/null")
        let (sentry, other) = (BasicGuard(), BasicGuard())
        let (origin, good) = (try RecordingOrigin.guarded(by: sentry), try RecordingOrigin.guarded(by: other))
        let slow = try RecordingOrigin.guarded(by: BasicGuard())
        let rules = Self.rules(
            "helper plain \(script.path)", origin,
            """
            credential web { user \(Account.user); password file @/password }
            challenge { host 127.0.0.1; port \(good.port); use web }
            credential slow { helper plain \(hanging.path) }
            challenge { host 127.0.0.1; port \(slow.port); use slow }
            timeouts { helper 2s }
            """)
        try AttacheProcess.running(rules) { proxy throws in
            let waiting = try Parallel(8, slow.url(), through: proxy)
            #expect(try Parallel.fetch(15, origin.url(), through: proxy) == Array(repeating: 401, count: 15))
            #expect(script.runs.count <= 2)
            #expect(try proxy.get(good.url()).status == 200)
            #expect(waiting.statuses() == Array(repeating: 401, count: 8))
            #expect(hanging.runs.count == 1)
            for words in ["it failed with status 1: no entry", "it did not end within 2000"] {
                #expect(Wait.until { proxy.accessLog.contains(words) || proxy.errorOutput.contains(words) })
            }
        }
    }

    @Test func `a value that ends is read again before that, and no request is refused`() throws {
        let script = try HelperScript("echo \(Account.password)-$(wc -l <runs)")
        let origin = try RecordingOrigin.answering { request, connection in
            let number = script.runs.count
            let valid = [number, number - 1].map { "Bearer \(Account.password)-\($0)" }
            let isRight = valid.contains(request["Authorization"] ?? "")
            try connection.reply(
                isRight ? "200 OK" : "401 Unauthorized", isRight ? [] : ["WWW-Authenticate: Bearer realm=\"r\""])
        }
        try AttacheProcess.running(Self.rules("helper plain \(script.path); keep 500ms", origin)) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            let before = script.runs.count
            _ = try Wait.until { () throws -> Bool in
                #expect(try proxy.get(origin.url()).status == 200)
                return script.runs.count >= before + 3
            }
            #expect(script.runs.count >= before + 3)
            let asked = origin.messages.count { $0["Authorization"] == nil }
            #expect(asked == 1)
        }
    }

    @Test func `git's helper gets the server and its challenges, and hears of the first acceptance`() throws {
        let script = try HelperScript(
            "cat >>got; test \"$1\" = get && printf 'username=\(Account.user)\\npassword=\(Account.password)\\n'")
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        try AttacheProcess.running(Self.rules("helper git \(script.path)", origin)) { proxy throws in
            for _ in 1...3 { #expect(try proxy.get(origin.url()).status == 200) }
            #expect(
                Wait.until {
                    script.runs.count == 2 && script.read("got").hasSuffix("password=\(Account.password)\n\n")
                })
        }
        #expect(script.runs == ["get", "store"])
        #expect(
            script.read("got") == """
                capability[]=authtype
                capability[]=state
                protocol=http
                host=127.0.0.1:\(origin.port)
                wwwauth[]=basic realm="r"

                protocol=http
                host=127.0.0.1:\(origin.port)
                username=\(Account.user)
                password=\(Account.password)


                """)
    }

    @Test func `a refused value is asked for once more, and another one is another attempt of the request`() throws {
        let wrong = "printf '\(Account.user)\\n\(Account.wrongPassword)\\n'"
        let right = "printf '\(Account.user)\\n\(Account.password)\\n'"
        let script = try HelperScript("if test -e twice; then \(right); else touch twice; \(wrong); fi")
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        try AttacheProcess.running(Self.rules("helper plain \(script.path)", origin)) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            #expect(sentry.refused == 1)
            #expect(script.runs.count == 2)
        }
    }

    @Test func `a preemptive credential of a helper is sent with the first request`() throws {
        let script = try HelperScript("echo \(Account.password)")
        let origin = try RecordingOrigin.answering()
        let rules = """
            credential c { helper plain \(script.path) }
            challenge { host 127.0.0.1; port \(origin.port); method bearer; use c; preempt always }
            """
        try AttacheProcess.running(rules) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            #expect(origin.messages.map { $0["Authorization"] } == ["Bearer \(Account.password)"])
        }
    }
}
