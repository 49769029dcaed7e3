import Foundation
import Testing

/// The first minute of a new user: the example rule file, 401 directly, 200 through the proxy.
struct PracticeTests {
    /// A proxy that runs the example with its ports replaced.
    private func running(_ body: (_ proxy: UInt16, _ admin: UInt16, _ rules: String) throws -> Void) throws {
        let folder = Scratch.folder("example")
        let (port, adminPort) = (FreePort.take(), FreePort.take())
        let example = Scratch.read(AttacheBinary.repository + "/proxy.conf.example")
        try #require(example.contains(":3128") && example.contains(":3127"))
        let path = folder + "/proxy.conf"
        try Scratch.write(
            example.replacing(/\b3128\b/, with: "\(port)").replacing(/\b3127\b/, with: "\(adminPort)"), to: path)
        let child = try Subprocess(
            AttacheBinary.path, ["run", "--config", path], environment: ["XDG_STATE_HOME": folder], directory: folder)
        try Socket.awaitListener(on: port, of: child)
        try Socket.awaitListener(on: adminPort, of: child)
        try body(port, adminPort, path)
        child.signal(SIGTERM)
        #expect(child.wait(seconds: 60) == 0, "\(child.errorOutput)")
    }

    @Test func `the example is accepted without a word`() throws {
        let run = try AttacheBinary.run("check", AttacheBinary.repository + "/proxy.conf.example")
        #expect(run.status == 0, "\(run)")
        #expect(run.errorOutput == "")
    }

    @Test(arguments: ["basic", "digest", "digest-sha256"])
    func `the practice origin answers 401 directly and 200 through the proxy`(name: String) throws {
        try running { port, adminPort, _ throws in
            let url = "http://127.0.0.1:\(adminPort)/practice/\(name)"
            let refused = try Curl.fetch(url)
            #expect(refused.status == 401)
            let scheme = name == "basic" ? "Basic " : "Digest "
            #expect(refused["WWW-Authenticate"]?.hasPrefix(scheme) == true)
            for _ in 1...3 {
                let answered = try Curl.fetch(url, ["-x", "http://127.0.0.1:\(port)"])
                #expect(answered.status == 200, "\(answered)")
            }
            #expect(try Curl.fetch(url, ["-u", "nobody:nothing", "--anyauth"]).status == 401)
        }
    }

    @Test func `through the proxy nothing of the admin listener is reached but practice`() throws {
        try running { port, adminPort, _ throws in
            let practice = "/practice/basic"
            for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"] {
                let base = "http://\(host):\(adminPort)"
                // On one connection, behind a page that is allowed.
                for path in ["/metrics", "/healthz", "/readyz", "/", "/practice", "//metrics", "/practice/../metrics"] {
                    let fetched = try Curl.fetch(
                        base + path, ["-x", "http://127.0.0.1:\(port)", "--path-as-is", base + practice])
                    #expect(
                        fetched.status == 403 || fetched.text.contains("there is no such page"),
                        "\(base + path) \(fetched)")
                    #expect(!fetched.text.contains("# TYPE") && !fetched.text.contains("ready\n"), "\(base + path)")
                }
            }
            let answered = try Curl.fetch(
                "http://127.0.0.1:\(adminPort)\(practice)", ["-x", "http://127.0.0.1:\(port)"])
            #expect(answered.status == 200, "\(answered)")
            let tunnel = try Curl.fetch(
                "http://127.0.0.1:\(adminPort)/metrics", ["-p", "-x", "http://127.0.0.1:\(port)"])
            #expect(!tunnel.text.contains("# TYPE"))
        }
    }

    @Test func `health is told, and healthcheck asks`() throws {
        try running { _, adminPort, rules throws in
            for path in ["/healthz", "/readyz"] {
                #expect(try Curl.fetch("http://127.0.0.1:\(adminPort)\(path)").status == 200)
            }
            #expect(try Curl.fetch("http://127.0.0.1:\(adminPort)/nothing").status == 404)
            let asked = try AttacheBinary.run("healthcheck", "--config", rules)
            #expect(asked.succeeded, "\(asked)")
        }
    }

    @Test func `healthcheck fails where nothing listens`() throws {
        let path = Scratch.folder("absent") + "/proxy.conf"
        try Scratch.write("listen 127.0.0.1:\(FreePort.take())\nadmin 127.0.0.1:\(FreePort.take())\n", to: path)
        let asked = try AttacheBinary.run("healthcheck", "--config", path)
        #expect(asked.status == 1)
        #expect(asked.errorOutput.hasPrefix("attache: "))
    }

    @Test func `metrics are served in the form Prometheus reads`() throws {
        try running { port, adminPort, _ throws in
            _ = try Curl.fetch("http://127.0.0.1:\(adminPort)/practice/basic", ["-x", "http://127.0.0.1:\(port)"])
            let page = try Curl.fetch("http://127.0.0.1:\(adminPort)/metrics")
            #expect(page.status == 200)
            #expect(page["Content-Type"]?.hasPrefix("text/plain") == true)
            #expect(page.text.contains("# TYPE attache_"))
        }
    }
}
