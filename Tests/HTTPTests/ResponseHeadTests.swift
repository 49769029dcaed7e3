import Bytes
import HTTP
import Testing

@Suite struct ResponseHeadTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let head: String
        var method = HTTP.Method.get
        var status: UInt16 = 200
        var reason = "OK"
        var framing = BodyFraming.untilClose
        var keepAlive = false
        var testDescription: String { "\(method) \(head.debugDescription)" }
    }

    static let accepted = [
        Case(head: "HTTP/1.1 200 OK\nContent-Length: 3\n\n", framing: .length(3), keepAlive: true),
        // A parent's field about its connection, which RFC 9112 appendix C.2.2 describes.
        Case(
            head: "HTTP/1.1 407 OK\nContent-Length: 3\nProxy-Connection: close\n\n", status: 407, framing: .length(3)),
        Case(
            head: "HTTP/1.0 407 OK\nContent-Length: 3\nProxy-Connection: Keep-Alive\n\n", status: 407,
            framing: .length(3), keepAlive: true),
        Case(head: "HTTP/1.0 200 OK\nContent-Length: 3\nProxy-Connection: Keep-Alive\n\n", framing: .length(3)),
        Case(
            head: "HTTP/1.1 200 OK\nContent-Length: 3\nTransfer-Encoding: identity\n\n", framing: .length(3),
            keepAlive: false),
        Case(
            head: "HTTP/1.1 200 OK\nTransfer-Encoding: Identity \nContent-Length: 3\n\n", framing: .length(3),
            keepAlive: false),
        Case(head: "HTTP/1.1 200 OK\nTransfer-Encoding: CHUNKED\n\n", framing: .chunked, keepAlive: true),
        // Understood, but the connection is not used again.
        Case(head: "HTTP/1.1 200 OK\nTransfer-Encoding: chunked,\n\n", framing: .chunked),
        Case(head: "HTTP/1.1 200 OK\nTransfer-Encoding:\nTransfer-Encoding: chunked\n\n", framing: .chunked),
        Case(head: "HTTP/1.1 200 OK\nTransfer-Encoding: Identity\n\n"),
        Case(head: "HTTP/1.1 200 OK\nContent-Length: 3, 3\n\n", framing: .length(3)),
        Case(head: "HTTP/1.1 200 OK\n\n"),
        Case(head: "HTTP/1.1 200\nContent-Length: 0\n\n", reason: "", framing: .length(0), keepAlive: true),
        Case(head: "HTTP/1.1 200 \nContent-Length: 0\n\n", reason: "", framing: .length(0), keepAlive: true),
        Case(
            head: "HTTP/1.1 599 Só was\tda\nContent-Length: 0\n\n", status: 599, reason: "Só was\tda",
            framing: .length(0), keepAlive: true),
        Case(head: "HTTP/1.1 200 OK\nContent-Length: 3\nContent-Length: 3\n\n", framing: .length(3), keepAlive: true),
        Case(head: "HTTP/1.1 200 OK\nContent-Length: 3\nConnection: close\n\n", framing: .length(3)),
        Case(
            head: "HTTP/1.1 200 OK\nContent-Length: 3\nConnection: Keep-Alive\nConnection: Close\n\n",
            framing: .length(3)),
        Case(head: "HTTP/1.0 200 OK\nContent-Length: 3\n\n", framing: .length(3)),
        Case(
            head: "HTTP/1.0 200 OK\nContent-Length: 3\nConnection: x, keep-alive\n\n", framing: .length(3),
            keepAlive: true),
        Case(
            head: "HTTP/1.1 200 OK\nContent-Length: 3\nConnection: content-length\n\n", framing: .length(3),
            keepAlive: true),
        Case(head: "HTTP/1.1 200 OK\nContent-Length: 3\n\n", method: .head, framing: .none, keepAlive: true),
        Case(head: "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n", method: .head, framing: .none, keepAlive: true),
        Case(head: "HTTP/1.1 200 OK\nContent-Length: 3\n\n", method: .connect, framing: .none, keepAlive: true),
        Case(
            head: "HTTP/1.1 407 OK\nContent-Length: 3\n\n", method: .connect, status: 407, framing: .length(3),
            keepAlive: true),
        Case(head: "HTTP/1.1 204 OK\nContent-Length: 3\n\n", status: 204, framing: .none, keepAlive: true),
        Case(head: "HTTP/1.1 304 OK\nContent-Length: 3\n\n", status: 304, framing: .none, keepAlive: true),
        Case(head: "HTTP/1.1 100 Continue\n\n", status: 100, reason: "Continue", framing: .none, keepAlive: true),
        Case(
            head: "HTTP/1.1 101 OK\nConnection: upgrade\nUpgrade: websocket\n\n", status: 101, framing: .none,
            keepAlive: true),
    ]

    @Test(arguments: accepted)
    func `a good response is read whole, byte by byte, and with bytes behind it`(expected: Case) {
        let bytes = crlf(expected.head)
        let head = ResponseHead()
        for round in 0..<3 {
            head.reset()
            let shown = round == 2 ? bytes + [0, 10, 13] : bytes
            let outcome =
                round == 1
                ? head.outcomeByteByByte(shown, answering: expected.method)
                : head.outcome(shown, answering: expected.method)
            #expect(outcome == .complete(length: bytes.count))
            #expect(head.status.rawValue == expected.status)
            #expect(String(decoding: bytes[head.reason], as: UTF8.self) == expected.reason)
            #expect(head.framing == expected.framing)
            #expect(head.keepAlive == expected.keepAlive)
        }
    }

    static let refused: [(head: String, defect: Defect, section: String)] = [
        ("ICY 200 OK\n\n", .malformedStatusLine, "9112 4"),
        ("SHOUT/1.1 200 OK\n\n", .malformedVersion, "9112 2.3"),
        ("HTTP/2.0 200 OK\n\n", .unsupportedVersion, "9112 2.3"),
        ("HTTP/1.1  200 OK\n\n", .malformedStatusLine, "9112 4"),
        ("HTTP/1.1 20 OK\n\n", .malformedStatusLine, "9112 4"),
        ("HTTP/1.1 2000 OK\n\n", .malformedStatusLine, "9112 4"),
        ("HTTP/1.1 2x0 OK\n\n", .malformedStatusLine, "9112 4"),
        ("HTTP/1.1 099 OK\n\n", .statusOutOfRange, "9110 15"),
        ("HTTP/1.1 600 OK\n\n", .statusOutOfRange, "9110 15"),
        ("\nHTTP/1.1 200 OK\n\n", .malformedStatusLine, "9112 4"),
        (
            "HTTP/1.1 200 OK\nContent-Length: 5\nTransfer-Encoding: chunked\n\n", .contentLengthAndTransferEncoding,
            "9112 6.3 3"
        ),
        ("HTTP/1.1 200 OK\nContent-Length: 5\nContent-Length: 6\n\n", .repeatedContentLength, "9112 6.3 5"),
        ("HTTP/1.1 200 OK\nContent-Length: 5, 6\n\n", .repeatedContentLength, "9112 6.3 5"),
        ("HTTP/1.1 200 OK\nContent-Length: 5, 5\nContent-Length: 6\n\n", .repeatedContentLength, "9112 6.3 5"),
        ("HTTP/1.1 200 OK\nContent-Length: 5,\n\n", .malformedContentLength, "9112 6.3 5"),
        ("HTTP/1.1 200 OK\nContent-Length: ,5\n\n", .malformedContentLength, "9112 6.3 5"),
        ("HTTP/1.1 200 OK\nContent-Length: 5,+5\n\n", .malformedContentLength, "9112 6.3 5"),
        (
            "HTTP/1.1 200 OK\nContent-Length: 5\nTransfer-Encoding: identity, identity\n\n",
            .contentLengthAndTransferEncoding, "9112 6.3 3"
        ),
        (
            "HTTP/1.1 200 OK\nContent-Length: 5\nTransfer-Encoding: identity\nTransfer-Encoding: chunked\n\n",
            .contentLengthAndTransferEncoding, "9112 6.3 3"
        ),
        (
            "HTTP/1.1 200 OK\nContent-Length: 5\nTransfer-Encoding: \"identity\"\n\n",
            .contentLengthAndTransferEncoding, "9112 6.3 3"
        ),
        (
            "HTTP/1.0 200 OK\nContent-Length: 5\nTransfer-Encoding: identity\n\n",
            .contentLengthAndTransferEncoding, "9112 6.3 3"
        ),
        (
            "HTTP/1.1 200 OK\nContent-Length: 5\nTransfer-Encoding: identity\nContent-Length: 6\n\n",
            .repeatedContentLength, "9112 6.3 5"
        ),
        ("HTTP/1.1 200 OK\nTransfer-Encoding: identity, chunked\n\n", .unsupportedTransferCoding, "9112 6.1"),
        ("HTTP/1.1 200 OK\nTransfer-Encoding: ,\n\n", .malformedTransferEncoding, "9112 6.1"),
        ("HTTP/1.0 200 OK\nTransfer-Encoding: identity\n\n", .transferEncodingInVersion10, "9112 6.1"),
        ("HTTP/1.1 200 OK\nContent-Length: +5\n\n", .malformedContentLength, "9110 8.6"),
        ("HTTP/1.1 200 OK\nTransfer-Encoding: gzip, chunked\n\n", .unsupportedTransferCoding, "9112 6.1"),
        ("HTTP/1.1 200 OK\nTransfer-Encoding: chunked, identity\n\n", .chunkedNotFinal, "9112 6.3 4"),
        ("HTTP/1.0 200 OK\nTransfer-Encoding: chunked\n\n", .transferEncodingInVersion10, "9112 6.1"),
        ("HTTP/1.1 200 OK\n X: y\n\n", .blankBeforeFirstField, "9112 2.2"),
        ("HTTP/1.1 200 OK\n X: y\nX : y\n\n", .blankBeforeFirstField, "9112 2.2"),
        ("HTTP/1.1 200 OK\nX\n : y\n\n", .missingColon, "9112 5.2"),
        ("HTTP/1.1 200 OK\nX y : z\n\n", .malformedFieldName, "9112 5.1"),
        ("HTTP/1.1 200 OK\n : z\nX : y\n\n", .blankBeforeFirstField, "9112 2.2"),
        ("HTTP/1.1 200 OK\nContent-Length: 1\n 2\n\n", .malformedContentLength, "9112 5.2"),
        ("HTTP/1.1 200 OK\nContent-Length: 1,\n 2\n\n", .repeatedContentLength, "9112 5.2"),
        (
            "HTTP/1.1 200 OK\nContent-Length : 5\nTransfer-Encoding:\n chunked\n\n",
            .contentLengthAndTransferEncoding, "9112 6.3 3"
        ),
        ("HTTP/1.1 200 \u{1B}[31m\n\n", .controlCharacter, "9112 4"),
    ]

    @Test(arguments: refused)
    func `a response that two programs could understand differently is refused`(
        head text: String, defect: Defect, section: String
    ) {
        let bytes = crlf(text)
        let head = ResponseHead()
        #expect(head.outcome(bytes) == .refused(defect))
        #expect(head.outcome(bytes) == .refused(defect), "it stays refused")
        head.reset()
        #expect(head.outcomeByteByByte(bytes) == .refused(defect))
        #expect(HTTPError(.upstream, defect).status == .badGateway)
    }

    struct Mended: Sendable, CustomTestStringConvertible {
        /// The head as received.
        let raw: String
        /// The head as it is read, `
        /// ` for CRLF.
        let head: String
        var framing = BodyFraming.untilClose
        var testDescription: String { raw.debugDescription }
    }

    static let mended = [
        Mended(
            raw: "HTTP/1.1 200 OK\nX: y\nContent-Length: 3\n\n", head: "HTTP/1.1 200 OK\nX: y\nContent-Length: 3\n\n",
            framing: .length(3)),
        Mended(raw: "HTTP/1.1 200 OK\nX:y\r\n\n", head: "HTTP/1.1 200 OK\nX: y\n\n"),
        Mended(raw: "HTTP/1.1 200 OK\r\nX: y\n\r\n", head: "HTTP/1.1 200 OK\nX: y\n\n"),
        Mended(raw: "HTTP/1.1 200 OK\n\n", head: "HTTP/1.1 200 OK\n\n"),
        Mended(raw: "HTTP/1.0 200\n\n", head: "HTTP/1.0 200\n\n"),
        Mended(
            raw: "HTTP/1.1 200 OK\r\nContent-Length \t: 3\r\nX : \r\n\r\n",
            head: "HTTP/1.1 200 OK\nContent-Length: 3\nX: \n\n", framing: .length(3)),
        Mended(
            raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n",
            head: "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n", framing: .chunked),
        Mended(
            raw:
                "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"a\",\r\n\t nonce=\"b\",\n opaque=\"c\"\r\nX: y\r\n\r\n",
            head: "HTTP/1.1 401 No\nWWW-Authenticate: Digest realm=\"a\", nonce=\"b\", opaque=\"c\"\nX: y\n\n"),
        Mended(
            raw: "HTTP/1.1 200 OK\r\nX:\r\n y\r\n \r\n\tz\r\n\r\n", head: "HTTP/1.1 200 OK\nX:  y  z\n\n"),
        Mended(
            raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\tchunked\r\n\r\n",
            head: "HTTP/1.1 200 OK\nTransfer-Encoding:  chunked\n\n", framing: .chunked),
        Mended(raw: "HTTP/1.1 103 Early\nLink: x\n\n", head: "HTTP/1.1 103 Early\nLink: x\n\n", framing: .none),
    ]

    @Test(arguments: mended)
    func `oddities of old servers are replaced by their meaning, and the connection is not kept`(expected: Mended) {
        let (raw, bytes, behind) = (Array(expected.raw.utf8), crlf(expected.head), Array("\n : \u{0}".utf8))
        for round in 0..<3 {
            let head = ResponseHead()
            let buffer = ByteBuffer([])
            if round != 1 { buffer.append(round == 2 ? raw + behind : raw) }
            let outcome = round == 1 ? head.outcomeByteByByte(raw, in: buffer) : head.outcome(buffer)
            #expect(outcome == .complete(length: bytes.count))
            #expect(head.outcome(buffer) == .complete(length: bytes.count), "it stays complete")
            #expect(buffer.readable.array == (round == 2 ? bytes + behind : bytes))
            #expect(head.framing == expected.framing)
            #expect(head.isIrregular)
            #expect(!head.keepAlive)
            head.reset()
            #expect(head.outcome(crlf("HTTP/1.1 200 OK\nContent-Length: 3\n\n")) == .complete(length: 38))
            #expect(head.keepAlive, "a new connection is as good as any")
        }
    }

    static let badLines: [(raw: String, defect: Defect)] = [
        ("\n", .malformedStatusLine), ("\nHTTP/1.1 200 OK\n\n", .malformedStatusLine),
        ("HTTP/1.1 200 OK\nX: y\rz\n\n", .bareCarriageReturn), ("HTTP/1.1 200 OK\nX: y\n\rX", .bareCarriageReturn),
        ("HTTP/1.1 200 OK\r\r\n\r\n", .bareCarriageReturn), ("HTTP/1.1 200 OK\nX: a\u{0}b\n\n", .controlCharacter),
        ("HTTP/1.1 200 OK\n X: y\n\n", .blankBeforeFirstField), ("ICY 200 OK\nX: y\n\n", .malformedStatusLine),
        ("HTTP/1.1 200 OK\nContent-Length: 5\nContent-Length: 6\n\n", .repeatedContentLength),
        ("HTTP/1.0 200 OK\nTransfer-Encoding : chunked\n\n", .transferEncodingInVersion10),
    ]

    @Test(arguments: badLines)
    func `a response of an old server that has two readings is refused`(raw: String, defect: Defect) {
        let head = ResponseHead()
        #expect(head.outcome(Array(raw.utf8)) == .refused(defect))
        #expect(head.outcome(Array("HTTP/1.1 200 OK\r\n\r\n".utf8)) == .refused(defect), "it stays refused")
        head.reset()
        #expect(head.outcomeByteByByte(Array(raw.utf8)) == .refused(defect))
    }

    @Test func `an old server's head has the same limits`() {
        let limits = Limits(startLine: 20, head: 60, fields: 3)
        let cases: [(String, Outcome)] = [
            ("HTTP/1.1 200 OK\nX: 890123456789012345678901234567890123\n\n", .complete(length: 60)),
            ("HTTP/1.1 200 OK\nX: 89012345678901234567890123456789012345\n\n", .refused(.headTooLarge(limit: 60))),
            ("HTTP/1.1 200 OK\nX: " + String(repeating: "a", count: 60), .refused(.headTooLarge(limit: 60))),
            ("HTTP/1.1 200 OK and much more\n\n", .refused(.startLineTooLong(limit: 20))),
            ("HTTP/1.1 200 OK\nA: 1\nB: 2\nC: 3\nD: 4\n\n", .refused(.tooManyFields(limit: 3))),
        ]
        for (text, expected) in cases {
            let head = ResponseHead(limits: limits)
            #expect(head.outcome(Array(text.utf8)) == expected, "\(text)")
            head.reset()
            #expect(head.outcomeByteByByte(Array(text.utf8)) == expected, "\(text)")
        }
    }

    @Test(
        arguments: [
            ([0, 0, 18, 4, 0, 0, 0, 0, 0, 0, 3], Outcome.refused(.onlyHTTP2)),
            ([0, 0, 8, 7, 0, 0, 0, 0, 0], .refused(.onlyHTTP2)),
            ([0, 0, 0, 4, 0, 0, 0, 0], .needsMore),
            ([0], .needsMore),
            ([0, 0, 0, 1, 0, 0, 0, 0, 0], .refused(.controlCharacter)),
            ([0, 0, 0, 4, 0, 0, 0, 0, 1], .refused(.controlCharacter)),
            ([1, 0, 0, 4, 0, 0, 0, 0, 0], .refused(.controlCharacter)),
        ] as [([UInt8], Outcome)])
    func `a server that speaks only HTTP/2 is named as that`(bytes: [UInt8], outcome: Outcome) {
        #expect(ResponseHead().outcome(bytes) == outcome)
        #expect(ResponseHead().outcomeByteByByte(bytes) == outcome)
    }

    @Test func `a response may have a far larger head than a request`() {
        let ticket = String(repeating: "a", count: 200 << 10)
        let response = crlf("HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Negotiate \(ticket)\n\n")
        #expect(ResponseHead().outcome(response) == .complete(length: response.count))
        let request = crlf("GET / HTTP/1.1\nHost: h\nAuthorization: Negotiate \(ticket)\n\n")
        #expect(RequestHead().outcome(request) == .refused(.headTooLarge(limit: 65_536)))
    }
}
