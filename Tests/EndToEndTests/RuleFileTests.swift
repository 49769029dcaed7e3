import Foundation
import TestSupport
import Testing

/// Start and reload: a rule file that is wrong is refused whole, with everything that is wrong with it.
struct RuleFileTests {
    private func write(_ text: String) throws -> String {
        let path = Scratch.folder("rules") + "/proxy.conf"
        try Scratch.write(text, to: path)
        return path
    }

    private static let broken = """
        listen 127.0.0.1:0x
        challange { use nobody }
        limits { head lots }
        log rainbow

        """

    @Test(arguments: [["run", "--config"], ["check"]])
    func `every error of a broken rule file is shown, with exit 2`(command: [String]) throws {
        let path = try write(Self.broken)
        let run = try Finished.run(AttacheBinary.path, command + [path], seconds: 20)
        #expect(run.status == 2)
        let text = run.errorOutput + (command == ["check"] ? run.output : "")
        for line in ["proxy.conf:1:", "proxy.conf:2:", "proxy.conf:3:", "proxy.conf:4:"] {
            #expect(text.contains(line), "\(text)")
        }
        #expect(text.contains("challenge"), "no \"did you mean\": \(text)")
        #expect(text.contains("^"))
    }

    @Test func `a rule file that is not there is one sentence and exit 2`() throws {
        let run = try AttacheBinary.run("run", "--config", "/nonexistent/proxy.conf")
        #expect(run.status == 2)
        #expect(run.errorOutput.hasPrefix("attache: "))
        #expect(run.errorOutput.contains("/nonexistent/proxy.conf"))
        #expect(run.errorOutput.split(separator: "\n").count == 1, "\(run)")
    }

    @Test func `a reload applies new rules`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            try proxy.reload("route 127.0.0.1 { deny }")
            let isApplied = try Wait.until { try proxy.get(origin.url()).status == 403 }
            #expect(isApplied, "\(proxy.errorOutput)")
        }
    }

    @Test func `a reload with a broken file keeps the running rules and says so`() throws {
        let apache = try ApacheServer.shared()
        try AttacheProcess.answering(apache.port) { proxy throws in
            #expect(try proxy.get(apache.url("/basic/")).status == 200)
            try proxy.reload("challange { use nobody }\nroute 127.0.0.1 { deny }")
            #expect(proxy.awaitErrorOutput("challange"))
            #expect(proxy.awaitErrorOutput("not reloaded"), "\(proxy.errorOutput)")
            #expect(try proxy.get(apache.url("/digest/")).status == 200)
            #expect(proxy.isRunning)
        }
    }

    @Test func `a reload loses no request in flight`() throws {
        let gate = Gate()
        let origin = try RecordingOrigin.answering { request, connection in
            if request.target == "/held" { gate.wait() }
            try connection.reply(body: "ok")
        }
        try AttacheProcess.running { proxy throws in
            let held = try Subprocess("curl", ["-q", "-sS", "-m", "120", "-x", proxy.address, origin.url("/held")])
            let isHeld = Wait.until { origin.messages.contains { $0.target == "/held" } }
            #expect(isHeld)
            try proxy.reload("route 127.0.0.1 { deny }")
            let isApplied = try Wait.until { try proxy.get(origin.url()).status == 403 }
            #expect(isApplied)
            gate.open()
            #expect(held.wait(seconds: 60) == 0)
            #expect(held.output == "ok")
        }
    }

    @Test func `an included file is read, and its errors name it`() throws {
        let path = try write("listen 127.0.0.1:1\ninclude more.conf\n")
        let included = URL(fileURLWithPath: path).deletingLastPathComponent().path + "/more.conf"
        try Scratch.write("route a.test { deny }\n", to: included)
        #expect(try AttacheBinary.run("check", path).status == 0)
        try Scratch.write("\nroute a.test { denny }\n", to: included)
        let run = try AttacheBinary.run("check", path)
        #expect(run.status == 2)
        #expect((run.errorOutput + run.output).contains("more.conf:2:"))
    }

    /// It may refuse the start or fail the request, but either names the credential and the path.
    @Test func `a secret file that cannot be read names credential and path`() throws {
        let apache = try ApacheServer.shared()
        let folder = Scratch.folder("secret")
        let port = FreePort.take()
        let rules = """
            credential builder { user \(Account.user); password file \(folder)/gone }
            challenge { host 127.0.0.1; use builder }
            """
        let text = AttacheProcess.ruleFile(rules, .init(), port: port, adminPort: FreePort.take(), folder: folder)
        try Scratch.write(text, to: folder + "/proxy.conf")
        let child = try Subprocess(AttacheBinary.path, ["run", "--config", folder + "/proxy.conf"])
        let isNamed = try Wait.until {
            if child.isRunning {
                let answered = try Curl.fetch(apache.url("/basic/"), ["-x", "http://127.0.0.1:\(port)"])
                #expect([0, 401, 502].contains(answered.status), "\(answered)")
            }
            return child.errorOutput.contains("builder") && child.errorOutput.contains("\(folder)/gone")
        }
        #expect(isNamed, "\(child.errorOutput)")
    }

    @Test func `a port in use is one sentence and exit 1`() throws {
        let folder = Scratch.folder("taken")
        let port = FreePort.take()
        let taken = Wire(takingOwnershipOf: try Socket.listen(on: port))
        defer { taken.close() }
        let text = AttacheProcess.ruleFile("", .init(), port: port, adminPort: FreePort.take(), folder: folder)
        try Scratch.write(text, to: folder + "/proxy.conf")
        let run = try AttacheBinary.run("run", "--config", folder + "/proxy.conf")
        #expect(run.status == 1, "\(run)")
        let complaint = run.errorOutput.split(separator: "\n").filter { $0.contains("\(port)") }
        #expect(complaint.count == 1)
        #expect(complaint.first?.hasPrefix("attache: ") == true)
    }
}
