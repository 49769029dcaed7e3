import HTTP
import Testing

@Suite struct RequestRefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let head: String
        let defect: Defect
        let status: UInt16
        let section: String

        init(_ head: String, _ defect: Defect, _ section: String) { self.init(head, defect, 400, section) }

        init(_ head: String, _ defect: Defect, _ status: UInt16, _ section: String) {
            self.head = head
            self.defect = defect
            self.status = status
            self.section = section
        }

        var testDescription: String { "\(section): \(head.debugDescription)" }
    }

    /// Line ends are written out where they are the point, else `\n` stands for CRLF.
    static let lines = [
        Case("GET / HTTP/1.1\nHost: h\r\n\r\n", .bareLineFeed, "9112 2.2"),
        Case("GET / HTTP/1.1\r\nHost: h\n\r\n", .bareLineFeed, "9112 2.2"),
        Case("GET / HTTP/1.1\r\nHost: h\r\n\n", .bareLineFeed, "9112 2.2"),
        Case("\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", .bareLineFeed, "9112 2.2"),
        Case("GET / HTTP/1.1\rHost: h\r\n\r\n", .bareCarriageReturn, "9112 2.2"),
        Case("GET / HTTP/1.1\r\nHost: h\rX: y\r\n\r\n", .bareCarriageReturn, "9112 2.2"),
        Case("GET / HTTP/1.1\r\nHost: h\r\n\rX", .bareCarriageReturn, "9112 2.2"),
        Case("GET / HTTP/1.1\r\nHost: h\r\r\n\r\n", .bareCarriageReturn, "9112 2.2"),
        Case("GET / HTTP/1.1\r\nHost: h\r\nX: a\u{0}b\r\n\r\n", .controlCharacter, "9110 5.5"),
        Case("GET / HTTP/1.1\r\nHost: h\r\nX: a\u{7F}\r\n\r\n", .controlCharacter, "9110 5.5"),
        Case("GET / HTTP/1.1\r\nHost: h\r\nX: a\u{B}\r\n\r\n", .controlCharacter, "9110 5.5"),
        Case("\u{16}\u{3}\u{1}\u{2}\u{0}", .controlCharacter, "a TLS hello"),
        Case("\r\n\r\n\r\nGET / HTTP/1.1\r\n", .emptyLineBeforeMessage, "9112 2.2"),
        Case("GET / HTTP/1.1\r\n Host: h\r\n\r\n", .blankBeforeFirstField, "9112 2.2"),
        Case("GET / HTTP/1.1\r\n\tX: y\r\nHost: h\r\n\r\n", .blankBeforeFirstField, "9112 2.2"),
        Case("GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n", .foldedLine, "9112 5.2"),
        Case("GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n\t\r\n\r\n", .foldedLine, "9112 5.2"),
        Case("GET / HTTP/1.1\r\nHost : h\r\n\r\n", .blankBeforeColon, "9112 5.1"),
        Case("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n", .blankBeforeColon, "9112 5.1"),
        Case("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding\t: chunked\r\n\r\n", .blankBeforeColon, "9112 5.1"),
        Case("GET / HTTP/1.1\r\nHost: h\r\n: x\r\n\r\n", .malformedFieldName, "9110 5.1"),
        Case("GET / HTTP/1.1\r\nHost: h\r\nX(: x\r\n\r\n", .malformedFieldName, "9110 5.1"),
        Case("GET / HTTP/1.1\r\nHost: h\r\nÄ: x\r\n\r\n", .malformedFieldName, "9110 5.1"),
        Case("GET / HTTP/1.1\r\nHost: h\r\nX Y: x\r\n\r\n", .malformedFieldName, "9110 5.1"),
        Case("GET / HTTP/1.1\r\nHost: h\r\nNoColonHere\r\n\r\n", .missingColon, "9112 5"),
    ]

    static let startLines = [
        Case("GET  / HTTP/1.1\n\n", .malformedTarget, "9112 3"),
        Case("GET /  HTTP/1.1\n\n", .malformedTarget, "9112 3"),
        Case("GET /a b HTTP/1.1\n\n", .malformedTarget, "9112 3.2"),
        Case("GET\t/ HTTP/1.1\n\n", .malformedMethod, "9112 3"),
        Case(" GET / HTTP/1.1\n\n", .malformedMethod, "9112 3.1"),
        Case("G(T / HTTP/1.1\n\n", .malformedMethod, "9112 3.1"),
        Case("GET /\n\n", .malformedRequestLine, "HTTP/0.9"),
        Case("GET\n\n", .malformedRequestLine, "9112 3"),
        Case("GET HTTP/1.1\n\n", .malformedRequestLine, "9112 3"),
        Case("GET / HTTP/1.1 \n\n", .malformedRequestLine, "9112 3"),
        Case("GET / HTTP/1.10\n\n", .malformedRequestLine, "9112 2.3"),
        Case("GET / http/1.1\n\n", .malformedVersion, "9112 2.3"),
        Case("GET / HTTP/1,1\n\n", .malformedVersion, "9112 2.3"),
        Case("GET / HTTP/x.1\n\n", .malformedVersion, "9112 2.3"),
        Case("GET / HTTP/2.0\n\n", .unsupportedVersion, 505, "9110 15.6.6"),
        Case("PRI * HTTP/2.0\n\nSM\n\n", .unsupportedVersion, 505, "9110 15.6.6"),
        Case("GET /a#b HTTP/1.1\nHost: h\n\n", .fragmentInTarget, "9112 3.2"),
        Case("GET http://h/a#b HTTP/1.1\nHost: h\n\n", .fragmentInTarget, "9112 3.2"),
        Case("GET /ä\u{1}b HTTP/1.1\nHost: h\n\n", .controlCharacter, "9112 3.2"),
        Case("GET /ä#b HTTP/1.1\nHost: h\n\n", .fragmentInTarget, "9112 3.2"),
        Case("GET /ä b HTTP/1.1\nHost: h\n\n", .malformedTarget, "9112 3.2"),
        Case("GET http://ä/ HTTP/1.1\nHost: h\n\n", .malformedHost, "3986 3.2.2"),
        Case("GET ä://h/ HTTP/1.1\nHost: h\n\n", .malformedTarget, "3986 3.1"),
        Case("CONNECT ä:443 HTTP/1.1\nHost: h\n\n", .malformedHost, "9112 3.2.3"),
        Case("GET /a\tb HTTP/1.1\nHost: h\n\n", .malformedTarget, "9112 3.2"),
        Case("GET * HTTP/1.1\nHost: h\n\n", .malformedTarget, "9112 3.2.4"),
        Case("OPTIONS *a HTTP/1.1\nHost: h\n\n", .malformedTarget, "9112 3.2.4"),
        Case("GET h:80 HTTP/1.1\nHost: h\n\n", .malformedTarget, "9112 3.2.3"),
        Case("GET h/ HTTP/1.1\nHost: h\n\n", .malformedTarget, "9112 3.2"),
        Case("GET 1http://h/ HTTP/1.1\nHost: h\n\n", .malformedTarget, "3986 3.1"),
        Case("GET http:/h/ HTTP/1.1\nHost: h\n\n", .malformedTarget, "9112 3.2.2"),
        Case("GET http:// HTTP/1.1\nHost: h\n\n", .malformedHost, "9110 4.2.1"),
        Case("GET http:///a HTTP/1.1\nHost: h\n\n", .malformedHost, "9110 4.2.1"),
        Case("GET http://:80/ HTTP/1.1\nHost: h\n\n", .malformedHost, "9110 4.2.1"),
        Case("GET http://h%2f/ HTTP/1.1\nHost: h\n\n", .malformedHost, "3986 3.2.2"),
        Case("GET http://h\\@i/ HTTP/1.1\nHost: i\n\n", .malformedUserinfo, "3986 3.2.1"),
        Case("GET http://a@b@c/ HTTP/1.1\nHost: c\n\n", .malformedUserinfo, "3986 3.2.1"),
        Case("GET http://.b/ HTTP/1.1\nHost: c\n\n", .malformedHost, "3986 3.2.2"),
        Case("GET http://127.1/ HTTP/1.1\nHost: 127.1\n\n", .malformedHost, "ends in a number"),
        Case("GET http://2130706433/ HTTP/1.1\nHost: h\n\n", .malformedHost, "ends in a number"),
        Case("GET http://0x7f000001/ HTTP/1.1\nHost: h\n\n", .malformedHost, "ends in a number"),
        Case("GET http://127.0.0.01/ HTTP/1.1\nHost: h\n\n", .malformedHost, "3986 3.2.2"),
        Case("GET http://127.0.0.256/ HTTP/1.1\nHost: h\n\n", .malformedHost, "3986 3.2.2"),
        Case("GET http://127.0.0.1./ HTTP/1.1\nHost: h\n\n", .malformedHost, "ends in a number"),
        Case("GET http://[::1/ HTTP/1.1\nHost: h\n\n", .malformedHost, "3986 3.2.2"),
        Case("GET http://[127.0.0.1]/ HTTP/1.1\nHost: h\n\n", .malformedHost, "3986 3.2.2"),
        Case("GET http://[fe80::1%25eth0]/ HTTP/1.1\nHost: h\n\n", .malformedHost, "6874, obsolete"),
        Case("GET http://[::1]x/ HTTP/1.1\nHost: h\n\n", .malformedHost, "3986 3.2"),
        Case("GET http://h:0/ HTTP/1.1\nHost: h\n\n", .malformedPort, "9110 4.2.1"),
        Case("GET http://h:65536/ HTTP/1.1\nHost: h\n\n", .malformedPort, "9110 4.2.1"),
        Case("GET http://h:+80/ HTTP/1.1\nHost: h\n\n", .malformedPort, "3986 3.2.3"),
        Case("GET http://h:000080/ HTTP/1.1\nHost: h\n\n", .malformedPort, "3986 3.2.3"),
        Case("CONNECT h HTTP/1.1\nHost: h\n\n", .missingPort, "9112 3.2.3"),
        Case("CONNECT h: HTTP/1.1\nHost: h\n\n", .missingPort, "9112 3.2.3"),
        Case("CONNECT /x HTTP/1.1\nHost: h\n\n", .malformedHost, "9112 3.2.3"),
        Case("CONNECT http://h:1/ HTTP/1.1\nHost: h\n\n", .malformedPort, "9112 3.2.3"),
        Case("CONNECT u@h:443 HTTP/1.1\nHost: h\n\n", .malformedHost, "9112 3.2.3"),
    ]

    static let fields = [
        Case("GET / HTTP/1.1\n\n", .missingHost, "9112 3.2"),
        Case("GET http://h/ HTTP/1.1\n\n", .missingHost, "9112 3.2"),
        Case("GET / HTTP/1.1\nHost: h\nHost: h\n\n", .repeatedHost, "9112 3.2"),
        Case("GET / HTTP/1.1\nHost:\n\n", .malformedHost, "9112 3.2"),
        Case("GET / HTTP/1.1\nHost: a b\n\n", .malformedHost, "9112 3.2"),
        Case("GET / HTTP/1.1\nHost: a, b\n\n", .malformedHost, "9112 3.2"),
        Case("GET / HTTP/1.1\nHost: u@h\n\n", .malformedHost, "9110 7.2"),
        Case("GET / HTTP/1.1\nHost: http://h\n\n", .malformedPort, "9110 7.2"),
        Case("GET http://a/ HTTP/1.1\nHost: b/\n\n", .malformedHost, "9112 3.2"),
        Case("GET http://a/ HTTP/1.1\nHost: a\nHost: a\n\n", .repeatedHost, "9112 3.2"),
        Case("CONNECT a:443 HTTP/1.1\nHost: b/\n\n", .malformedHost, "9112 3.2"),
        Case("GET / HTTP/1.1\nHost: h\nConnection: \"close\"\n\n", .malformedConnection, "9110 7.6.1"),
        Case("GET / HTTP/1.1\nHost: h\nConnection: close keep-alive\n\n", .malformedConnection, "9110 7.6.1"),
        Case("GET / HTTP/1.1\nHost: h\nConnection: Host\n\n", .connectionNamesEssentialField, "9110 7.6.1"),
        Case(
            "POST / HTTP/1.1\nHost: h\nContent-Length: 5\nConnection: content-LENGTH\n\n",
            .connectionNamesEssentialField, "9110 7.6.1"),
        Case(
            "GET / HTTP/1.1\nHost: h\nConnection: close, authorization\n\n", .connectionNamesEssentialField,
            "9110 7.6.1"),
        Case("GET / HTTP/1.1\nHost: h\nExpect: 200-ok\n\n", .unmetExpectation, 417, "9110 10.1.1"),
        Case(
            "GET / HTTP/1.1\nHost: h\nExpect: 100-continue\nExpect: 100-continue\n\n", .unmetExpectation, 417,
            "9110 10.1.1"),
        Case("TRACE / HTTP/1.1\nHost: h\nMax-Forwards: -1\n\n", .malformedMaxForwards, "9110 7.6.2"),
        Case("OPTIONS / HTTP/1.1\nHost: h\nMax-Forwards:\n\n", .malformedMaxForwards, "9110 7.6.2"),
    ]

    /// Each the tail of a POST's head.
    static let framing: [Case] =
        [
            (
                "Content-Length: 5\nTransfer-Encoding: chunked", Defect.contentLengthAndTransferEncoding, 400,
                "9112 6.3 3"
            ),
            ("Transfer-Encoding: chunked\nContent-Length: 5", .contentLengthAndTransferEncoding, 400, "9112 6.3 3"),
            ("Content-Length: 5\nTransfer-Encoding: xchunked", .contentLengthAndTransferEncoding, 400, "9112 6.3 3"),
            ("Content-Length: 5\nContent-Length: 6", .repeatedContentLength, 400, "9112 6.3 5"),
            ("Content-Length: 5\nContent-Length: 5", .repeatedContentLength, 400, "9112 6.3 5"),
            ("Content-Length: 5, 5", .malformedContentLength, 400, "9112 6.3 5"),
            ("Content-Length: 5,5", .malformedContentLength, 400, "9112 6.3 5"),
            ("Content-Length: +5", .malformedContentLength, 400, "9110 8.6"),
            ("Content-Length: -5", .malformedContentLength, 400, "9110 8.6"),
            ("Content-Length: 0x5", .malformedContentLength, 400, "9110 8.6"),
            ("Content-Length: 5 5", .malformedContentLength, 400, "9110 8.6"),
            ("Content-Length:", .malformedContentLength, 400, "9110 8.6"),
            ("Content-Length: 5_0", .malformedContentLength, 400, "9110 8.6"),
            ("Content-Length: ５", .malformedContentLength, 400, "9110 8.6"),
            ("Content-Length: 9223372036854775808", .malformedContentLength, 400, "9110 8.6"),
            ("Content-Length: 99999999999999999999999999", .malformedContentLength, 400, "9110 8.6"),
            ("Transfer-Encoding: xchunked", .unsupportedTransferCoding, 501, "9112 6.1"),
            ("Transfer-Encoding: gzip, chunked", .unsupportedTransferCoding, 501, "9112 6.1"),
            ("Transfer-Encoding: gzip\nTransfer-Encoding: chunked", .unsupportedTransferCoding, 501, "9112 6.1"),
            ("Transfer-Encoding: identity", .unsupportedTransferCoding, 501, "9112 6.1"),
            ("Transfer-Encoding: chunked, identity", .chunkedNotFinal, 400, "9112 6.3 4"),
            ("Transfer-Encoding: chunked, chunked", .chunkedNotFinal, 400, "9112 6.1"),
            ("Transfer-Encoding: chunked\nTransfer-Encoding: chunked", .chunkedNotFinal, 400, "9112 6.1"),
            ("Transfer-Encoding: chunked\nTransfer-Encoding: x", .chunkedNotFinal, 400, "9112 6.3 4"),
            ("Transfer-Encoding: \"chunked\"", .malformedTransferEncoding, 400, "9112 6.1"),
            ("Transfer-Encoding: chunked;a=b", .malformedTransferEncoding, 400, "9112 6.1"),
            ("Transfer-Encoding: chunked x", .malformedTransferEncoding, 400, "9112 6.1"),
            ("Transfer-Encoding:", .malformedTransferEncoding, 400, "9112 6.1"),
            ("Transfer-Encoding: ,", .malformedTransferEncoding, 400, "9112 6.1"),
            ("Transfer-Encoding: ,chunked", .malformedTransferEncoding, 400, "9112 6.1"),
            ("Transfer-Encoding: chunked,", .malformedTransferEncoding, 400, "9112 6.1"),
            ("Transfer-Encoding: chunked, ,", .malformedTransferEncoding, 400, "9112 6.1"),
            ("Transfer-Encoding:\nTransfer-Encoding: chunked", .malformedTransferEncoding, 400, "9112 6.1"),
            ("Transfer-Encoding: chunked\nTransfer-Encoding:", .malformedTransferEncoding, 400, "9112 6.1"),
            ("Transfer-Encoding: chunked\nTransfer-Encoding: ,", .malformedTransferEncoding, 400, "9112 6.1"),
        ].map { Case("POST / HTTP/1.1\nHost: h\n\($0.0)\n\n", $0.1, $0.2, $0.3) } + [
            Case("POST / HTTP/1.0\nTransfer-Encoding: chunked\n\n", .transferEncodingInVersion10, "9112 6.1")
        ]

    @Test(arguments: lines)
    func `a line that two programs could read differently is refused`(refused: Case) {
        check(refused, Array(refused.head.utf8))
    }

    @Test(arguments: startLines + fields + framing)
    func `a request that two programs could understand differently is refused`(refused: Case) {
        check(refused, crlf(refused.head))
    }

    private func check(_ refused: Case, _ bytes: [UInt8]) {
        let error = HTTPError(.client, refused.defect)
        #expect(error.status.rawValue == refused.status)
        let head = RequestHead()
        #expect(head.outcome(bytes) == .refused(refused.defect))
        head.reset()
        #expect(head.outcomeByteByByte(bytes) == .refused(refused.defect))
        head.reset()
        #expect(head.outcome(bytes + Array("trailing\n\u{0}".utf8)) == .refused(refused.defect))
    }

    @Test func `limits are refused at the same byte however the head arrives`() {
        let limits = Limits(startLine: 20, head: 60, fields: 3)
        let cases: [(String, Outcome)] = [
            ("GET /56789a HTTP/1.1\nHost: h\n\n", .complete(length: 33)),
            ("GET /56789ab HTTP/1.1\nHost: h\n\n", .refused(.startLineTooLong(limit: 20))),
            ("GET /56789abcdefghijklmnopqrst", .refused(.startLineTooLong(limit: 20))),
            ("GETGETGETGETGETGETGET /56789abcdefghijklmnopqrst", .refused(.methodTooLong(limit: 20))),
            ("GETGETGETGETGETGETGE /56789abcdefghijklmnopqrst", .refused(.methodTooLong(limit: 20))),
            ("GETGETGETGETGETGETG /56789abcdefghijklmnopqrst", .refused(.startLineTooLong(limit: 20))),
            ("\n\nGETGETGETGETGETGETGETGETGETGET", .refused(.methodTooLong(limit: 20))),
            ("GET /é HTTP/1.1\nHost: h\n\n", .complete(length: 33)),
            ("GET /éé HTTP/1.1\nHost: h\n\n", .refused(.startLineTooLong(limit: 20))),
            ("GET / HTTP/1.1\nHost: h\nX: 8901234567890123456789012345\n\n", .complete(length: 60)),
            ("GET / HTTP/1.1\nHost: h\nX: 89012345678901234567890123456\n\n", .refused(.headTooLarge(limit: 60))),
            ("GET / HTTP/1.1\nHost: h\nX: 890123456789012345678901234567\n\n", .refused(.headTooLarge(limit: 60))),
            (
                "GET / HTTP/1.1\nHost: h\nX: 89012345678901234567890123456789012345\u{0}",
                .refused(.headTooLarge(limit: 60))
            ),
            ("GET / HTTP/1.1\nHost: h\nA: 1\nB: 2\n\n", .complete(length: 39)),
            ("GET / HTTP/1.1\nHost: h\nA: 1\nB: 2\nC: 3\n\n", .refused(.tooManyFields(limit: 3))),
        ]
        for (text, expected) in cases {
            let head = RequestHead(limits: limits)
            #expect(head.outcome(crlf(text)) == expected, "\(text)")
            head.reset()
            #expect(head.outcomeByteByByte(crlf(text)) == expected, "\(text)")
        }
        #expect(HTTPError(.client, .startLineTooLong(limit: 20)).status == .uriTooLong)
        #expect(HTTPError(.client, .methodTooLong(limit: 20)).status == .notImplemented)
        #expect(HTTPError(.client, .headTooLarge(limit: 60)).status == .requestHeaderFieldsTooLarge)
        #expect(HTTPError(.client, .tooManyFields(limit: 3)).status == .requestHeaderFieldsTooLarge)
    }

    @Test func `connection options are counted`() {
        let options = (0..<65).map { "o\($0)" }.joined(separator: ",")
        let head = RequestHead()
        #expect(
            head.outcome(crlf("GET / HTTP/1.1\nHost: h\nConnection: \(options)\n\n"))
                == .refused(.tooManyConnectionOptions(limit: 64)))
    }
}
