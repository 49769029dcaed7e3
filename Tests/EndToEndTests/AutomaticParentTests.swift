import Foundation
import Synchronization
import TestSupport
import Testing

/// Parents that a PAC file names.
struct AutomaticParentTests {
    /// A parent that wants a password, and says who it is.
    private static func parent(_ name: String, wants credential: Bool = false) throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            if credential, request["Proxy-Authorization"] == nil {
                try connection.reply("407 Proxy Authentication Required", ["Proxy-Authenticate: Basic realm=\"p\""])
            } else {
                try connection.reply("200 OK", [], "by \(name)")
            }
        }
    }

    private static func script(_ lines: String...) -> String {
        "function FindProxyForURL(url, host) {\n\(lines.joined(separator: "\n"))\n}\n"
    }

    private func running(
        _ script: String, parent: String = "", rules: String = "", isConfined: Bool = false,
        _ body: (AttacheProcess) throws -> Void
    ) throws {
        var setting = AttacheProcess.Setting(isConfined: isConfined)
        setting.files["proxy.pac"] = script
        let rules = "parent corp { pac @/proxy.pac; \(parent) }\nroute * { via corp }\n\(rules)"
        try AttacheProcess.running(rules, setting: setting, body)
    }

    @Test func `the script says by host and scheme where a request goes`() throws {
        let (one, two) = (try Self.parent("one"), try Self.parent("two"))
        let origin = try RecordingOrigin.answering { _, connection in try connection.reply("200 OK", [], "itself") }
        let script = Self.script(
            "if (shExpMatch(host, '*.one.test')) return 'PROXY 127.0.0.1:\(one.port)';",
            "if (url.substring(0, 4) == 'ftp:') return 'PROXY 127.0.0.1:\(two.port)';", "return 'DIRECT';")
        try running(script) { proxy throws in
            #expect(try proxy.get("http://a.one.test/").text == "by one")
            #expect(try proxy.get("ftp://a.two.test/x").text == "by two")
            #expect(two.messages.first?.target == "ftp://a.two.test/x")
            #expect(try proxy.get(origin.url("/")).text == "itself")
            #expect(try proxy.get(origin.url("/again")).text == "itself")
            let records = try proxy.records(atLeast: 4)
            let record = try #require(records.first { $0["target"] == "http://a.one.test/" })
            #expect(record["parent"] == "corp 127.0.0.1:\(one.port)")
        }
    }

    @Test func `the script's process may open no more than select can watch`() throws {
        let parent = try Self.parent("one")
        try running(Self.script("return 'PROXY 127.0.0.1:\(parent.port)';")) { proxy throws in
            #expect(try proxy.get("http://a.test/").text == "by one")
            let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(proxy.identifier)/task")
            let children = threads.flatMap { thread in
                Scratch.read("/proc/\(proxy.identifier)/task/\(thread)/children").split(separator: " ")
            }
            let child = try #require(children.first)
            let limits = Scratch.read("/proc/\(child)/limits").split(separator: "\n")
            let line = try #require(limits.first { $0.hasPrefix("Max open files") })
            #expect(
                line.split(separator: " ").dropFirst(3).prefix(2).allSatisfy { (Int($0) ?? .max) <= 1024 }, "\(line)")
        }
    }

    @Test(.enabled(if: Confinement.isPossible, "libseccomp or systemd-analyze is not installed"))
    func `under the filters of the systemd unit the proxy starts the script's process, and again after its end`() throws
    {
        let parent = try Self.parent("one")
        let script = Self.script(
            "if (host == 'bomb.test') for (var a = [];;) a.push(new Array(100000).join('x') + a.length);",
            "return 'PROXY 127.0.0.1:\(parent.port)';")
        try running(script, isConfined: true) { proxy throws in
            #expect(Scratch.read("/proc/\(proxy.identifier)/status").contains("Seccomp:\t2"))
            #expect(try proxy.get("http://a.test/").text == "by one", "\(proxy.errorOutput)")
            #expect(try proxy.get("http://bomb.test/").status == 502)
            #expect(try Wait.until { try proxy.get("http://b.test/").text == "by one" }, "\(proxy.errorOutput)")
        }
    }

    @Test func `the next of a list is asked where the first does not answer`() throws {
        let (dead, good) = (FreePort.take(), try Self.parent("good"))
        let script = Self.script(
            "var ways = 'PROXY 127.0.0.1:\(dead); PROXY 127.0.0.1:\(good.port); DIRECT';",
            "if (host == 'many.test') for (i = 0; i < 5000; i++) ways = ways + '; PROXY 127.0.0.1:' + (i + 1);",
            "return ways;")
        try running(script) { proxy throws in
            #expect(try proxy.get("http://a.test/").text == "by good")
            #expect(try proxy.get("http://many.test/").text == "by good")
        }
    }

    @Test func `only a parent that the rule file names gets a credential`() throws {
        let (named, other) = (try Self.parent("named", wants: true), try Self.parent("other", wants: true))
        let script = Self.script(
            "return host == 'named.test' ? 'PROXY 127.0.0.1:\(named.port)' : 'PROXY 127.0.0.1:\(other.port)';")
        let rules = """
            credential web { user \(Account.user); password file @/password }
            challenge { proxy yes; use web }
            """
        try running(script, parent: "credentials 127.0.0.1:\(named.port)", rules: rules) { proxy throws in
            #expect(try proxy.get("http://named.test/").text == "by named")
            for _ in 1...3 {
                let refused = try proxy.get("http://other.test/")
                #expect(refused.status == 502)
                #expect(refused["Proxy-Status"]?.contains("received-status=407") == true, "\(refused)")
            }
            #expect(!other.requests.isEmpty)
            #expect(other.messages.allSatisfy { $0["Proxy-Authorization"] == nil })
        }
    }

    @Test func `a SOCKS server that only the script names is offered no password`() throws {
        let offers = Mutex<[[UInt8]]>([])
        let socks = try RecordingOrigin { connection in
            let greeting = try connection.wire.read(2)
            let methods = try connection.wire.read(Int(greeting[1]))
            offers.withLock { $0.append(methods) }
            try connection.wire.send([5, 0xFF])
        }
        let rules = """
            credential web { user \(Account.user); password file @/password }
            challenge { proxy yes; use web }
            """
        let script = Self.script("return 'SOCKS5 127.0.0.1:\(socks.port)';")
        for (parent, methods) in [("", [UInt8(0)]), ("credentials 127.0.0.1:\(socks.port)", [0, 2])] {
            offers.withLock { $0 = [] }
            try running(script, parent: parent, rules: rules) { proxy throws in
                #expect(try proxy.get("http://a.test/").status == 502)
                #expect(offers.withLock { $0 } == [methods])
            }
        }
    }

    @Test func `a script that does not end, throws or says nothing useful fails its own requests only`() throws {
        let good = try Self.parent("good")
        let script = Self.script(
            "if (host == 'endless.test') while (true) {}", "if (host == 'thrown.test') return nothing.there;",
            "if (host == 'odd.test') return 'QUIC a:1';", "return 'PROXY 127.0.0.1:\(good.port)';")
        try running(script) { proxy throws in
            for (host, words) in [
                ("odd", "it names none that is understood"), ("thrown", "its script fails"),
                ("endless", "its script does not come to an end"),
            ] {
                let refused = try proxy.get("http://\(host).test/")
                #expect(refused.status == 502)
                #expect(refused.text.contains(words), "\(refused)")
                #expect(refused["Proxy-Status"]?.contains("error=proxy_configuration_error") == true)
            }
            #expect(try proxy.get("http://good.test/").text == "by good")
        }
    }

    @Test func `a file that changed is read again`() throws {
        let (one, two) = (try Self.parent("one"), try Self.parent("two"))
        try running(Self.script("return 'PROXY 127.0.0.1:\(one.port)';")) { proxy throws in
            #expect(try proxy.get("http://a.test/").text == "by one")
            try proxy.replace("proxy.pac", with: Self.script("return 'PROXY 127.0.0.1:\(two.port)';"))
            #expect(try proxy.get("http://b.test/").text == "by two")
        }
    }

    @Test func `requests that PAC files do not cover go directly where the route says so`() throws {
        let origin = try RecordingOrigin.answering { _, connection in try connection.reply("200 OK", [], "itself") }
        try running(Self.script("while (true) {}"), parent: "except 127.0.0.1") { proxy throws in
            #expect(try proxy.get(origin.url("/")).text == "itself")
        }
    }

    @Test func `a file that is no script refuses the start, with its reason`() throws {
        let folder = Scratch.folder("pac")
        try Scratch.write("function FindProxyForURL(", to: folder + "/proxy.pac")
        let text = "listen 127.0.0.1:\(FreePort.take())\nparent corp { pac proxy.pac }\nroute * { via corp }\n"
        for (text, words) in [
            (text, "the PAC file of the parent corp: its script fails ("),
            (text.replacing("proxy.pac", with: "none.pac"), "none.pac cannot be read"),
        ] {
            try Scratch.write(text, to: folder + "/proxy.conf")
            let run = try Finished.run(AttacheBinary.path, ["run", "--config", folder + "/proxy.conf"])
            #expect(run.status == 1, "\(run)")
            #expect(run.errorOutput.contains(words), "\(run)")
            let check = try Finished.run(AttacheBinary.path, ["check", folder + "/proxy.conf"])
            #expect(check.status == 2 && check.errorOutput.contains(words), "\(check)")
        }
    }
}
