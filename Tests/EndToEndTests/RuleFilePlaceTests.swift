import Foundation
import Testing

/// One rule file for each user, and the proxy that runs by it.
struct RuleFilePlaceTests {
    @Test func `a command stops if the running proxy uses another rule file`() throws {
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        let person = try Beginner()
        let begun = try person.begin(origin.url())
        #expect(begun.succeeded, "\(begun)")
        let other = person.folder + "/other.conf"
        try Scratch.write(Scratch.read(person.rules), to: other, mode: 0o600)
        let attache = "'\(AttacheBinary.path)'"
        try person.running(try #require(Beginner.commands(in: begun.output).first)) {
            let commands = [
                "reload", "status", "challenges", "learn", "metrics", "admin token", "credential retry",
                "credential list",
                "ask",
            ]
            for command in commands {
                let refused = try person.shell("\(attache) \(command) --config other.conf")
                #expect(refused.status == 1, "\(refused)")
                let sentence = "attache: the running proxy uses the rule file \(person.rules), not \(other)"
                #expect(refused.errorOutput.contains(sentence), "\(refused)")
                #expect(!refused.output.contains("reloaded"), "\(refused)")
            }
            let implied = try person.shell("cp other.conf proxy.conf; \(attache) reload; rm proxy.conf")
            #expect(implied.errorOutput.contains("the running proxy uses the rule file"), "\(implied)")
            // A link is the same file.
            let linked = try person.shell("ln -s '\(person.rules)' linked.conf; \(attache) reload --config linked.conf")
            #expect(linked.output == "the rule file was reloaded\n", "\(linked)")
            let elsewhere = try person.shell(
                "mkdir deep; cd deep; eval \"$(\(attache) env)\"; \(attache) status > /dev/null; env")
            #expect(elsewhere.output.contains("http_proxy=http://127.0.0.1:\(person.port)\n"), "\(elsewhere)")
        }
    }

    @Test func `variables name the rule file and replace its listener and its log`() throws {
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        var person = try Beginner()
        let begun = try person.begin(origin.url(), "--config", "mine.conf")
        #expect(begun.succeeded, "\(begun)")
        let port = FreePort.take()
        person.environment["ATTACHE_CONFIG"] = person.folder + "/mine.conf"
        person.environment["ATTACHE_LISTEN"] = "127.0.0.1:\(port)"
        person.environment["ATTACHE_LOG"] = "common file \"\(person.folder)/access.log\""
        let proxy = try Subprocess(
            AttacheBinary.path, ["run"], environment: person.environment, directory: person.folder)
        try Socket.awaitListener(on: port, of: proxy)
        let fetched = try person.shell(
            "eval \"$('\(AttacheBinary.path)' env)\"; curl -q -sS --noproxy '' \(origin.url("/seen"))")
        #expect(fetched.output == "ok", "\(fetched)")
        proxy.signal(SIGTERM)
        #expect(proxy.wait(seconds: 60) == 0, "\(proxy.errorOutput)")
        let log = Scratch.read(person.folder + "/access.log")
        #expect(log.contains("/seen HTTP/1.1\" 200"), "\(log)")
        FreePort.release(port)
    }
}
