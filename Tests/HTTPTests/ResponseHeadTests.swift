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
        // A parent's word about its connection, in the field that RFC 9112 appendix C.2.2 speaks of.
        Case(
            head: "HTTP/1.1 407 OK\nContent-Length: 3\nProxy-Connection: close\n\n", status: 407, framing: .length(3)),
        Case(
            head: "HTTP/1.0 407 OK\nContent-Length: 3\nProxy-Connection: Keep-Alive\n\n", status: 407,
            framing: .length(3), keepAlive: true),
        Case(head: "HTTP/1.0 200 OK\nContent-Length: 3\nProxy-Connection: Keep-Alive\n\n", framing: .length(3)),
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
            "HTTP/1.1 200 OK\nContent-Length: 5\nTransfer-Encoding: identity\n\n",
            .contentLengthAndTransferEncoding, "9112 6.3 3"
        ),
        ("HTTP/1.1 200 OK\nTransfer-Encoding: identity, chunked\n\n", .unsupportedTransferCoding, "9112 6.1"),
        ("HTTP/1.1 200 OK\nTransfer-Encoding: ,\n\n", .malformedTransferEncoding, "9112 6.1"),
        ("HTTP/1.0 200 OK\nTransfer-Encoding: identity\n\n", .transferEncodingInVersion10, "9112 6.1"),
        ("HTTP/1.1 200 OK\nContent-Length: +5\n\n", .malformedContentLength, "9110 8.6"),
        ("HTTP/1.1 200 OK\nTransfer-Encoding: gzip, chunked\n\n", .unsupportedTransferCoding, "9112 6.1"),
        ("HTTP/1.1 200 OK\nTransfer-Encoding: chunked, identity\n\n", .chunkedNotFinal, "9112 6.3 4"),
        ("HTTP/1.0 200 OK\nTransfer-Encoding: chunked\n\n", .transferEncodingInVersion10, "9112 6.1"),
        ("HTTP/1.1 200 OK\n X: y\n\n", .blankBeforeFirstField, "9112 2.2"),
        ("HTTP/1.1 200 OK\nX: y\n z\n\n", .foldedLine, "9112 5.2"),
        ("HTTP/1.1 200 OK\nX : y\n\n", .blankBeforeColon, "9112 5.1"),
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

    @Test func `a bare line feed in a response is refused`() {
        #expect(ResponseHead().outcome(Array("HTTP/1.1 200 OK\nX: y\r\n\r\n".utf8)) == .refused(.bareLineFeed))
    }

    @Test func `a response may have a far larger head than a request`() {
        let ticket = String(repeating: "a", count: 200 << 10)
        let response = crlf("HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Negotiate \(ticket)\n\n")
        #expect(ResponseHead().outcome(response) == .complete(length: response.count))
        let request = crlf("GET / HTTP/1.1\nHost: h\nAuthorization: Negotiate \(ticket)\n\n")
        #expect(RequestHead().outcome(request) == .refused(.headTooLarge(limit: 65_536)))
    }
}
