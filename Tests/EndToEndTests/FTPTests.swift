import Foundation
import TestSupport
import Testing

/// ftp URLs, as clients ask a proxy for them, against vsftpd.
struct FTPTests {
    private func serving(
        _ rules: String? = nil, setting: AttacheProcess.Setting = .init(),
        _ body: (AttacheProcess, VsftpdServer) throws -> Void
    ) throws {
        let server = try VsftpdServer.shared()
        try AttacheProcess.running(rules ?? server.rule(), setting: setting) { proxy throws in
            try body(proxy, server)
        }
    }

    // MARK: Files

    @Test func `curl gets a file with the login of a rule`() throws {
        try serving { proxy, server throws in
            let fetched = try proxy.get(server.url("/pub/hello.txt"))
            #expect(fetched.status == 200, "\(fetched)")
            #expect(fetched.text == "hello, ftp\n")
            #expect(fetched["Content-Type"] == "text/plain")
            #expect(fetched["Content-Length"] == "11")
            #expect(fetched["Last-Modified"]?.hasSuffix(" GMT") == true)
            let record = try #require(try proxy.records().first)
            #expect(record["target"] == server.url("/pub/hello.txt"))
            #expect(record["credential"] == "files")
            #expect(record["scheme"] == "basic")
        }
    }

    @Test func `wget gets a file, in the same words as from an FTP server`() throws {
        try serving { proxy, server throws in
            let path = "\(Scratch.root)/wget.\(UUID().uuidString)"
            let run = try Finished.run(
                "wget", ["-q", "-O", path, server.url("/pub/hello.txt")], environment: ["ftp_proxy": proxy.address])
            #expect(run.succeeded, "\(run)")
            #expect(Scratch.read(path) == "hello, ftp\n")
        }
    }

    @Test func `a part, a head and what has not changed are told as of any file`() throws {
        try serving { proxy, server throws in
            let url = server.url("/pub/hello.txt")
            let part = try proxy.get(url, "-r", "7-9")
            #expect(part.status == 206)
            #expect(part.text == "ftp")
            #expect(part["Content-Range"] == "bytes 7-9/11")
            #expect(try proxy.get(url, "-r", "-4").text == "ftp\n")
            let beyond = try proxy.get(url, "-r", "11-")
            #expect(beyond.status == 416)
            #expect(beyond["Content-Range"] == "bytes */11")
            let head = try proxy.get(url, "-I")
            #expect(head.status == 200)
            #expect(head["Content-Length"] == "11")
            let modified = try #require(head["Last-Modified"])
            #expect(try proxy.get(url, "-H", "If-Modified-Since: \(modified)").status == 304)
            #expect(try proxy.get(url, "-r", "0-1", "-H", "If-Range: \(modified)").text == "he")
            #expect(try proxy.get(url, "-r", "0-1", "-H", "If-Range: \"other\"").text == "hello, ftp\n")
            #expect(try proxy.get(server.url("/pub/empty")).text.isEmpty)
        }
    }

    @Test func `a missing file is a 404, and other methods are refused`() throws {
        try serving { proxy, server throws in
            let missing = try proxy.get(server.url("/pub/missing"))
            #expect(missing.status == 404)
            #expect(missing.text.hasPrefix("the FTP server says: 550 "))
            #expect(try proxy.get(server.url("/nowhere/x")).status == 404)
            let deleted = try proxy.get(server.url("/pub/hello.txt"), "-X", "DELETE")
            #expect(deleted.status == 405)
            #expect(deleted["Allow"] == "GET, HEAD, PUT")
            #expect(try proxy.get(server.url("/pub/%0D%0ADELE%20hello.txt")).status == 400)
            #expect(server.count(of: "DELE") == 0)
        }
    }

    @Test func `a directory is a text, or a page for who asks for one`() throws {
        try serving { proxy, server throws in
            let text = try proxy.get(server.url("/pub/"))
            #expect(text["Content-Type"] == "text/plain; charset=utf-8")
            #expect(text.text.contains(" hello.txt\n"))
            let page = try proxy.get(server.url("/pub/"), "-H", "Accept: text/html,*/*;q=0.8")
            #expect(page["Content-Type"] == "text/html; charset=utf-8")
            #expect(page.text.contains("<a href=\"../\">../</a>"))
            #expect(page.text.contains("<a href=\"./hello.txt\">hello.txt</a>"))
            #expect(page.text.contains("<a href=\"./%3cb%3e%20%26%20c/\">&lt;b&gt; &amp; c/</a>"))
            #expect(!page.text.contains("<b>"))
            let inside = try proxy.get(server.url("/pub/%3cb%3e%20%26%20c/x%3ay%25.txt"))
            #expect(inside.text == "odd\n")
            let moved = try proxy.get(server.url("/pub"))
            #expect(moved.status == 301)
            #expect(moved["Location"] == "./pub/")
        }
    }

