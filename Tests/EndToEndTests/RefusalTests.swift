import Testing

/// Ambiguous messages are refused and the connection ends: an intermediary that guesses helps smugglers (RFC 9112
/// section 11.2).
struct RefusalTests {
    /// A request's bytes, `ORIGIN` standing for the origin's host and port, and what is wrong with them.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: String
        var status = 400

        init(_ description: String, _ fields: String, status: Int = 400) {
            testDescription = description
            bytes = "POST http://ORIGIN/ HTTP/1.1\r\nHost: ORIGIN\r\n\(fields)\r\n"
            self.status = status
        }

        init(_ description: String, start: String, fields: String = "Host: ORIGIN\r\n", status: Int = 400) {
            testDescription = description
            bytes = "\(start)\r\n\(fields)\r\n"
            self.status = status
        }
    }

    static let framing = [
        Case("both lengths", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
        Case("both lengths, reversed", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
        Case("differing lengths", "Content-Length: 5\r\nContent-Length: 6\r\n"),
        Case("differing lengths in a list", "Content-Length: 5, 6\r\n"),
        Case("a signed length", "Content-Length: +5\r\n"),
        Case("a negative length", "Content-Length: -1\r\n"),
        Case("an empty length", "Content-Length: \r\n"),
        Case("a hexadecimal length", "Content-Length: 0x5\r\n"),
        Case("a length with a space inside", "Content-Length: 1 0\r\n"),
        Case("a length over 64 bits", "Content-Length: 99999999999999999999\r\n"),
        Case("a coding after chunked", "Transfer-Encoding: chunked, gzip\r\n"),
        Case("chunked twice", "Transfer-Encoding: chunked, chunked\r\n"),
        Case("chunked in two lines", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
        Case("an empty element before chunked", "Transfer-Encoding: ,chunked\r\n"),
        Case("an empty element behind chunked", "Transfer-Encoding: chunked,\r\n"),
        Case("empty elements behind chunked", "Transfer-Encoding: chunked, ,\r\n"),
        Case("an empty line before chunked", "Transfer-Encoding:\r\nTransfer-Encoding: chunked\r\n"),
        Case("an empty line behind chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: \r\n"),
        Case("identity", "Transfer-Encoding: identity\r\n", status: 501),
        Case("chunked with a vertical tab", "Transfer-Encoding: \u{b}chunked\r\n"),
        Case("chunked in HTTP/1.0", start: "POST http://ORIGIN/ HTTP/1.0", fields: "Transfer-Encoding: chunked\r\n"),
    ]

    static let fields = [
        Case("a folded field", "X-A: 1\r\n folded\r\n"),
        Case("a space before the colon", "X-A : 1\r\n"),
        Case("a space in the name", "X A: 1\r\n"),
        Case("an empty name", ": 1\r\n"),
        Case("no colon", "X-A\r\n"),
        Case("a NUL", "X-A: a\u{0}b\r\n"),
        Case("a bare CR", "X-A: a\rb\r\n"),
        Case("a bare LF", "X-A: 1\nX-B: 2\r\n"),
        Case("a leading space", start: "POST http://ORIGIN/ HTTP/1.1", fields: " Host: ORIGIN\r\n"),
        Case("a second Host", "Host: ORIGIN\r\n"),
        Case("a Host that is none", start: "GET http://ORIGIN/ HTTP/1.1", fields: "Host: else where\r\n"),
        Case("no Host", start: "GET http://ORIGIN/ HTTP/1.1", fields: "X-A: 1\r\n"),
    ]

    static let starts = [
        Case("no version", start: "GET http://ORIGIN/"),
        Case("HTTP/0.9", start: "GET http://ORIGIN/ HTTP/0.9"),
        Case("HTTP/2.0", start: "GET http://ORIGIN/ HTTP/2.0"),
        Case("a version in lower case", start: "GET http://ORIGIN/ http/1.1"),
        Case("two spaces", start: "GET  http://ORIGIN/ HTTP/1.1"),
        Case("a space in the target", start: "GET http://ORIGIN/a b HTTP/1.1"),
        Case(
            "a method that nobody implements",
            start: String(repeating: "M", count: 100_000) + " http://ORIGIN/ HTTP/1.1",
            status: 501),
        Case(
            "a long target", start: "GET http://ORIGIN/\(String(repeating: "a", count: 20_000)) HTTP/1.1", status: 414),
        Case(
            "a target that is too long once it is encoded",
            start: "GET http://ORIGIN/\(String(repeating: "ä", count: 4000)) HTTP/1.1", status: 414),
        Case("a method that is no token", start: "G(T http://ORIGIN/ HTTP/1.1"),
        Case("a port out of range", start: "GET http://127.0.0.1:99999/ HTTP/1.1", fields: "Host: 127.0.0.1:99999\r\n"),
        Case("no host", start: "GET http:///path HTTP/1.1", fields: "Host: \r\n"),
        Case("a control character in the target", start: "GET http://ORIGIN/\u{7f} HTTP/1.1"),
    ]

    /// Sends the bytes and then a request in good order, which must not be answered.
    private func expectRefused(_ cases: [Case], statuses: Set<Int> = []) throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            let host = "127.0.0.1:\(origin.port)"
            let smuggled = "GET http://\(host)/smuggled HTTP/1.1\r\nHost: \(host)\r\n\r\n"
            for refused in cases {
                let wire = try proxy.connect()
                try wire.send(refused.bytes.replacing("ORIGIN", with: host) + smuggled)
                let answered = try wire.readResponse()
                let expected = statuses.union([refused.status])
                #expect(expected.contains(answered.status), "\(refused.testDescription): \(answered.startLine)")
                #expect(answered["Connection"]?.lowercased() == "close", "\(refused.testDescription)")
                #expect(try wire.isEnded(), "\(refused.testDescription): the connection stays open")
            }
            #expect(origin.messages.map(\.startLine) == [], "something reached the origin")
        }
    }

    @Test func `ambiguous framing is refused`() throws { try expectRefused(Self.framing) }

    @Test func `malformed fields are refused`() throws { try expectRefused(Self.fields) }

    @Test func `malformed start lines are refused`() throws { try expectRefused(Self.starts, statuses: [505]) }

    @Test func `an unknown transfer coding is not implemented`() throws {
        let unknown = ["gzip", "gzip, chunked", "xchunked"].map {
            Case($0, "Transfer-Encoding: \($0)\r\n", status: 501)
        }
        try expectRefused(unknown, statuses: [400])
    }

    static let brokenChunks = [
        "fffffffffffffffff\r\n", "-1\r\n", "0x5\r\n", "\r\n", "5\nhello\n0\n\n", "5\r\nhello0\r\n",
        "5 \r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n0\r\nHost: elsewhere.test\r\n\r\n",
    ]

    /// The whole request comes in one piece, or its last line and the chunk behind a beginning that made the proxy wait.
    @Test(arguments: brokenChunks, [false, true])
    func `of a broken chunk that came with its head the origin sees nothing`(chunk: String, waits: Bool) throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            var rest = "POST \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n"
            if waits {
                try wire.send(rest + "Expect: 100-continue\r\n")
                // The answer says that the proxy has read on since.
                let other = try proxy.connect()
                try other.send("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try other.readResponse().status == 200)
                rest = ""
            }
            try wire.send(rest + "Transfer-Encoding: chunked\r\n\r\n" + chunk + "\r\n\r\n")
            #expect(try wire.readResponse().status == 400)
            #expect(try wire.isEnded())
            #expect(origin.connections == 0)
        }
    }

    @Test(arguments: brokenChunks)
    func `a chunk that is broken behind good ones ends both connections`(chunk: String) throws {
        let origin = try RecordingOrigin { connection in
            while let request = try connection.requestHead() {
                try connection.wire.send("HTTP/1.1 103 Early Hints\r\n\r\n")
                connection.record(content: try connection.wire.readContent(of: request))
            }
        }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send("POST \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n")
            try wire.send("Transfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n")
            #expect(try wire.readHead()?.status == 103)
            try wire.send(chunk + "\r\n\r\n")
            #expect(try wire.readResponse().status == 400)
            #expect(try wire.isEnded())
            #expect(origin.contents.isEmpty, "a whole request reached the origin")
        }
    }

    static let responses = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "several Content-Length fields"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "both Content-Length and Transfer-Encoding"
        ),
        ("HTTP/1.0 200 OK\nTransfer-Encoding : chunked\n\n0\n\n", "Transfer-Encoding in an HTTP/1.0 message"),
        ("HTTP/1.1 200 OK\r\n X-A: 1\r\nContent-Length: 0\r\n\r\n", "white space before the first field"),
        ("HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n", "the status line is malformed"),
        ("HTTP/1.1 200 OK\r\nX-A: a\u{0}b\r\nContent-Length: 0\r\n\r\n", "a control character"),
        ("ICY 200 OK\r\n\r\n", "the status line is malformed"),
        ("SSH-2.0-OpenSSH\r\n\r\n", "does not name an HTTP version"),
        ("HTTP/1.1 200 OK\r\nContent", "the message is incomplete"),
        ("\u{0}\u{0}\u{6}\u{4}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{3}\u{0}\u{0}\u{0}\u{64}", "speaks only HTTP/2"),
        ("", "closed the connection without an answer"),
        // The bytes that came with a head are checked before the head is sent on.
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "a chunk size is not a hexadecimal number"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nWikiX", "a chunk is not followed by the end"),
        ("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200\r\nX\r\n\r\n", "a field line has no colon"),
    ]

    @Test(arguments: responses, ["1.0", "1.1"])
    func `a response that cannot be understood becomes a 502 that names the fault`(
        response: (bytes: String, fault: String), version: String
    ) throws {
        let origin = try RecordingOrigin { connection in
            _ = try connection.request()
            try connection.wire.send(response.bytes)
        }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send("GET \(origin.url()) HTTP/\(version)\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            var answered = try wire.readResponse()
            if answered.status == 103 { answered = try wire.readResponse() }
            #expect(answered.status == 502)
            #expect(answered["Proxy-Status"]?.contains(response.fault) == true, "\(answered.head)")
            #expect(answered.text.contains(response.fault), "\(answered.text)")
        }
    }

    @Test func `content that cannot be decoded becomes a 502 that names the fault`() throws {
        let origin = try RecordingOrigin { connection in
            _ = try connection.request()
            try connection.reply("200 OK", ["Content-Encoding: gzip"], "this is no gzip")
        }
        try AttacheProcess.running("route 127.0.0.1 { decode }") { proxy throws in
            let answered = try proxy.get(origin.url())
            #expect(answered.status == 502)
            #expect(answered.text.contains("the response's content cannot be decoded"), "\(answered)")
        }
    }
}
