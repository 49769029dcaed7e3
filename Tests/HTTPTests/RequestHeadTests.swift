import Bytes
import HTTP
import Testing

@Suite struct RequestHeadTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let head: String
        var method = HTTP.Method.get
        var form = RequestTarget.Form.absolute
        var host: String?
        var port: UInt16?
        var path = "/"
        var userinfo: String?
        var version = Version.http11
        var framing = BodyFraming.none
        var keepAlive = true
        var expectsContinue = false
        var upgrade: Upgrade?
        var maxForwards: Int?
        var testDescription: String { String(head.prefix { $0 != "\n" }) }
    }

    static let accepted = [
        Case(head: "GET http://h.example/a?b=c HTTP/1.1\nHost: h.example\n\n", host: "h.example", path: "/a?b=c"),
        Case(head: "GET http://h:8080 HTTP/1.1\nhost:h:8080\n\n", host: "h", port: 8080, path: ""),
        Case(head: "GET http://h?q HTTP/1.1\nHost: h:80\n\n", host: "h", path: "?q"),
        Case(head: "GET HTTP://H:80/ HTTP/1.1\nHost: h\n\n", host: "H", port: 80),
        Case(head: "GET ftp://h/f HTTP/1.1\nHost: h:21\n\n", host: "h", path: "/f"),
        // Host is ignored where the target names its own.
        Case(head: "GET http://a/ HTTP/1.1\nHost: b\n\n", host: "a"),
        Case(head: "GET http://a/ HTTP/1.1\nHost: a:8080\n\n", host: "a"),
        Case(head: "GET http://a:8080/ HTTP/1.1\nHost: a\n\n", host: "a", port: 8080),
        Case(head: "GET https://a/ HTTP/1.0\nHost: 127.0.0.1:80\n\n", host: "a", version: .http10, keepAlive: false),
        Case(head: "GET http://u:p%40@h/ HTTP/1.1\nHost: h\n\n", host: "h", userinfo: "u:p%40"),
        Case(head: "GET http://[::1]:8080/ HTTP/1.1\nHost: [::1]:8080\n\n", host: "::1", port: 8080),
        Case(head: "GET http://127.0.0.1/ HTTP/1.1\nHost: 127.0.0.1\n\n", host: "127.0.0.1"),
        Case(head: "GET http://h:/ HTTP/1.1\nHost: h\n\n", host: "h"),
        Case(head: "GET /x HTTP/1.1\nHost: h:81\n\n", form: .origin, host: "h", port: 81, path: "/x"),
        Case(head: "GET /x HTTP/1.0\n\n", form: .origin, path: "/x", version: .http10, keepAlive: false),
        Case(head: "\n\nGET /x HTTP/1.1\nHost: h\n\n", form: .origin, host: "h", path: "/x"),
        Case(head: "GET /x HTTP/1.9\nHost: h\n\n", form: .origin, host: "h", path: "/x"),
        Case(
            head: "OPTIONS * HTTP/1.1\nHost: h\nMax-Forwards: 7\n\n", method: .options, form: .asterisk, host: "h",
            path: "", maxForwards: 7),
        Case(head: "OPTIONS http://h HTTP/1.1\nHost: h\n\n", method: .options, form: .asterisk, host: "h", path: ""),
        Case(
            head: "CONNECT h:443 HTTP/1.1\nHost: h\n\n", method: .connect, form: .authority, host: "h", port: 443,
            path: ""),
        Case(
            head: "CONNECT h:443 HTTP/1.0\n\n", method: .connect, form: .authority, host: "h", port: 443, path: "",
            version: .http10, keepAlive: false),
        Case(
            head: "CONNECT [::1]:443 HTTP/1.1\n\n", method: .connect, form: .authority, host: "::1", port: 443,
            path: ""),
        Case(
            head: "POST http://h/ HTTP/1.1\nHost: h\nContent-Length: 5\nExpect: 100-Continue\n\n", method: .post,
            host: "h", framing: .length(5), expectsContinue: true),
        Case(
            head: "POST http://h/ HTTP/1.1\nHost: h\nContent-Length: 0\nExpect: 100-continue\n\n", method: .post,
            host: "h", framing: .length(0)),
        Case(
            head: "POST http://h/ HTTP/1.0\nContent-Length: 5\nExpect: 100-continue\n\n", method: .post, host: "h",
            version: .http10, framing: .length(5), keepAlive: false),
        Case(
            head: "PUT http://h/ HTTP/1.1\nHost: h\nTransfer-Encoding: Chunked\n\n", method: .put, host: "h",
            framing: .chunked),
        Case(
            head: "POST http://h/ HTTP/1.1\nHost: h\nContent-Length: 9223372036854775807\n\n", method: .post,
            host: "h", framing: .length(.max)),
        Case(head: "PROPFIND http://h/ HTTP/1.1\nHost: h\n\n", method: .extension, host: "h"),
        Case(head: "get http://h/ HTTP/1.1\nHost: h\n\n", method: .extension, host: "h"),
        Case(head: "GET http://h/ HTTP/1.1\nHost: h\nConnection: foo, CLOSE\n\n", host: "h", keepAlive: false),
        Case(head: "GET http://h/ HTTP/1.1\nHost: h\nConnection: ,, TE\n\n", host: "h"),
        Case(head: "GET http://h/ HTTP/1.1\nHost: h\nProxy-Connection: close\n\n", host: "h", keepAlive: false),
        Case(
            head: "GET http://h/ HTTP/1.0\nConnection: keep-alive\n\n", host: "h", version: .http10, keepAlive: false),
        Case(head: "GET http://h/ HTTP/1.0\nProxy-Connection: x, Keep-Alive\n\n", host: "h", version: .http10),
        Case(
            head: "GET http://h/ HTTP/1.1\nHost: h\nConnection: keep-alive, Upgrade\nUpgrade: WebSocket\n\n",
            host: "h", upgrade: .webSocket),
        Case(
            head: "GET http://h/ HTTP/1.1\nHost: h\nConnection: upgrade\nUpgrade: h2c\n\n", host: "h",
            upgrade: .other),
        Case(head: "GET http://h/ HTTP/1.1\nHost: h\nUpgrade: websocket\n\n", host: "h"),
        Case(head: "GET http://h/ HTTP/1.1\nHost: h\nMax-Forwards: x\nX_1:\n\n", host: "h"),
        Case(
            head: "GET http://h/ HTTP/1.1\nHost: h\nX: a\tb é ÿ\nContent-MD5:  \t \n\n", host: "h"),
    ]

    @Test(arguments: accepted)
    func `a good request is read whole, byte by byte, and with bytes behind it`(expected: Case) {
        let bytes = crlf(expected.head)
        let head = RequestHead()
        for round in 0..<3 {
            head.reset()
            let shown = round == 2 ? bytes + Array("GET / HTTP/9.9\r\n\u{0}".utf8) : bytes
            let outcome = round == 1 ? head.outcomeByteByByte(shown) : head.outcome(shown)
            #expect(outcome == .complete(length: bytes.count))
            #expect(head.outcome(shown) == .complete(length: bytes.count), "it stays complete")
            #expect(head.method == expected.method)
            #expect(head.target.form == expected.form)
            #expect(head.text(head.authority?.host, bytes) == expected.host)
            #expect(head.authority?.explicitPort == expected.port)
            #expect(head.text(head.target.path, bytes) == expected.path)
            #expect(head.text(head.target.userinfo, bytes) == expected.userinfo)
            #expect(head.version == expected.version)
            #expect(head.framing == expected.framing)
            #expect(head.keepAlive == expected.keepAlive)
            #expect(head.expectsContinue == expected.expectsContinue)
            #expect(head.upgrade == expected.upgrade)
            #expect(head.maxForwards == expected.maxForwards)
        }
    }

    /// Returns the parsed head as it would be sent on, or the reason why it is invalid.
    private func meaning(of bytes: [UInt8], to head: RequestHead) -> String {
        head.reset()
        let outcome = head.outcome(bytes)
        guard case .complete = outcome else { return "\(outcome)" }
        let buffer = ByteBuffer([])
        head.write(bytes.span, as: RequestRewrite(), via: .test, into: buffer).end()
        let fields = head.fields.map { "\($0.known) \($0.line) \($0.name) \($0.value) \($0.isNominated)" }
        let conclusion = "\(head.framing) \(head.keepAlive) \(head.expectsContinue) \(head.options)"
        return "\(conclusion) \(head.upgrade as Any) \(fields)\n\(buffer.readable.text)"
    }

    @Test(arguments: accepted)
    func `a request means the same behind one with the same fields, and behind one that differs in a byte`(case: Case) {
        let bytes = crlf(`case`.head)
        let alone = meaning(of: bytes, to: RequestHead())
        let fields = bytes.suffix(from: (bytes.drop { $0 == 13 || $0 == 10 }.firstIndex(of: 10) ?? 0) + 1)
        for start in ["GET http://another.example/a/longer/target?of=the&same HTTP/1.1\r\n", "X h HTTP/1.1\r\n"] {
            let other = Array(start.utf8) + fields
            let head = RequestHead()
            let otherAlone = meaning(of: other, to: head)
            #expect(meaning(of: bytes, to: head) == alone)
            #expect(meaning(of: other, to: head) == otherAlone)
        }
        for place in fields.indices {
            var changed = bytes
            changed[place] ^= 1
            let head = RequestHead()
            _ = meaning(of: bytes, to: head)
            #expect(meaning(of: changed, to: head) == meaning(of: changed, to: RequestHead()))
            #expect(meaning(of: bytes, to: head) == alone)
        }
    }

    @Test(arguments: accepted)
    func `the fields of a request mean the same the third time, whatever its start line says`(case: Case) {
        let bytes = crlf(`case`.head)
        let fields = bytes.suffix(from: (bytes.drop { $0 == 13 || $0 == 10 }.firstIndex(of: 10) ?? 0) + 1)
        let others = ["GET http://h/ HTTP/1.1", "GET http://h/ HTTP/1.0", "OPTIONS * HTTP/1.1", "POST /x HTTP/1.1"]
        let heads = [bytes] + others.map { Array("\($0)\r\n".utf8) + fields }
        let head = RequestHead()
        for next in [0, 0, 0, 1, 1, 2, 1, 2, 3, 4, 3, 4, 0, 3] {
            #expect(meaning(of: heads[next], to: head) == meaning(of: heads[next], to: RequestHead()), "\(next)")
        }
        // Heads with other fields between them: one that is good, and one that is refused.
        for other in ["Host: h\nContent-Length: 7\nConnection: close", "Host: h\nHost: i\nConnection: close"] {
            let text = crlf("POST /y HTTP/1.1\n\(other)\n\n")
            for next in [text, text, text, bytes, bytes, bytes] {
                #expect(meaning(of: next, to: head) == meaning(of: next, to: RequestHead()), "\(other)")
            }
        }
    }

    @Test func `a head that is known is held against the limit as any other`() {
        let long = String(repeating: "a", count: 20)
        let head = RequestHead(limits: Limits(startLine: 100, head: 60, fields: 10))
        let fields = "Host: h\nX: \(long)\n\n"
        #expect(head.outcome(crlf("GET http://h/ HTTP/1.1\n" + fields)) == .complete(length: 60))
        head.reset()
        #expect(head.outcome(crlf("GET http://h/abc HTTP/1.1\n" + fields)) == .refused(.headTooLarge(limit: 60)))
    }

    static let encoded = [
        ("GET http://h/caf\u{e9}?\u{e9}=%C3 HTTP/1.1", "GET http://h/caf%C3%A9?%C3%A9=%C3 HTTP/1.1"),
        ("\nGET /\u{80}\u{ffff} HTTP/1.1", "\nGET /%C2%80%EF%BF%BF HTTP/1.1"),
        ("GET http://\u{fc}:\u{fc}@h/ HTTP/1.1", "GET http://%C3%BC:%C3%BC@h/ HTTP/1.1"),
        ("M-SEARCH http://h/\u{e9} HTTP/1.0", "M-SEARCH http://h/%C3%A9 HTTP/1.0"),
    ]

    @Test(arguments: encoded)
    func `bytes above 0x7F in a target are percent-encoded before anybody sees it`(raw: String, encoded: String) {
        let (fields, behind) = (Array("\r\nHost: h\r\nX: \u{e9}\r\n\r\n".utf8), Array("GET /\u{e9}".utf8))
        let (raw, expected) = (crlf(raw) + fields, crlf(encoded) + fields)
        for round in 0..<3 {
            let head = RequestHead()
            let buffer = ByteBuffer([])
            if round != 1 { buffer.append(round == 2 ? raw + behind : raw) }
            let outcome = round == 1 ? head.outcomeByteByByte(raw, in: buffer) : head.outcome(buffer)
            #expect(outcome == .complete(length: expected.count))
            #expect(head.outcome(buffer) == .complete(length: expected.count), "it stays complete")
            let bytes = buffer.readable.array
            #expect(bytes == (round == 2 ? expected + behind : expected))
            #expect(encoded.contains(" \(head.text(head.target.text, bytes) ?? "") HTTP/"))
        }
    }

    @Test func `bytes that are no UTF-8 are percent-encoded as they are`() {
        let buffer = ByteBuffer(Array("GET /".utf8) + [0xFF, 0x80, 0xE9] + Array(" HTTP/1.0\r\n\r\n".utf8))
        #expect(RequestHead().outcome(buffer) == .complete(length: 27))
        #expect(buffer.readable.text == "GET /%FF%80%E9 HTTP/1.0\r\n\r\n")
    }

    @Test func `fields are offsets into the bytes, in the order they came`() throws {
        let bytes = crlf("GET / HTTP/1.1\nHost: h\nX-One:  a b \t\nAccept-Encoding:\nx-one: c\n\n")
        let head = RequestHead()
        #expect(head.outcome(bytes) == .complete(length: bytes.count))
        #expect(head.fields.map { head.text($0.name, bytes) } == ["Host", "X-One", "Accept-Encoding", "x-one"])
        #expect(head.fields.map { head.text($0.value, bytes) } == ["h", "a b", "", "c"])
        #expect(head.fields.map(\.known) == [.host, .other, .acceptEncoding, .other])
        let line = try #require(head.fields.first(named: "x-one", in: bytes.span)?.line)
        #expect(head.text(line, bytes) == "X-One:  a b \t\r\n")
        #expect(head.fields.first(.via) == nil)
    }

    @Test func `every known field is recognised in any case, and its neighbours are not`() {
        for known in KnownField.allCases where known != .other {
            let name = Self.name(of: known)
            for spelling in [name, name.uppercased(), name.prefix(1).uppercased() + name.dropFirst()] {
                #expect(Self.known(spelling) == known, "\(spelling)")
            }
            #expect(Self.known(name + "s") == .other)
            #expect(Self.known("x" + name.dropFirst()) == .other)
            #expect(Self.known(name.dropLast() + "_") == .other)
            #expect(Self.known(String(name.dropFirst())) == .other)
        }
    }

    private static func known(_ name: String) -> KnownField? {
        let bytes = Array("GET / HTTP/1.0\r\n\(name): 1\r\n\r\n".utf8)
        let head = RequestHead()
        _ = head.outcome(bytes)
        return head.fields.first?.known
    }

    /// `wwwAuthenticate` to `www-authenticate`.
    private static func name(of known: KnownField) -> String {
        if known == .te || known == .etag || known == .via { return "\(known)" }
        return "\(known)".reduce(into: "") { name, letter in
            if letter.isUppercase { name += "-" }
            name += letter.lowercased()
        }
    }

    @Test func `a head that was reset takes the next request as if it were new`() {
        let head = RequestHead()
        let first = crlf("OPTIONS * HTTP/1.1\nHost: h\nConnection: close, X-A, upgrade\nX-A: 1\nUpgrade: websocket\n\n")
        let second = crlf("GET /y HTTP/1.0\n\n")
        #expect(head.outcome(first) == .complete(length: first.count))
        head.reset()
        #expect(head.outcome(second) == .complete(length: second.count))
        #expect(head.authority == nil)
        #expect(head.fields.isEmpty)
        #expect(head.options == [])
        #expect(head.upgrade == nil)
        #expect(head.maxForwards == nil)
        head.reset()
        #expect(head.outcome(crlf("GET / HTTP/1.1\n\n")) == .refused(.missingHost))
        #expect(head.outcome(first) == .refused(.missingHost), "it stays refused")
    }

    /// One object reads the heads of many requests, and what it has found about the last authority it need not find again.
    @Test func `a head that was read before changes nothing of the next`() {
        let authorities = """
            h h:80 h:8080 h8 H 127.0.0.1 127.0.0.1:80 127.0.0.12 127.0.0.1:8 [::1]:80 u@h h: h.example h.example. 1.2 h:0 h..
            """.split(separator: " ")
        let used = RequestHead()
        let forms: [(String) -> String] = [
            { "GET http://\($0) HTTP/1.1\nHost: h\n\n" }, { "GET / HTTP/1.1\nHost: \($0)\n\n" },
        ]
        for first in authorities {
            for second in authorities {
                for end in ["", "/", "/x", "?q", "/\(first)", ":1/", "@x/", "x/", ":", ":80"] {
                    for (before, now) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                        used.reset()
                        _ = used.outcome(crlf(forms[before]("\(first)" + (before == 0 ? "/" : ""))))
                        used.reset()
                        let bytes = crlf(forms[now]("\(second)\(end)"))
                        let fresh = RequestHead()
                        let (outcome, expected) = (used.outcome(bytes), fresh.outcome(bytes))
                        let comment = Comment(rawValue: "\(second)\(end) after \(first), \(before) \(now)")
                        #expect(outcome == expected, comment)
                        #expect(used.authority?.text == fresh.authority?.text, comment)
                        #expect(used.authority?.host == fresh.authority?.host, comment)
                        #expect(used.authority?.form == fresh.authority?.form, comment)
                        #expect(used.authority?.explicitPort == fresh.authority?.explicitPort, comment)
                        #expect(used.target.path == fresh.target.path, comment)
                        #expect(used.target.userinfo == fresh.target.userinfo, comment)
                    }
                }
            }
        }
    }
}
