import Foundation
import TestSupport
import Testing

/// `attache explain` beside a running proxy.
struct ExplainTests {
    private func explain(_ words: String..., of proxy: AttacheProcess) throws -> String {
        let run = try Finished.run(
            AttacheBinary.path, ["explain", "proxy.conf"] + words, directory: proxy.folder, seconds: 20)
        #expect(run.succeeded, "\(run)")
        return run.output
    }

    @Test func `what is refused and what is kept is that of the running proxy`() throws {
        let (named, stored) = (
            try RecordingOrigin.guarded(by: BasicGuard()), try RecordingOrigin.guarded(by: BasicGuard())
        )
        let rules = """
            store sqlite @/kept.db
            credential ci { user \(Account.user); password file @/password }
            challenge "named" { host 127.0.0.1; port \(named.port); failures 0; use ci }
            challenge "over" { host 127.0.0.1; port \(named.port); cancel }
            """
        let setting = AttacheProcess.Setting(files: ["password": Account.wrongPassword + "\n"])
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            _ = proxy.awaitErrorOutput("listening on")
            let before = try explain(named.url(), "--challenge", "Basic realm=\"r\"", of: proxy)
            #expect(before.contains("use ci with Basic") && !before.contains("refused"), "\(before)")
            #expect(try proxy.get(named.url()).status == 502)
            let refused = try explain("--ask", named.url(), of: proxy)
            #expect(refused.contains("asked          the origin answers 401: Basic realm=\"r\""), "\(refused)")
            #expect(refused.contains("ci is unproven since "), "\(refused)")
            #expect(refused.contains("cancel: the client gets a 502 that names this rule, by \"over\""), "\(refused)")
            #expect(named.messages.count { $0["Authorization"] != nil } == 1)

            let none = try explain("--ask", stored.url(), of: proxy)
            #expect(none.contains("nothing is stored for it; try the response's next challenge"), "\(none)")
            try proxy.set(Account.password, for: stored)
            #expect(try Wait.until { try proxy.get(stored.url("/a/b")).status == 200 })
            let kept = try explain("--ask", stored.url("/a/c"), of: proxy)
            let name = "\(Account.user)@127.0.0.1:\(stored.port)"
            #expect(kept.contains("default: \(name), which is stored for it"), "\(kept)")
            #expect(kept.contains("basic realm \"r\" covers the target and has accepted \(name)"), "\(kept)")
        }
    }

    @Test func `asking sends no credential, by whatever rule, and goes where the rules let a client go`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            try connection.reply(
                "401 Unauthorized", ["WWW-Authenticate: Basic realm=\"a\"", "WWW-Authenticate: Bearer realm=\"b\""])
        }
        let rules = """
            credential ci { user \(Account.user); password file @/password }
            credential late { token file @/password }
            challenge { method basic; use ci }
            challenge { method bearer; use late }
            """
        let folder = Scratch.folder("explain")
        try Scratch.write(Account.password, to: folder + "/password", mode: 0o600)
        let text = rules.replacing("@/", with: folder + "/")
        try Scratch.write("egress { allow loopback }\n" + text, to: folder + "/proxy.conf")
        let run = try Finished.run(
            AttacheBinary.path, ["explain", "--ask", origin.url("/x?y=1")], directory: folder, seconds: 20)
        #expect(run.succeeded && run.output.contains("use late with Bearer"), "\(run)")
        #expect(run.output.contains("not known"), "\(run)")
        #expect(origin.messages.map(\.target) == ["/x?y=1"])
        #expect(origin.messages.allSatisfy { $0["Authorization"] == nil && $0["Cookie"] == nil })
        #expect(!(run.output + run.errorOutput).contains(Account.password))

        try Scratch.write(text, to: folder + "/proxy.conf")
        let refused = try Finished.run(
            AttacheBinary.path, ["explain", "--ask", origin.url()], directory: folder, seconds: 20)
        #expect(refused.status == 1, "\(refused)")
        #expect(refused.errorOutput.contains("no response: the rules of this proxy do not let it connect to"))
        #expect(origin.messages.count == 1)
    }

    @Test func `a parent's 407 is explained where it makes the request, and told where it makes a tunnel`() throws {
        let parent = try RecordingOrigin.answering { _, connection in
            try connection.reply("407 Proxy Authentication Required", ["Proxy-Authenticate: Basic realm=\"corp\""])
        }
        let folder = Scratch.folder("explain")
        let text = """
            credential ci { user \(Account.user); password file \(folder)/password }
            parent up { http 127.0.0.1:\(parent.port) }
            egress { allow loopback }
            route * { intercept; via up }
            challenge { proxy yes; method basic; use ci }

            """
        try Scratch.write(Account.password, to: folder + "/password", mode: 0o600)
        try Scratch.write(text, to: folder + "/proxy.conf")
        let ask = { (url: String) in
            try Finished.run(AttacheBinary.path, ["explain", "--ask", url], directory: folder, seconds: 20)
        }
        let relayed = try ask("http://site.test/x")
        #expect(relayed.output.contains("the parent answers 407: Basic realm=\"corp\""), "\(relayed)")
        #expect(relayed.output.contains("use ci with Basic"), "\(relayed)")
        let tunnelled = try ask("https://site.test/x")
        #expect(tunnelled.output.contains("the parent answers 407: Basic realm=\"corp\""), "\(tunnelled)")
        #expect(tunnelled.output.contains("use ci with Basic"), "\(tunnelled)")
        #expect(parent.messages.count == 2)
        #expect(parent.messages.allSatisfy { $0["Proxy-Authorization"] == nil })
    }
}