    // MARK: Uploads and bulk

    @Test func `a file is stored, anew or over another, with and without a length`() throws {
        try serving { proxy, server throws in
            let small = try Payload.file(bytes: 20_000)
            #expect(try proxy.get(server.url("/up/small"), "-T", small).status == 201)
            #expect(Scratch.bytes(server.root + "/up/small") == Scratch.bytes(small))
            let large = try Payload.file(bytes: 3_000_000)
            let again = try proxy.get(server.url("/up/small"), "-T", large, "-H", "Transfer-Encoding: chunked")
            #expect(again.status == 204)
            #expect(Scratch.bytes(server.root + "/up/small") == Scratch.bytes(large))
            #expect(try proxy.get(server.url("/up/none"), "-T", "/dev/null").status == 201)
            #expect(Scratch.bytes(server.root + "/up/none").isEmpty)
            #expect(try proxy.get(server.url("/pub/"), "-X", "PUT", "-d", "x").status == 405)
            #expect(try proxy.get(server.url("/missing/x"), "-T", small).status == 403)
        }
    }

    @Test func `32 MiB go down and up again, and stay in neither memory`() throws {
        try serving(setting: .init(threads: 1)) { proxy, server throws in
            let bulk = try Payload.file(bytes: 32 << 20)
            #expect(try proxy.get(server.url("/up/warm"), "-T", try Payload.file(bytes: 3_000_000)).status == 201)
            let before = try Self.peakMemory(of: proxy)
            #expect(try proxy.get(server.url("/up/bulk"), "-T", bulk).status == 201)
            #expect(Scratch.bytes(server.root + "/up/bulk") == Scratch.bytes(bulk))
            let path = "\(Scratch.root)/bulk.\(UUID().uuidString)"
            let run = try Finished.run("curl", ["-q", "-sS", "-x", proxy.address, "-o", path, server.url("/up/bulk")])
            #expect(run.succeeded, "\(run)")
            #expect(Scratch.bytes(path) == Scratch.bytes(bulk))
            unlink(path)
            let grown = try Self.peakMemory(of: proxy) - before
            #expect(grown < 8 << 10, "\(grown) KiB more")
        }
    }

