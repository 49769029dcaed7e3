import Foundation
import Testing

/// Tools with an `http` URL, at an origin that speaks https only and asks for Basic and Digest: they need neither a
/// certificate nor a password.
struct UpgradedClientTests {
    private static let rules = """
        credential web { user \(Account.user); password file @/password }
        challenge { host \(ApacheServer.secureHost); secure yes; use web }

        """

    private func upgrading(_ body: (AttacheProcess, _ origin: String) throws -> Void) throws {
        let origin = "http://\(ApacheServer.secureHost):\(try ApacheServer.shared().securePorts.three)"
        try AttacheProcess.visitingZoo(Self.rules) { proxy throws in try body(proxy, origin) }
    }

    @Test(arguments: ["basic", "digest", "steady", "multi"])
    func `curl`(name: String) throws {
        try upgrading { proxy, origin throws in
            let urls = (1...3).map { "\(origin)/\(name)/?\($0)" }
            let run = try Finished.run("curl", ["-q", "-sS"] + urls, environment: ["http_proxy": proxy.address])
            #expect(run.output == String(repeating: "this is \(name)\n", count: 3), "\(run)")
        }
    }

    @Test func `git clones with Basic`() throws {
        let name = ApacheServer.mark()
        _ = try GitRepository(name, at: ApacheServer.shared())
        try upgrading { proxy, origin throws in
            let folder = Scratch.folder("clone")
            let run = try GitRepository.git(
                ["-c", "http.proxy=\(proxy.address)", "clone", "-q", "\(origin)/git/\(name)", "copy"],
                directory: folder)
            #expect(run.succeeded, "\(run)")
            #expect(Scratch.read(folder + "/copy/file") == GitRepository.text)
        }
    }

    @Test func `pip downloads with Digest`() throws {
        let name = ApacheServer.mark()
        _ = try PythonIndex(name, at: ApacheServer.shared())
        try upgrading { proxy, origin throws in
            let folder = Scratch.folder("pip")
            let options = [
                "--isolated", "--disable-pip-version-check", "--no-cache-dir", "--no-input", "--retries", "0",
                "--no-deps", "--proxy", proxy.address, "--trusted-host", ApacheServer.secureHost,
                "--index-url", "\(origin)/pip/\(name)/",
            ]
            let run = try Finished.run(
                "python3", ["-m", "pip", "download", "-d", folder] + options + ["attache-sample"])
            #expect(run.succeeded, "\(run)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
        }
    }

    @Test(arguments: ["wget", "busybox"])
    func `wget`(program: String) throws {
        try upgrading { proxy, origin throws in
            let options = program == "wget" ? ["--no-config"] : ["wget"]
            let run = try Finished.run(
                program, options + ["-q", "-O", "-", "\(origin)/digest/"], environment: ["http_proxy": proxy.address])
            #expect(run.output == "this is digest\n", "\(run)")
        }
    }

    @Test func `a WebSocket opens`() throws {
        let origin = try RecordingOrigin { connection in
            guard let request = try connection.request(), request["Upgrade"] == "websocket" else { return }
            try connection.wire.send(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst ")
            let received = try connection.wire.read(6)
            try connection.wire.send(received + Array(" last".utf8))
        }
        let front = try TLSFront(to: origin.port)
        try AttacheProcess.visitingZoo { proxy throws in
            let wire = try proxy.connect()
            let fields = "Host: \(front.authority)\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
            try wire.send("GET http://\(front.authority)/socket HTTP/1.1\r\n\(fields)")
            #expect(try wire.readHead()?.status == 101)
            #expect(String(decoding: try wire.read(6), as: UTF8.self) == "first ")
            try wire.send("middle")
            #expect(String(decoding: try wire.read(11), as: UTF8.self) == "middle last")
        }
    }
}
