import Bytes
import Foundation
import HTTP
import IO
import Model
import Telemetry
import Testing

struct AccessLogTests {
    /// 21 November 2026, 03:36:00.042.
    static let time: WallTime = 1_795_232_160_042

    static let formats = [
        AccessLogEncoder.Format.json, .common, .combined, .squid, .console(hasColours: false),
        .console(hasColours: true),
    ]

    static func record(client: String = "127.0.0.1") throws -> ExchangeRecord {
        let record = ExchangeRecord(keeping: [.requestLine, .agent, .response, .challenges])
        record.setClient(try #require(IPAddress(client)))
        return record
    }

    static func line(_ record: ExchangeRecord, _ format: AccessLogEncoder.Format, at time: WallTime = Self.time)
        -> String
    {
        let buffer = ByteBuffer(capacity: 64)
        AccessLogEncoder(format: format).append(record, at: time, to: buffer)
        return buffer.readable.text
    }

    static func target(
        _ record: ExchangeRecord, _ method: String, _ form: ExchangeRecord.TargetForm, _ host: String, _ port: Int,
        _ path: String
    ) {
        record.setTarget(
            method: method.utf8Span.span, form: form, host: host.utf8Span.span, port: port, path: path.utf8Span.span)
    }

    static func answered() throws -> ExchangeRecord {
        let record = try record()
        target(record, "GET", .http, "ci.example.com", 8080, "/job?name=a&x=%20")
        record.facts.user = "alice"
        record.facts.status = 200
        record.facts.bytesIn = 3
        record.facts.bytesOut = 1024
        record.facts.duration = 12_345_678
        record.facts.connecting = 1_900_000
        record.facts.wait = 7_000_000
        record.facts.upstream = .opened
        record.facts.route = "*.example.com"
        record.facts.answer = AnswerRecord(
            scheme: .method(.digest), credential: "ci",
            rule: RuleReference(name: "build server", file: "proxy.conf", line: 31))
        record.facts.attempts = 1
        return record
    }

    @Test func `json names what was decided and measured`() throws {
        #expect(
            try Self.line(Self.answered(), .json) == """
                {"time":"2026-11-21T03:36:00.042Z","client":"127.0.0.1","user":"alice","method":"GET",\
                "target":"http://ci.example.com:8080/job?name=a&x=%20","status":200,"bytes_in":3,"bytes_out":1024,\
                "ms":12,"connect_ms":1,"wait_ms":7,"upstream":"opened","route":"*.example.com",\
                "rule":{"name":"build server","file":"proxy.conf","line":31},"scheme":"digest","credential":"ci","attempts":1}\n
                """)
    }