    @Test func `a client that goes away ends the transfer`() throws {
        try serving { proxy, server throws in
            let bulk = try Payload.file(bytes: 32 << 20)
            #expect(try proxy.get(server.url("/up/left"), "-T", bulk).status == 201)
            let before = server.count(of: "FAIL DOWNLOAD", "/up/left")
            let wire = try proxy.connect()
            let url = server.url("/up/left")
            try wire.send("GET \(url) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            #expect(try wire.readHead()?.status == 200)
            wire.close()
            #expect(Wait.until { server.count(of: "FAIL DOWNLOAD", "/up/left") > before })
        }
    }

    // MARK: Logins

    @Test func `without a login the client is asked for one, and may bring its own`() throws {
        try serving("") { proxy, server throws in
            let asked = try proxy.get(server.url("/pub/hello.txt"))
            #expect(asked.status == 401)
            #expect(asked["WWW-Authenticate"] == "Basic realm=\"FTP\", charset=\"UTF-8\"")
            let user = "\(VsftpdServer.user):\(Account.password)"
            #expect(try proxy.get(server.url("/pub/hello.txt"), "-u", user).text == "hello, ftp\n")
            let other = "\(VsftpdServer.user):\(Account.wrongPassword)"
            let wrong = try proxy.get(server.url("/pub/hello.txt"), "-u", other)
            #expect(wrong.status == 401)
            #expect(wrong.text == "the FTP server refused the login: 530 Login incorrect.\n")
        }
    }

    @Test func `a login in the URL is used`() throws {
        try serving("") { proxy, server throws in
            let password = Account.password.replacing("/", with: "%2F")
            let place = "\(VsftpdServer.user):\(password)@127.0.0.1:\(server.port)"
            let answer = try proxy.exchange(
                "GET ftp://\(place)/pub/hello.txt HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            #expect(answer.status == 200)
        }
    }

    @Test func `a wrong password is sent once, until the file changes`() throws {
        let server = try VsftpdServer(as: nil)
        let setting = AttacheProcess.Setting(files: ["password": Account.wrongPassword + "\n"])
        try AttacheProcess.running(server.rule(), setting: setting) { proxy throws in
            for _ in 1...10 { #expect(try proxy.get(server.url("/pub/hello.txt")).status == 401) }
            #expect(server.count(of: "FTP command", "\"PASS ") == 1)
            try proxy.replace("password", with: Account.password + "\n")
            let isUnparked = try Wait.until { try proxy.get(server.url("/pub/hello.txt")).status == 200 }
            #expect(isUnparked, "the changed file did not un-park the credential")
        }
    }

    // MARK: TLS

    /// - Parameter rules: `PORT` in them is the server's.
    private func secured(
        _ rules: String, _ body: (AttacheProcess, VsftpdServer) throws -> Void
    ) throws {
        let terms = CertificateTerms(host: "localhost").with { $0.key = .rsa(bits: 2048) }
        let server = try VsftpdServer(as: Hierarchy.shared().issuing.issue(terms))
        let rules = rules.replacing("PORT", with: "\(server.port)") + server.rule(host: "localhost 127.0.0.1")
        var setting = AttacheProcess.Setting()
        setting.environment["SSL_CERT_FILE"] = try Hierarchy.shared().root.certificate
        setting.environment["SSL_CERT_DIR"] = Scratch.folder("no-anchors")
        try AttacheProcess.running(rules, setting: setting) { proxy throws in try body(proxy, server) }
    }

    @Test func `TLS is spoken where the server offers it, for commands and data`() throws {
        try secured("route localhost { upgrade; tls minimum 1.2 }\n") { proxy, server throws in
            let fetched = try proxy.get(server.url("/pub/hello.txt", host: "localhost"))
            #expect(fetched.text == "hello, ftp\n", "\(fetched)")
            let bulk = try Payload.file(bytes: 3_000_000)
            #expect(try proxy.get(server.url("/up/bulk", host: "localhost"), "-T", bulk).status == 201)
            #expect(Scratch.bytes(server.root + "/up/bulk") == Scratch.bytes(bulk))
        }
    }

    @Test func `a certificate that is not trusted is refused before the login`() throws {
        try secured("") { proxy, server throws in
            let refused = try proxy.get(server.url("/pub/hello.txt"))
            #expect(refused.status == 502)
            #expect(refused["Proxy-Status"]?.contains("error=tls_certificate_error") == true, "\(refused)")
            #expect(refused.text.contains("wrong-name"))
            #expect(server.count(of: "\"USER ") == 0)
        }
    }

    @Test func `a rule forgives a certificate for ftp`() throws {
        let rule =
            "challenge { protocol ftp; host 127.0.0.1; port PORT; method server-trust; allow wrong-name; trust }\n"
        try secured(rule) { proxy, server throws in
            #expect(try proxy.get(server.url("/pub/hello.txt")).status == 200)
        }
    }

    @Test func `a server without TLS gets no login where the route wants TLS`() throws {
        let server = try VsftpdServer(as: nil)
        try AttacheProcess.running("route 127.0.0.1 { upgrade }\n" + server.rule()) { proxy throws in
            let refused = try proxy.get(server.url("/pub/hello.txt"))
            #expect(refused.status == 502)
            #expect(refused.text.contains("offers no TLS"), "\(refused)")
            #expect(server.count(of: "\"USER ") == 0)
        }
    }

    // MARK: Trouble

    @Test func `rules about routes and addresses hold for ftp`() throws {
        try serving("route 127.0.0.1 { deny }") { proxy, server throws in
            #expect(try proxy.get(server.url("/pub/hello.txt")).status == 403)
        }
        let setting = AttacheProcess.Setting(egress: "deny loopback")
        try serving(setting: setting) { proxy, server throws in
            let refused = try proxy.get(server.url("/pub/hello.txt"))
            #expect(refused.status == 403)
            #expect(refused["Proxy-Status"]?.contains("destination_ip_prohibited") == true)
        }
    }

    @Test func `a server that is not there, or says nothing, is told with a sentence`() throws {
        let dead = FreePort.take()
        let silent = try RecordingOrigin { connection in _ = try connection.wire.readToEnd() }
        let rules = """
            timeouts { idle 1s }
            credential files { user anonymous; password file @/password }
            challenge { protocol ftp; host 127.0.0.1; use files }
            """
        try AttacheProcess.running(rules) { proxy throws in
            let refused = try proxy.get("ftp://127.0.0.1:\(dead)/x")
            #expect(refused.status == 502)
            #expect(refused["Proxy-Status"]?.contains("error=connection_refused") == true, "\(refused)")
            let late = try proxy.get("ftp://127.0.0.1:\(silent.port)/x")
            #expect(late.status == 504)
            #expect(late["Proxy-Status"]?.contains("error=connection_timeout") == true, "\(late)")
        }
    }

    /// KiB.
    private static func peakMemory(of proxy: AttacheProcess) throws -> Int {
        let line = Scratch.read("/proc/\(proxy.identifier)/status").split(separator: "\n")
            .first { $0.hasPrefix("VmHWM:") }
        return try #require(line?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    }
}
