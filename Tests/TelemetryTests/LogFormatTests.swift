import Bytes
import HTTP
import Model
import Telemetry
import Testing

/// The formats of other programs. The golden lines are those that Apache 2.4.71 and squid 5.7 wrote of the same requests.
struct LogFormatTests {
    private static func line(_ record: ExchangeRecord, _ format: AccessLogEncoder.Format) -> String {
        AccessLogTests.line(record, format)
    }

    private static func record(_ path: String = "/", _ method: String = "GET") throws -> ExchangeRecord {
        let record = try AccessLogTests.record()
        AccessLogTests.target(record, method, .http, "a.test", 8080, path)
        record.facts.status = 200
        record.facts.bytesOut = 5
        return record
    }

    private static let hostile = "http://a/\"b\\c\t\u{1b}[2J\u{7f}é"

    // MARK: - Apache

    @Test func `combined has the referer and the agent behind common`() throws {
        let record = try Self.record()
        record.addReferer(Self.hostile.utf8Span.span)
        record.addAgent("Mozilla/5.0 (X) \"q\"".utf8Span.span)
        #expect(
            Self.line(record, .combined) == #"""
                127.0.0.1 - - [21/Nov/2026:03:36:00 +0000] "GET http://a.test:8080/ HTTP/1.1" 200 5 \#
                "http://a/\"b\\c\t\x1b[2J\x7f\xc3\xa9" "Mozilla/5.0 (X) \"q\""\#n
                """#)
        let parsed = try #require(ApacheLine(Self.line(record, .combined)))
        #expect(parsed.referer == Array(Self.hostile.utf8))
        #expect(parsed.agent == Array("Mozilla/5.0 (X) \"q\"".utf8))
        #expect(!Self.line(record, .json).contains("Mozilla"))
    }

    @Test func `fields that the client did not send are dashes, and those of several lines are joined`() throws {
        let record = try Self.record()
        #expect(Self.line(record, .combined).hasSuffix(#" 200 5 "-" "-""# + "\n"))
        for value in ["one", "two"] { record.addReferer(value.utf8Span.span) }
        for value in ["a", "b"] { record.addAgent(value.utf8Span.span) }
        #expect(Self.line(record, .combined).hasSuffix(#" 200 5 "one, two" "a, b""# + "\n"))
        record.reset()
        #expect(Self.line(record, .combined).hasSuffix(#""-" - - "-" "-""# + "\n"))
    }

    @Test(arguments: [
        ("bob", "bob"), ("", #""""#), (#"b "x"\"#, #"b\x20\"x\"\\"#), ("é\u{202E}", #"\xc3\xa9\xe2\x80\xae"#),
    ])
    func `the user is the third field`(name: String, field: String) throws {
        let record = try Self.record()
        record.facts.user = name
        #expect(Self.line(record, .common).hasPrefix("127.0.0.1 - \(field) [21/Nov/2026:"))
        #expect(ApacheLine(Self.line(record, .common))?.user == Array(name.utf8))
    }

    @Test func `the time is that of the request, as with Apache`() throws {
        let record = try Self.record()
        record.facts.duration = 61_000_000_000
        #expect(Self.line(record, .common).contains(" [21/Nov/2026:03:34:59 +0000] "))
    }

    @Test(arguments: [
        ("http://u:s3cret@a.test/x?u@v", "http://a.test/x?u@v"), ("http://u:s3cret@a.test", "http://a.test"),
        ("https://a.test/u:t@b", "https://a.test/u:t@b"), ("http:/@x", "http:/@x"), ("@", "@"), ("://@", "://"),
    ])
    func `a referer has no user information`(said: String, shown: String) throws {
        let record = try Self.record()
        record.addReferer(said.utf8Span.span)
        #expect(ApacheLine(Self.line(record, .combined))?.referer == Array(shown.utf8))
    }

    @Test func `a parameter with a credential is hidden in the referer, too`() throws {
        let record = try Self.record("/x?key=s3cret&a=b")
        record.addReferer("http://a.test/x?key=s3cret".utf8Span.span)
        record.addAgent("agent".utf8Span.span)
        record.hideParameter("key".utf8Span.span)
        let line = Self.line(record, .combined)
        #expect(!line.contains("s3cret"))
        #expect(
            line.contains("/x?key=***&a=b HTTP/1.1") && line.hasSuffix(#""http://a.test/x?key=***" "agent""# + "\n"))
    }

    // MARK: - squid

    private static let loopback = IPAddress("127.0.0.1")

    @Test func `squid is what squid writes`() throws {
        let record = try Self.record("/plain?a=b")
        record.facts.duration = 12_000_000
        record.facts.headBytesOut = 239
        record.facts.upstream = .opened
        record.facts.server = Self.loopback
        record.setType("text/html; charset=utf-8".utf8Span.span)
        #expect(
            Self.line(record, .squid)
                == "1795232160.042     12 127.0.0.1 TCP_MISS/200 244 GET http://a.test:8080/plain?a=b - "
                + "HIER_DIRECT/127.0.0.1 text/html\n")
        record.facts.parent = ParentFigures(ParentName("corp", kind: "http", at: "p.test:3128"))
        record.facts.duration = 1_234_567_000_000
        #expect(Self.line(record, .squid).hasPrefix("1795232160.042 1234567 127.0.0.1 TCP_MISS/200 244 GET "))
        #expect(Self.line(record, .squid).hasSuffix(" - FIRSTUP_PARENT/127.0.0.1 text/html\n"))
    }

    @Test(arguments: [
        (Int?.none, "NONE_NONE/200"), (403, "TCP_DENIED/403"), (407, "TCP_DENIED/407"), (502, "TCP_MISS/502"),
        (400, "NONE_NONE/400"),
    ])
    func `what the proxy answers itself comes from nowhere`(refused: Int?, result: String) throws {
        let record = try Self.record()
        if let refused {
            record.facts.status = refused
            record.facts.error = refused == 502 ? .dnsError : refused == 400 ? .httpRequestError : .httpRequestDenied
        }
        #expect(Self.line(record, .squid).contains(" 127.0.0.1 \(result) 5 GET "))
        #expect(Self.line(record, .squid).hasSuffix(" - HIER_NONE/- -\n"))
    }

    @Test func `a tunnel, a client that leaves, and a request that cannot be read have squid's words`() throws {
        let tunnel = try AccessLogTests.record()
        AccessLogTests.target(tunnel, "CONNECT", .authority, "a.test", 443, "")
        tunnel.facts.status = 200
        tunnel.facts.headBytesOut = 39
        tunnel.facts.bytesOut = 102
        tunnel.facts.upstream = .opened
        tunnel.facts.server = Self.loopback
        #expect(
            Self.line(tunnel, .squid)
                == "1795232160.042      0 127.0.0.1 TCP_TUNNEL/200 141 CONNECT a.test:443 - HIER_DIRECT/127.0.0.1 -\n")
        tunnel.facts.status = 502
        #expect(Self.line(tunnel, .squid).contains(" NONE_NONE/502 "))
        let left = try Self.record()
        left.facts.status = 0
        left.facts.bytesOut = 0
        left.facts.upstream = .reused
        left.noteDeparture()
        #expect(
            Self.line(left, .squid)
                == "1795232160.042      0 127.0.0.1 TCP_MISS_ABORTED/000 0 GET http://a.test:8080/ - HIER_DIRECT/a.test -\n"
        )
        let bad = try AccessLogTests.record()
        bad.facts.status = 400
        bad.facts.error = .httpRequestError
        #expect(
            Self.line(bad, .squid)
                == "1795232160.042      0 127.0.0.1 NONE_NONE/400 0 NONE error:invalid-request - HIER_NONE/- -\n")
    }

    @Test(arguments: [
        ("/q\"u\\o<>^`{|}~'$,;", "/q\"u\\o<>^`{|}~'$,;"), ("/é\u{1b}[2J x\r\n\u{7f}", "/%C3%A9%1B[2J%20x%0D%0A%7F"),
        ("/%20\u{202E}", "/%20%E2%80%AE"),
    ])
    func `a hostile value stays in its field of squid's`(path: String, shown: String) throws {
        let record = try Self.record(path)
        record.facts.user = "bob [x] \"y\u{9b}%"
        record.setType("te\u{1b}xt/h\"é more".utf8Span.span)
        let line = Self.line(record, .squid)
        let fields = line.dropLast().split(separator: " ").map(String.init)
        #expect(fields.count == 10 && line.utf8.allSatisfy { $0 == .lineFeed || (0x20..<0x7F).contains($0) })
        #expect(fields[6] == "http://a.test:8080" + shown)
        #expect(fields[7] == "bob%20%5bx%5d%20\"y%c2%9b%25")
        #expect(fields[9] == "te")
    }

    // MARK: - Before a terminal

    @Test func `a person reads what was decided, and nothing that is as usual`() throws {
        #expect(
            Self.line(try AccessLogTests.answered(), .console(hasColours: false))
                == "03:36:00Z 200 GET http://ci.example.com:8080/job?name=a&x=%20 12 ms user alice digest ci "
                + "rule \"build server\"\n")
        let failed = try AccessLogTests.record(client: "192.0.2.7")
        AccessLogTests.target(failed, "GET", .https, "a.test", 443, "/" + String(repeating: "x", count: 5000))
        failed.facts.status = 502
        failed.facts.parent = ParentFigures(ParentName("corp", kind: "http", at: "p.test:3128"))
        failed.facts.parentAnswer = AnswerRecord(scheme: .method(.negotiate))
        failed.facts.error = .dnsError
        failed.facts.details = "no such host"
        #expect(
            Self.line(failed, .console(hasColours: false))
                == "03:36:00Z 502 GET https://a.test/\(String(repeating: "x", count: 255))… 0 ms from 192.0.2.7 "
                + "via corp p.test:3128 negotiate dns_error: no such host\n")
        #expect(Self.line(try AccessLogTests.record(), .console(hasColours: false)) == "03:36:00Z --- - 0 ms\n")
    }

    @Test(arguments: [(200, 32), (304, 36), (407, 33), (502, 31)])
    func `the status has the colour of its class`(status: Int, colour: Int) throws {
        let record = try Self.record()
        record.facts.status = status
        #expect(
            Self.line(record, .console(hasColours: true))
                == "\u{1b}[2m03:36:00Z\u{1b}[0m \u{1b}[\(colour)m\(status)\u{1b}[0m GET http://a.test:8080/ 0 ms\n")
    }

    @Test func `no value steers the terminal`() throws {
        let hostile = "a\r\n\u{1b}[2J\u{9b}0m\u{202E}\u{2067}é\u{7f}"
        let shown = #"a\u{d}\u{a}\u{1b}[2J\u{9b}0m\u{202e}\u{2067}é\u{7f}"#
        let record = try AccessLogTests.record()
        AccessLogTests.target(record, hostile, .http, hostile, 80, hostile)
        record.facts.user = hostile
        record.facts.answer = AnswerRecord(
            scheme: .method(.basic), credential: hostile,
            rule: RuleReference(name: hostile + "\"", file: "proxy.conf", line: 1))
        record.facts.error = .dnsError
        record.facts.details = hostile
        #expect(
            Self.line(record, .console(hasColours: false))
                == "03:36:00Z --- \(shown) http://\(shown)\(shown) 0 ms user \(shown) basic \(shown) "
                + "rule \"\(shown)\\\"\" dns_error: \(shown)\n")
        let bytes: [UInt8] = [0x2F, 0xFF, 0xE2, 0x80, 0x1B]
        record.setTarget(
            method: "GET".utf8Span.span, form: .path, host: Span(), port: 0, path: bytes.span)
        #expect(Self.line(record, .console(hasColours: false)).contains(#" GET /\xff\xe2\x80\u{1b} "#))
    }
}
