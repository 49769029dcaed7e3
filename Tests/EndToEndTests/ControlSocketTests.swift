import Foundation
import TestSupport
import Testing

/// Commands that ask and act on the running proxy through its control socket.
struct ControlSocketTests {
    private static let password = "p4ssword-Of.The~Origin"

    private func attache(_ words: String..., of proxy: AttacheProcess) throws -> Finished {
        // Its control socket is there when it says where it listens.
        _ = proxy.awaitErrorOutput("listening on")
        return try Finished.run(
            AttacheBinary.path, words + ["--config", "proxy.conf"], directory: proxy.folder, seconds: 20)
    }

    /// The control socket exists when the proxy prints its address.
    private func awaitStart(of proxy: Subprocess) -> Bool {
        Wait.until { proxy.errorOutput.contains("listening on") }
    }

    private func origin(realm: String) throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            let token = Data("builder:\(Self.password)".utf8).base64EncodedString()
            guard request["Authorization"] == "Basic \(token)" else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"\(realm)\""])
            }
            try connection.reply(body: "ok")
        }
    }

    private static let credential = "credential ci { user builder; password file @/password }\n"

    @Test func `the lines of a challenge that nobody answered make it 200 when they are pasted`() throws {
        let origin = try origin(realm: "jenkins 7")
        let setting = AttacheProcess.Setting(files: ["password": Self.password + "\n"])
        let rules = Self.credential + "challenge \"build server\" { host 127.0.0.1; realm \"Jenkins*\"; use ci }\n"
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let none = try attache("challenges", of: proxy)
            #expect(none.succeeded && none.output.isEmpty, "\(none)")
            let fetched = try proxy.get(origin.url())
            #expect(fetched.status == 401)
            let sentence = "rule \"build server\" is for realm \"Jenkins*\"; the origin sends \"jenkins 7\""
            #expect(fetched.heads.contains(sentence.replacing("\"", with: "\\\"")), "\(fetched)")
            let table = try attache("challenges", "--unanswered", of: proxy)
            #expect(table.succeeded && table.output.contains(sentence), "\(table)")
            let rule = table.output.split(separator: "\n").first { $0.contains("challenge \"127.0.0.1\"") }
            let line = try #require(rule, "\(table)")
            #expect(proxy.errorOutput.contains("to answer it, add: challenge \"127.0.0.1\""), "\(proxy.errorOutput)")
            // The rule names another realm: whether the credential is meant for this one is the user's word.
            #expect(line.contains("use … }"), "\(line)")
            try proxy.reload(rules + line.replacing("…", with: "ci"))
            #expect(try Wait.until { try proxy.get(origin.url()).status == 200 })
            #expect(try attache("challenges", "--unanswered", of: proxy).output.isEmpty)
            let answered = try attache("challenges", origin.url(), of: proxy)
            #expect(answered.output.contains("credential ci by rule \"127.0.0.1\""), "\(answered)")
            #expect(try attache("challenges", "http://elsewhere.test/", of: proxy).output.isEmpty)
            let json = try attache("challenges", "--json", of: proxy)
            let document = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
            let entries = document?["challenges"] as? [[String: Any]]
            #expect(entries?.first?["outcome"] as? String == "answered", "\(json)")
            #expect(entries?.first?["count"] as? Int ?? 0 >= 2, "\(json)")
        }
    }

    @Test func `a stored default that is refused says so with every request, and another value opens`() throws {
        let origin = try origin(realm: "x")
        try AttacheProcess.running("store sqlite @/kept.db") { proxy throws in
            let set = { (password: String) in
                try Scratch.write(password, to: proxy.folder + "/given", mode: 0o600)
                return try Finished.run(
                    AttacheBinary.path, ["credential", "set", origin.url(), "builder", "--realm", "x"],
                    directory: proxy.folder, input: proxy.folder + "/given", seconds: 20)
            }
            let name = "builder@127.0.0.1:\(origin.port)"
            #expect(try set("wrong").succeeded)
            #expect(try Wait.until { try proxy.get(origin.url()).heads.contains("credential \(name) was refused") })
            let again = try proxy.get(origin.url())
            #expect(again.status == 401 && again.heads.contains("Proxy-Status: attache; details=\"credential \(name) "))
            #expect(origin.messages.count { $0["Authorization"] != nil } == 1)
            let table = try attache("challenges", "--unanswered", of: proxy)
            #expect(table.output.contains("credential \(name) "), "\(table)")
            #expect(try proxy.records().last?["details"] as? String ?? "" != "", "\(proxy.accessLog)")
            #expect(try set(Self.password).succeeded)
            #expect(try Wait.until { try proxy.get(origin.url()).status == 200 })
        }
    }

    @Test func `a refused credential is listed and lifted, with its password as it is`() throws {
        let origin = try origin(realm: "x")
        let setting = AttacheProcess.Setting(files: ["password": "wrong\n"])
        let rules = Self.credential + "challenge { host 127.0.0.1; use ci }\n"
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 401)
            #expect(try proxy.get(origin.url()).status == 401)
            let sent = { origin.messages.count { $0["Authorization"] != nil } }
            #expect(sent() == 1)
            let list = try attache("credential", "list", of: proxy)
            #expect(list.succeeded && list.output.hasPrefix("unproven    ci  rule file  file "), "\(list)")
            #expect(list.output.contains("    http://127.0.0.1:\(origin.port): refused 20"), "\(list)")
            #expect(list.output.hasSuffix("/password, or run 'attache credential retry ci'\n"), "\(list)")
            let json = try attache("credential", "list", "--json", of: proxy)
            #expect(
                json.output.hasPrefix(
                    "{\"version\":1,\"credentials\":[{\"credential\":\"ci\",\"source\":\"rule file\""), "\(json)")
            let status = try attache("status", of: proxy)
            #expect(status.output.contains("credentials: 1 unproven, see 'attache credential list'\n"), "\(status)")
            let challenges = try attache("challenges", origin.url(), of: proxy)
            #expect(challenges.output.contains("or run 'attache credential retry ci'\n"), "\(challenges)")
            let other = try attache("credential", "retry", origin.url(), "somebody", of: proxy)
            #expect(other.succeeded && other.output.isEmpty, "\(other)")
            #expect(other.errorOutput.contains("somebody is not on hold at http://127.0.0.1:"), "\(other)")
            let elsewhere = try attache("credential", "retry", "http://elsewhere.test/", of: proxy)
            let nothing = "no credential is on hold at http://elsewhere.test:80;"
            #expect(elsewhere.errorOutput.contains(nothing), "\(elsewhere)")
            let retry = try attache("credential", "retry", origin.url(), "ci", of: proxy)
            #expect(retry.succeeded && retry.output == "ci is sent again from now on\n", "\(retry)")
            #expect(try proxy.get(origin.url()).status == 401)
            #expect(sent() == 2)
        }
    }

    @Test func `a refusal that is lifted without a running proxy is lifted in the store`() throws {
        let origin = try origin(realm: "x")
        let store = "store sqlite \(Scratch.folder("store"))/kept.db\n"
        let setting = AttacheProcess.Setting(files: ["password": "wrong\n"])
        let rules = store + Self.credential + "challenge { host 127.0.0.1; use ci }\n"
        let sent = { origin.messages.count { $0["Authorization"] != nil } }
        let folder = try AttacheProcess.running(rules, setting: setting) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 401)
            let other = try AttacheProcess.running(rules, setting: setting) { replica throws in
                #expect(try replica.get(origin.url()).status == 401)
                #expect(sent() == 1, "the refusal is known to the other")
                let retry = try attache("credential", "retry", of: proxy)
                #expect(retry.succeeded && !retry.output.isEmpty, "\(retry)")
                #expect(try Wait.until { try replica.get(origin.url()).status == 401 && sent() == 2 })
                return replica.folder
            }
            #expect(!FileManager.default.fileExists(atPath: other + "/control"))
            return proxy.folder
        }
        let run = try Finished.run(
            AttacheBinary.path, ["credential", "retry", "--config", "proxy.conf"], directory: folder, seconds: 20)
        #expect(run.succeeded && run.output == "ci is sent again from now on\n", "\(run)")
        let list = try Finished.run(
            AttacheBinary.path, ["credential", "list", "--config", "proxy.conf"], directory: folder, seconds: 20)
        #expect(list.succeeded && list.output.hasPrefix("unknown    ci  rule file"), "\(list)")
    }

    @Test func `the socket is its user's alone, gone after a stop, and a stale one is replaced`() throws {
        let folder = Scratch.folder("state")
        let path = folder + "/control"
        let port = FreePort.take()
        defer { FreePort.release(port) }
        try Scratch.write("listen 127.0.0.1:\(port)\nstate \(folder)\nlog off\n", to: folder + "/proxy.conf")
        let command = { try Finished.run(AttacheBinary.path, ["challenges"], directory: folder, seconds: 20) }
        let run = { try Subprocess(AttacheBinary.path, ["run"], directory: folder) }
        let mode = {
            (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
        }

        let crashed = try run()
        #expect(awaitStart(of: crashed))
        #expect(mode() == 0o600)
        _ = crashed.kill()
        #expect(mode() == 0o600, "a crash leaves it")
        let absent = try command()
        #expect(absent.status == 1)
        #expect(
            absent.errorOutput
                == "attache: no proxy is running on \(path): start it with 'attache run', or name its rule file by --config\n",
            "\(absent)"
        )

        let running = try run()
        #expect(awaitStart(of: running))
        #expect(try command().succeeded)
        running.signal(SIGTERM)
        #expect(running.wait(seconds: 60) == 0)
        #expect(mode() == nil, "a stop takes it away")
    }

    @Test func `of two proxies with one directory the second names the first, and serves`() throws {
        try AttacheProcess.running { first throws in
            #expect(first.awaitErrorOutput("listening on"))
            let port = FreePort.take()
            defer { FreePort.release(port) }
            let folder = Scratch.folder("second")
            try Scratch.write(
                "listen 127.0.0.1:\(port)\nstate \(first.folder)\nlog off\n", to: folder + "/proxy.conf")
            let second = try Subprocess(AttacheBinary.path, ["run"], directory: folder)
            #expect(awaitStart(of: second))
            #expect(
                second.errorOutput.contains(
                    "process \(first.identifier) uses the control socket \(first.folder)/control, so this proxy has none"
                ),
                "\(second.errorOutput)")
            second.signal(SIGTERM)
            #expect(second.wait(seconds: 60) == 0)
            #expect(try attache("challenges", of: first).succeeded, "the first still has its socket")
        }
    }

    @Test func `a state directory that others may write to is refused, with the command that mends it`() throws {
        let folder = Scratch.folder("open")
        let state = folder + "/state"
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        #expect(chmod(state, 0o777) == 0)
        let port = FreePort.take()
        defer { FreePort.release(port) }
        try Scratch.write("listen 127.0.0.1:\(port)\nstate \(state)\nlog off\n", to: folder + "/proxy.conf")
        for words in [["run"], ["challenges"]] {
            let refused = try Finished.run(AttacheBinary.path, words, directory: folder, seconds: 20)
            #expect(!refused.succeeded && refused.errorOutput.contains("run 'chmod o-w \(state)'"), "\(refused)")
        }
        #expect(chmod(state, 0o775) == 0)
        let running = try Subprocess(AttacheBinary.path, ["run"], directory: folder)
        #expect(awaitStart(of: running))
        running.signal(SIGTERM)
        #expect(running.wait(seconds: 60) == 0)
    }

    /// The test needs root, who can listen as another user.
    @Test(.enabled(if: geteuid() == 0))
    func `a command sends nothing to a socket of another user`() throws {
        let folder = Scratch.folder("foreign")
        try Scratch.write("listen 127.0.0.1:1\nstate \(folder)\nlog off\n", to: folder + "/proxy.conf")
        let script = """
            import os, socket
            listener = socket.socket(socket.AF_UNIX)
            listener.bind("\(folder)/control")
            os.setuid(65534)
            listener.listen()
            print("listening", flush=True)
            taken, _ = listener.accept()
            listener.close()
            print(len(taken.recv(1000)), flush=True)
            """
        let impostor = try Subprocess("python3", ["-c", script])
        #expect(Wait.until { impostor.output.contains("listening") })
        let command = try Finished.run(AttacheBinary.path, ["challenges"], directory: folder, seconds: 20)
        #expect(!command.succeeded && command.errorOutput.contains("belongs to user 65534"), "\(command)")
        #expect(impostor.wait(seconds: 60) == 0)
        #expect(impostor.output == "listening\n0\n")
    }

    @Test func `a directory too deep for a socket is one clear sentence`() throws {
        let folder = Scratch.folder("state")
        let deep = folder + "/" + String(repeating: "d", count: 120)
        let port = FreePort.take()
        defer { FreePort.release(port) }
        try Scratch.write("listen 127.0.0.1:\(port)\nstate \(deep)\nlog off\n", to: folder + "/proxy.conf")
        let running = try Subprocess(AttacheBinary.path, ["run"], directory: folder)
        #expect(awaitStart(of: running))
        let sentence =
            "the path of the control socket \(deep)/control is longer than 107 bytes; write a shorter "
            + "directory in 'state'"
        #expect(running.errorOutput.contains(sentence), "\(running.errorOutput)")
        let command = try Finished.run(AttacheBinary.path, ["challenges"], directory: folder, seconds: 20)
        #expect(command.errorOutput == "attache: \(sentence)\n", "\(command)")
        running.signal(SIGTERM)
        #expect(running.wait(seconds: 60) == 0)
    }

    @Test func `a reload by command waits for what comes of it, and the status tells of it afterwards`() throws {
        let origin = try origin(realm: "x")
        let setting = AttacheProcess.Setting(files: ["password": Self.password + "\n"])
        try AttacheProcess.running(Self.credential, setting: setting) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 401)
            let path = proxy.folder + "/proxy.conf"
            let old = try String(contentsOfFile: path, encoding: .utf8)
            try Scratch.write(old + "challenge { host 127.0.0.1; use ci }\n", to: path)
            let reloaded = try attache("reload", of: proxy)
            #expect(reloaded.succeeded && reloaded.output == "the rule file was reloaded\n", "\(reloaded)")
            #expect(try proxy.get(origin.url()).status == 200)

            // An error in the file is found before the proxy is asked; errors that the proxy finds later are printed
            // too.
            try Scratch.write(old + "chalenge { }\n", to: path)
            let wrong = try attache("reload", of: proxy)
            #expect(wrong.status == 2 && wrong.errorOutput.contains("did you mean 'challenge'"), "\(wrong)")
            // An operator asks when something is wrong.
            for command in ["status", "challenges"] {
                let asked = try attache(command, of: proxy)
                #expect(asked.succeeded && !asked.output.isEmpty, "\(asked)")
                #expect(asked.errorOutput.contains("uses the rules that it read before"), "\(asked)")
            }
            try Scratch.write(old + "credential c { certificate missing.pem; key missing.key }\n", to: path)
            let rejected = try attache("reload", of: proxy)
            #expect(rejected.status == 1, "\(rejected)")
            #expect(rejected.errorOutput.contains("the old rules stay in force: a certificate"), "\(rejected)")
            #expect(try proxy.get(origin.url()).status == 200)

            let status = try attache("status", of: proxy)
            #expect(status.succeeded, "\(status)")
            for line in ["listening on 127.0.0.1:\(proxy.port)", "1 challenge rule", "a newer rule file was rejected"] {
                #expect(status.output.contains(line), "\(status)")
            }
            #expect(proxy.readiness.contains("ready, but a newer rule file was rejected"), "\(proxy.readiness)")
            #expect(try proxy.metric("attache_rules_reload_failed") == 1)

            try Scratch.write(old, to: path)
            #expect(try attache("reload", of: proxy).succeeded)
            #expect(try !attache("status", of: proxy).output.contains("rejected"))
            #expect(try proxy.metric("attache_rules_reload_failed") == 0)
        }
        let none = Scratch.folder("none")
        try Scratch.write("state \(none)\n", to: none + "/proxy.conf")
        for command in ["reload", "status"] {
            let run = try Finished.run(
                AttacheBinary.path, [command, "--config", "proxy.conf"], directory: none, seconds: 20)
            #expect(run.status == 1 && run.errorOutput.contains("no proxy is running on"), "\(run)")
        }
    }

    @Test func `a reload tries refused credentials again if it is told to, and one by a signal does not`() throws {
        let origin = try origin(realm: "x")
        let setting = AttacheProcess.Setting(files: ["password": "wrong\n"])
        let rules = Self.credential + "challenge { host 127.0.0.1; use ci }\n"
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let sent = { origin.messages.count { $0["Authorization"] != nil } }
            #expect(try proxy.get(origin.url()).status == 401)
            try proxy.reload(rules)
            #expect(proxy.awaitErrorOutput("the rule file was reloaded"))
            #expect(try proxy.get(origin.url()).status == 401)
            let reloaded = try attache("reload", of: proxy)
            #expect(reloaded.succeeded && reloaded.output == "the rule file was reloaded\n", "\(reloaded)")
            #expect(try proxy.get(origin.url()).status == 401)
            #expect(sent() == 1)
            let retried = try attache("reload", "--retry", of: proxy)
            let sentence = "the rule file was reloaded\n1 refused credential is sent again\n"
            #expect(retried.succeeded && retried.output == sentence, "\(retried)")
            #expect(try !attache("credential", "list", of: proxy).output.contains("unproven"))
            #expect(try proxy.get(origin.url()).status == 401)
            #expect(sent() == 2)
            #expect(try proxy.events().contains { $0["event"] == "credential.lifted" && $0["by"] == "command" })
            // A file that is not put to use lifts nothing.
            let path = proxy.folder + "/proxy.conf"
            let old = try String(contentsOfFile: path, encoding: .utf8)
            try Scratch.write(old + "credential c { certificate missing.pem; key missing.key }\n", to: path)
            #expect(try attache("reload", "--retry", of: proxy).status == 1)
            #expect(try proxy.get(origin.url()).status == 401)
            #expect(sent() == 2)
        }
        try AttacheProcess.running(Self.credential) { proxy throws in
            let none = try attache("reload", "--retry", of: proxy)
            #expect(none.output == "the rule file was reloaded\nno credential was on hold\n", "\(none)")
        }
    }

    @Test func `with '--watch' a rule file that has changed is read, as is one that it includes`() throws {
        let origin = try origin(realm: "x")
        let setting = AttacheProcess.Setting(
            files: ["password": Self.password + "\n", "more.conf": "# nothing yet\n"], options: ["--watch"])
        try AttacheProcess.running(Self.credential + "include more.conf", setting: setting) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 401)
            try proxy.replace("more.conf", with: "challenge { host 127.0.0.1; use ci }\n")
            #expect(try Wait.until { try proxy.get(origin.url()).status == 200 })
            try proxy.replace("more.conf", with: "chalenge { }\n")
            #expect(proxy.awaitErrorOutput("the old rules stay in force"))
            #expect(try proxy.get(origin.url()).status == 200)
            try proxy.replace("more.conf", with: "# nothing again\n")
            #expect(try Wait.until { try proxy.get(origin.url()).status == 401 })
            #expect(try proxy.events().contains { $0["event"] == "rules.reloaded" && $0["by"] == "file" })
        }
    }
}
