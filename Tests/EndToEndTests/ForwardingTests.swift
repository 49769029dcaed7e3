import Testing

/// The messages that an origin and a client see of each other through the proxy (RFC 9110 section 7, RFC 9112).
struct ForwardingTests {
    /// The request that the origin received for the raw bytes a client sent; `ORIGIN` stands for host and port.
    private func forwarded(_ request: String) throws -> Message {
        let origin = try RecordingOrigin.answering()
        return try AttacheProcess.running { proxy throws in
            let answered = try proxy.exchange(request.replacing("ORIGIN", with: "127.0.0.1:\(origin.port)"))
            #expect(answered.status == 200, "\(answered.head)\(answered.text)")
            let message = try #require(origin.messages.first)
            #expect(message["Host"] == "127.0.0.1:\(origin.port)")
            return message
        }
    }

    @Test func `the target becomes origin-form, byte for byte`() throws {
        let message = try forwarded("GET http://ORIGIN/a%2fb/../c;d?e=%20&f=~ HTTP/1.1\r\nHost: ORIGIN\r\n\r\n")
        #expect(message.startLine == "GET /a%2fb/../c;d?e=%20&f=~ HTTP/1.1")
    }

    @Test(arguments: [("", "/"), ("?q", "/?q"), ("/", "/")])
    func `an empty path becomes a slash`(path: String, expected: String) throws {
        let message = try forwarded("GET http://ORIGIN\(path) HTTP/1.1\r\nHost: ORIGIN\r\n\r\n")
        #expect(message.target == expected)
    }

    @Test(arguments: ["127.0.0.1", "elsewhere.test", "127.0.0.1:1", "127.0.0.1:1\r\nX-A: 1"])
    func `a Host that differs from the target is written anew`(host: String) throws {
        let message = try forwarded("GET http://ORIGIN/ HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(message.values("Host").count == 1)
    }

    @Test func `bytes above 0x7F in a target are percent-encoded`() throws {
        let message = try forwarded("GET http://ORIGIN/caf\u{e9}/%C3%A9?q=\u{4e2d}%2f HTTP/1.1\r\nHost: ORIGIN\r\n\r\n")
        #expect(message.startLine == "GET /caf%C3%A9/%C3%A9?q=%E4%B8%AD%2f HTTP/1.1")
    }

    @Test func `OPTIONS without a path asks about the server`() throws {
        let message = try forwarded("OPTIONS http://ORIGIN HTTP/1.1\r\nHost: ORIGIN\r\n\r\n")
        #expect(message.startLine == "OPTIONS * HTTP/1.1")
    }

    @Test func `Host is made from the target when an HTTP/1.0 client has none`() throws {
        let message = try forwarded("GET http://ORIGIN/ HTTP/1.0\r\n\r\n")
        #expect(message.startLine == "GET / HTTP/1.1")
        #expect(message.values("Host").count == 1)
    }

    @Test func `hop-by-hop fields end here, those that Connection names included`() throws {
        let message = try forwarded(
            """
            GET http://ORIGIN/ HTTP/1.1\r
            Host: ORIGIN\r
            Connection: TE, Keep-Alive, X-Private\r
            Connection: x-other\r
            TE: deflate,gzip;q=0.3\r
            Keep-Alive: 300\r
            Proxy-Connection: keep-alive\r
            Proxy-Authorization: Basic bm90OnVzZWQ=\r
            X-Private: 1\r
            X-Other: 2\r
            X-End-To-End: 3\r
            Accept: */*\r
            \r

            """)
        for name in ["TE", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "X-Private", "X-Other", "Upgrade"] {
            #expect(message[name] == nil, "\(name) was forwarded")
        }
        #expect(message["X-End-To-End"] == "3")
        #expect(message["Accept"] == "*/*")
    }

    @Test(arguments: ["Host", "Via", "Content-Length", "Authorization"])
    func `Connection cannot take away what a message needs`(name: String) throws {
        try AttacheProcess.running { proxy throws in
            let fields = "Host: origin.test\r\nConnection: \(name)\r\nVia: 1.0 first\r\n\r\n"
            #expect(try proxy.exchange("GET http://origin.test/ HTTP/1.1\r\n" + fields).status == 400)
        }
    }

    @Test func `Via is appended`() throws {
        let message = try forwarded("GET http://ORIGIN/ HTTP/1.1\r\nHost: ORIGIN\r\nVia: 1.0 first (x)\r\n\r\n")
        let via = try #require(message["Via"])
        #expect(via.hasPrefix("1.0 first (x), 1.1 "), "\(via)")
    }

    @Test func `Max-Forwards counts down`() throws {
        let message = try forwarded("OPTIONS http://ORIGIN/ HTTP/1.1\r\nHost: ORIGIN\r\nMax-Forwards: 5\r\n\r\n")
        #expect(message["Max-Forwards"] == "4")
    }

    @Test(arguments: ["OPTIONS", "TRACE"])
    func `Max-Forwards 0 ends at the proxy`(method: String) throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            let host = "127.0.0.1:\(origin.port)"
            let wire = try proxy.connect()
            try wire.send("\(method) http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\nMax-Forwards: 0\r\n\r\n")
            #expect(try wire.readResponse(to: method).status > 0)
            #expect(origin.messages.isEmpty)
        }
    }

    @Test func `a request that has been here is a loop`() throws {
        let via = try #require(try forwarded("GET http://ORIGIN/ HTTP/1.1\r\nHost: ORIGIN\r\n\r\n")["Via"])
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            // Each run may have a name of its own: what this one adds is asked first.
            #expect(try proxy.get(origin.url("/first")).status == 200)
            let own = origin.messages.first?["Via"] ?? via
            let answered = try proxy.get(origin.url("/again"), "-H", "Via: \(own)")
            #expect([502, 508].contains(answered.status))
            #expect(answered["Proxy-Status"]?.contains("proxy_loop_detected") == true)
            #expect(origin.messages.count == 1)
        }
    }

    @Test func `a request for the proxy itself ends`() throws {
        try AttacheProcess.running { proxy throws in
            let answered = try proxy.get(proxy.address + "/")
            #expect([400, 403, 404, 421, 502, 508].contains(answered.status), "\(answered)")
        }
    }

    @Test func `hop-by-hop fields of a response end here`() throws {
        let origin = try RecordingOrigin.answering { _, connection in
            let fields = [
                "Connection: X-Inner, keep-alive", "Keep-Alive: timeout=5", "X-Inner: 1", "X-Outer: 2",
                "Proxy-Connection: keep-alive", "Set-Cookie: a=1", "Set-Cookie: b=2",
            ]
            try connection.reply("200 OK", fields, "ok")
        }
        try AttacheProcess.running { proxy throws in
            let answered = try proxy.get(origin.url())
            for name in ["X-Inner", "Proxy-Connection"] { #expect(answered[name] == nil, "\(name) was forwarded") }
            #expect(answered["Keep-Alive"] != "timeout=5")
            #expect(answered["X-Outer"] == "2")
            #expect(answered.message.values("Set-Cookie") == ["a=1", "b=2"])
            #expect(answered["Via"]?.hasPrefix("1.1 ") == true)
        }
    }

    @Test func `an upstream connection serves requests of several clients`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: .init(threads: 1)) { proxy throws in
            for _ in 1...5 { #expect(try proxy.get(origin.url()).status == 200) }
            #expect(origin.connections == 1)
        }
    }
}