    @Test func `json says how the origin was trusted, and by which certificate it knows the proxy`() throws {
        let record = try Self.record()
        record.facts.upstream = .opened
        record.facts.isResumed = true
        record.facts.security = SecurityRecord(
            version: "1.3", trustFindings: "self-signed expired",
            trustRule: RuleReference(name: "lab", file: "proxy.conf", line: 7), isException: true, identity: "device")
        let line = Self.line(record, .json)
        #expect(
            line.contains(
                """
                "upstream":"opened","tls":"1.3","tls_resumed":true,"trust_findings":"self-signed expired",\
                "trust_rule":{"name":"lab","file":"proxy.conf","line":7},"trust_exception":true,"identity":"device"}
                """))
        record.reset()
        #expect(!Self.line(record, .json).contains("tls"))
    }

    /// The fields that `attache help json` lists are written, and no others.
    @Test func `a json line has the fields of the manual`() throws {
        let record = try Self.answered()
        record.facts.parent = ParentFigures(ParentName("corp", kind: "http", at: "p.test:3128"))
        record.facts.parentAnswer = record.facts.answer
        record.facts.challenge = ChallengeRecord(schemes: "basic", realm: "r")
        (record.facts.tunnel, record.facts.socks, record.facts.version) = (.https, .five, .http2)
        (record.facts.isResumed, record.facts.isRedirected, record.facts.asksParentByHTTP2) = (true, true, true)
        record.facts.security = SecurityRecord(
            version: "1.3", trustFindings: "expired", trustRule: record.rule, isException: true, identity: "device",
            speaksHTTP2: true)
        (record.facts.error, record.facts.details) = (.connectionRefused, "d")
        record.setLocalClient(uid: 1000)
        Self.target(record, "GET", .http, "a.test", 80, "/")
        let object = try JSONSerialization.jsonObject(with: Data(Self.line(record, .json).utf8)) as? [String: Any]
        #expect(Set(try #require(object).keys) == Set(RequestField.allCases.map(\.rawValue)))
        #expect((object?["rule"] as? [String: Any])?.keys.sorted() == RuleField.allCases.map(\.rawValue).sorted())
    }

    @Test func `common is what the field's tools read`() throws {
        #expect(
            try Self.line(Self.answered(), .common) == """
                127.0.0.1 - alice [21/Nov/2026:03:36:00 +0000] \
                "GET http://ci.example.com:8080/job?name=a&x=%20 HTTP/1.1" 200 1024\n
                """)
    }

    @Test(arguments: [
        (ExchangeRecord.Tunnel.https, "https"), (.http, "http"), (.opaque, "opaque"),
    ])
    func `of a tunnel that was looked into it says what was found`(tunnel: ExchangeRecord.Tunnel, word: String) throws {
        let record = try Self.record()
        record.facts.tunnel = tunnel
        #expect(Self.line(record, .json).contains(#","tunnel":"\#(word)""#))
        record.reset()
        #expect(!Self.line(record, .json).contains("tunnel"))
    }

    @Test func `an unknown member is left out`() throws {
        let record = try Self.record(client: "::ffff:192.0.2.7")
        record.facts.error = .dnsTimeout
        record.facts.details = "no answer for ci.example.com within 5 s"
        #expect(
            Self.line(record, .json) == """
                {"time":"2026-11-21T03:36:00.042Z","client":"192.0.2.7","bytes_in":0,"bytes_out":0,"ms":0,\
                "error":"dns_timeout","details":"no answer for ci.example.com within 5 s"}\n
                """)
        #expect(Self.line(record, .common) == "192.0.2.7 - - [21/Nov/2026:03:36:00 +0000] \"-\" - -\n")
    }

    @Test(arguments: [
        (ExchangeRecord.TargetForm.http, "a.test", 80, "/", "http://a.test/"),
        (.http, "a.test", 443, "/", "http://a.test:443/"),
        (.https, "a.test", 443, "/", "https://a.test/"),
        (.https, "[2001:db8::1]", 8443, "/", "https://[2001:db8::1]:8443/"),
        (.authority, "a.test", 443, "", "a.test:443"),
        (.path, "", 3127, "/healthz", "/healthz"),
        (.path, "", 3128, "*", "*"),
    ])
    func `a target is written in the form it has`(
        form: ExchangeRecord.TargetForm, host: String, port: Int, path: String, expected: String
    ) throws {
        let record = try Self.record()
        Self.target(record, "X", form, host, port, path)
        #expect(Self.line(record, .json).contains("\"target\":\"\(expected)\","))
        #expect(Self.line(record, .common).contains("\"X \(expected) HTTP/1.1\""))
    }

    @Test(arguments: ["user:s3cret@a.test", "s3cret@a.test", "u:s3cret@b@a.test", "@a.test"])
    func `user information never reaches a log`(host: String) throws {
        let record = try Self.record()
        Self.target(record, "GET", .http, host, 80, "/")
        for format in Self.formats {
            let line = Self.line(record, format)
            #expect(line.contains("http://a.test/"))
            #expect(!line.contains("s3cret"))
        }
    }

    /// Bytes an attacker would end a line, a string or a field with, and what stands for them in JSON and in Apache's formats.
    static let injections: [([UInt8], json: String, common: String)] = [
        (Array("a\r\nb".utf8), #"a\u000d\u000ab"#, #"a\r\nb"#),
        (
            Array(#"a","status":200,"x":"b"#.utf8), #"a\",\"status\":200,\"x\":\"b"#,
            #"a\",\"status\":200,\"x\":\"b"#
        ),
        (Array(#"a\"b"#.utf8), #"a\\\"b"#, #"a\\\"b"#),
        (Array("a\tb\u{8}\u{b}\u{c}".utf8), #"a\u0009b\u0008\u000b\u000c"#, #"a\tb\b\v\x0c"#),
        (Array("a\u{1b}[2Jb".utf8), #"a\u001b[2Jb"#, #"a\x1b[2Jb"#),
        ([0x61, 0x00, 0x7F, 0x62], #"a\u0000\u007fb"#, #"a\x00\x7fb"#),
        (Array("é€𝄞".utf8), "é€𝄞", #"\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e"#),
        // Marks that turn the direction of a text, a separator of lines, an invisible letter beyond sixteen bits.
        (Array("a\u{202E}b\u{2066}".utf8), #"a\u202eb\u2066"#, #"a\xe2\x80\xaeb\xe2\x81\xa6"#),
        (Array("\u{200F}\u{2028}\u{FEFF}".utf8), #"\u200f\u2028\ufeff"#, #"\xe2\x80\x8f\xe2\x80\xa8\xef\xbb\xbf"#),
        (Array("\u{E0041}".utf8), #"\udb40\udc41"#, #"\xf3\xa0\x81\x81"#),
        // A control of C1, which some terminals obey.
        (Array("a\u{9b}2Jb".utf8), #"a\u009b2Jb"#, #"a\xc2\x9b2Jb"#),
        // Not UTF-8: overlong, surrogate, beyond the last, cut short, stray.
        ([0xC0, 0x80], #"\ufffd\ufffd"#, #"\xc0\x80"#),
        ([0xED, 0xA0, 0x80], #"\ufffd\ufffd\ufffd"#, #"\xed\xa0\x80"#),
        ([0xF4, 0x90, 0x80, 0x80], #"\ufffd\ufffd\ufffd\ufffd"#, #"\xf4\x90\x80\x80"#),
        ([0xE2, 0x82], #"\ufffd\ufffd"#, #"\xe2\x82"#),
        ([0xE2, 0x82, 0x22], #"\ufffd\ufffd\""#, #"\xe2\x82\""#),
        ([0xC2], #"\ufffd"#, #"\xc2"#),
        ([0xFF, 0x61], #"\ufffda"#, #"\xffa"#),
    ]

    @Test(arguments: injections.indices)
    func `no value can leave its place`(index: Int) throws {
        let (bytes, json, common) = Self.injections[index]
        let record = try Self.record()
        let root: [UInt8] = [.slash]
        let method = Array("GET".utf8)
        let host = Array("a.test".utf8)
        record.setTarget(
            method: method.span, form: .http, host: host.span, port: 80, path: (root + bytes).span)
        let object = Self.line(record, .json)
        #expect(object.contains("\"target\":\"http://a.test/\(json)\","))
        #expect(object.utf8.filter { $0 == .lineFeed }.count == 1)
        #expect(try JSONSerialization.jsonObject(with: Data(object.utf8)) is [String: Any])
        #expect(
            Self.line(record, .common) == """
                127.0.0.1 - - [21/Nov/2026:03:36:00 +0000] "GET http://a.test/\(common) HTTP/1.1" - -\n
                """)
    }

    @Test(arguments: 0..<20)
    func `every byte is written so that it reads back, wherever it stands`(offset: Int) throws {
        let record = try Self.record()
        let method = Array("GET".utf8)
        for byte in UInt8.min...UInt8.max {
            var path = [UInt8](repeating: 0x61, count: 20)
            path[offset] = byte
            record.setTarget(method: method.span, form: .path, host: Span(), port: 0, path: path.span)
            let line = Self.line(record, .json)
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(object["target"] as? String == String(decoding: path, as: UTF8.self))
            let parsed = try #require(ApacheLine(Self.line(record, .common)))
            #expect(parsed.request == Array("GET ".utf8) + path + Array(" HTTP/1.1".utf8))
        }
    }

    @Test func `a hostile user or method stays one field`() throws {
        let record = try Self.record()
        record.facts.user = "bob [x] \"\n"
        Self.target(record, "G\" 200 1\n", .authority, "a.test", 443, "")
        record.facts.version = .http10
        record.facts.status = 400
        #expect(
            Self.line(record, .common) == """
                127.0.0.1 - bob\\x20[x]\\x20\\"\\n [21/Nov/2026:03:36:00 +0000] \
                "G\\" 200 1\\n a.test:443 HTTP/1.0" 400 -\n
                """)
        #expect(Self.line(record, .json).contains(#""user":"bob [x] \"\u000a","method":"G\" 200 1\u000a""#))
    }

    @Test func `without a log the request line is not kept`() throws {
        let record = ExchangeRecord(keeping: [])
        record.setClient(try #require(IPAddress("::1")))
        Self.target(record, "GET", .http, "a.test", 80, "/")
        #expect(
            Self.line(record, .json) == """
                {"time":"2026-11-21T03:36:00.042Z","client":"::1","bytes_in":0,"bytes_out":0,"ms":0}\n
                """)
    }

    @Test(arguments: ["/", "/" + String(repeating: "x", count: 5000)])
    func `a reset keeps the client and nothing else`(path: String) throws {
        let record = try Self.answered()
        Self.target(record, "PUT", .https, "a.test", 1, path)
        record.facts.error = .connectionRefused
        record.facts.details = "d"
        record.facts.version = .http10
        record.reset()
        let fresh = try Self.record()
        for format in Self.formats { #expect(Self.line(record, format) == Self.line(fresh, format)) }
        Self.target(record, "GET", .http, "b.test", 80, "/2")
        #expect(Self.line(record, .json).contains(#""client":"127.0.0.1","method":"GET","target":"http://b.test/2","#))
    }

    /// A property outside of `facts` that this test does not set, or that `reset` does not forget, makes it fail.
    @Test func `a reset forgets every property but the client`() throws {
        let values = { (record: ExchangeRecord) in
            Dictionary(
                uniqueKeysWithValues: Mirror(reflecting: record).children.map { ($0.label ?? "", "\($0.value)") })
        }
        let (record, fresh) = (try Self.answered(), values(try Self.record()))
        Self.target(record, "PUT", .https, "a.test", 1, "/")
        record.addReferer("r".utf8Span.span)
        record.addAgent("a".utf8Span.span)
        record.setType("t".utf8Span.span)
        record.note(ChallengeDecision(method: "basic", realm: "r", rule: nil, disposition: "default"))
        let kept = ["parts", "text", "client", "clientRange", "uid"]
        for (name, value) in values(record) where !kept.contains(name) { #expect(value != fresh[name], "\(name)") }
        record.reset()
        for (name, value) in values(record) where name != "text" { #expect(value == fresh[name], "\(name)") }
    }

    @Test func `a client at a unix socket is named by the user id of its process`() throws {
        let record = try Self.record()
        record.setLocalClient(uid: 1000)
        #expect(Self.line(record, .json).contains(#""client":"unix","uid":1000,"bytes_in":"#))
        #expect(Self.line(record, .common).hasPrefix("unix - - "))
        #expect(Self.line(record, .console(hasColours: false)).contains(" from unix"))
        record.setClient(try #require(IPAddress("127.0.0.1")))
        #expect(Self.line(record, .json).contains(#""client":"127.0.0.1","bytes_in":"#))
    }

    @Test func `another client on the same record is named`() throws {
        let record = try Self.answered()
        record.setClient(try #require(IPAddress("2001:db8::5")))
        #expect(Self.line(record, .json).contains(#""client":"2001:db8::5","user":"#))
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z", "01/Jan/1970:00:00:00 +0000"),
        (951_782_399_999, "2000-02-28T23:59:59.999Z", "28/Feb/2000:23:59:59 +0000"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z", "29/Feb/2000:00:00:00 +0000"),
        (951_868_800_007, "2000-03-01T00:00:00.007Z", "01/Mar/2000:00:00:00 +0000"),
        (1_798_761_599_000, "2026-12-31T23:59:59.000Z", "31/Dec/2026:23:59:59 +0000"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z", "01/Mar/2100:00:00:00 +0000"),
    ])
    func `time is Universal Time by calendar`(time: WallTime, rfc3339: String, common: String) throws {
        let record = try Self.record()
        #expect(Self.line(record, .json, at: time).hasPrefix("{\"time\":\"\(rfc3339)\","))
        #expect(Self.line(record, .common, at: time).contains("[\(common)]"))
    }

    @Test func `every day of four centuries agrees with Foundation's calendar`() throws {
        let record = try Self.record()
        let buffer = ByteBuffer(capacity: 256)
        let encoder = AccessLogEncoder(format: .json)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for day in 0..<146_097 {
            let second = day * 86_400 + day % 86_400
            encoder.append(record, at: WallTime(seconds: second), to: buffer)
            let expected = Date(timeIntervalSince1970: Double(second)).formatted(style)
            try #require(buffer.readable.extracting(9..<33).text == expected)
            buffer.clear()
        }
    }

    @Test(arguments: formats)
    func `one encoder writes each second anew`(format: AccessLogEncoder.Format) throws {
        let record = try Self.answered()
        let encoder = AccessLogEncoder(format: format)
        let buffer = ByteBuffer(capacity: 64)
        let times = [0, 999, 1000, 1500, 1_000, 86_400_000].map { Self.time + Milliseconds($0) }
        for time in times { encoder.append(record, at: time, to: buffer) }
        #expect(buffer.readable.text == times.map { Self.line(record, format, at: $0) }.joined())
    }
}
