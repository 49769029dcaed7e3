import Bytes
import Foundation
import HTTP
import IO
import Model
import TestSupport
import Testing

@testable import Telemetry

/// The spans of a request, as the collector gets them.
struct RequestTraceTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    /// 2026-11-23T00:00:00Z.
    private static let epoch = 1_795_392_000_000

    /// Plays a request on a loop that stands still between the steps.
    private static func spans(
        path: String = "/p", form: ExchangeRecord.TargetForm = .http, host: String = "h", port: Int = 80,
        parent: String? = Self.parent, isCollected: Bool = true,
        _ play: (RequestTrace, ExchangeRecord, (Int) -> Void, EventLoop) -> Void
    ) throws -> [[String: Any]] {
        let clock = ManualClock(start: WallTime(milliseconds: epoch))
        let loop = try EventLoop(index: 0, clock: clock)
        let record = ExchangeRecord(keeping: .requestLine)
        record.setClient(try #require(IPAddress("192.0.2.7")))
        record.setTarget(
            method: "GET".utf8Span.span, form: form, host: host.utf8Span.span, port: port, path: path.utf8Span.span)
        let context = parent.flatMap { TraceContext($0.utf8Span.span) }
        let trace = RequestTrace(continuing: context, samples: true, isCollected: isCollected, on: loop)
        let start = loop.now
        let pass = { (milliseconds: Int) in
            clock.advance(by: Milliseconds(milliseconds))
            loop.occupyThread { _ = loop.runUntilIdle(within: 0) }
        }
        play(trace, record, pass, loop)
        record.facts.duration = loop.now.nanoseconds(since: start)
        let (content, spans) = (ByteBuffer(capacity: 1024), ByteBuffer(capacity: 0))
        let (count, dropped) = SpanEncoder.append(trace, of: record, to: spans)
        SpanEncoder.begin(service: "a \"b\"", version: "1.2.3", in: content)
        content.append(spans.readable)
        SpanEncoder.end(in: content)
        let bytes = Data(content.readable.array)
        let message = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        let resources = try #require(message["resourceSpans"] as? [[String: Any]])
        let resource = try #require(resources.first?["resource"] as? [String: Any])
        #expect(attributes(resource)["service.name"] == "a \"b\"")
        #expect(attributes(resource)["service.version"] == "1.2.3")
        let scopes = try #require(resources.first?["scopeSpans"] as? [[String: Any]])
        let told = try #require(scopes.first?["spans"] as? [[String: Any]])
        #expect(told.count == count && count + dropped >= 1)
        return told
    }

    private static func attributes(_ span: [String: Any]) -> [String: String] {
        let pairs = (span["attributes"] as? [[String: Any]] ?? []).map { attribute in
            let value = attribute["value"] as? [String: Any] ?? [:]
            let text = value["stringValue"] ?? value["intValue"] ?? value["boolValue"]
            return (attribute["key"] as? String ?? "", text.map { "\($0)" } ?? "")
        }
        return Dictionary(pairs) { _, last in last }
    }

    @Test func `a request with a challenge is a span, with one for each leg and phase`() throws {
        let spans = try Self.spans { trace, record, pass, loop in
            let start = loop.now
            pass(2)
            trace.note(.nameLookup, of: "h", from: start)
            let first = trace.beginLeg("GET", for: record)
            pass(3)
            trace.meet(after: nil)
            trace.note(
                ChallengeDecision(
                    method: "basic", realm: "x", rule: RuleReference(name: "lab", file: "p", line: 2),
                    disposition: "use"))
            pass(10)
            trace.endLeg(status: 401)
            record.facts.answer = AnswerRecord(
                scheme: .method(.basic), rule: RuleReference(name: "lab", file: "p", line: 2))
            record.facts.attempts = 1
            let second = trace.beginLeg("GET", for: record)
            #expect(first.trace == second.trace && first.span != second.span && second.isSampled)
            pass(5)
            trace.note(.accepted)
            record.facts.status = 200
        }
        #expect(spans.map { $0["name"] as? String } == ["GET", "dns", "GET", "GET"])
        #expect(spans.map { $0["kind"] as? Int } == [2, 1, 3, 3])
        #expect(Set(spans.map { $0["traceId"] as? String }) == ["4bf92f3577b34da6a3ce929d0e0e4736"])
        let ids = spans.compactMap { $0["spanId"] as? String }
        #expect(Set(ids).count == 4 && ids.allSatisfy { $0.wholeMatch(of: #/[0-9a-f]{16}/#) != nil })
        #expect(spans.map { $0["parentSpanId"] as? String } == ["00f067aa0ba902b7", ids[0], ids[0], ids[0]])
        #expect(spans.map { $0["flags"] as? Int } == [0x301, 0x101, 0x101, 0x101])
        let times = spans.map { [$0["startTimeUnixNano"] as? String, $0["endTimeUnixNano"] as? String] }
        let at = { (milliseconds: Int) in "\((Self.epoch + milliseconds) * 1_000_000)" }
        #expect(times == [[at(0), at(20)], [at(0), at(2)], [at(2), at(5)], [at(15), at(20)]])
        let told = spans.map(Self.attributes)
        #expect(told[0]["url.full"] == "http://h/p" && told[0]["client.address"] == "192.0.2.7")
        #expect(told[0]["server.address"] == "h" && told[0]["server.port"] == "80")
        #expect(told[0]["http.request.method"] == "GET" && told[0]["http.response.status_code"] == "200")
        #expect(told[1] == ["server.address": "h"])
        #expect(told[2]["http.response.status_code"] == "401" && told[2]["http.request.resend_count"] == nil)
        #expect(told[2]["attache.challenge.method"] == "basic" && told[2]["attache.challenge.realm"] == "x")
        #expect(
            told[2]["attache.challenge.rule"] == "\"lab\" (p:2)" && told[2]["attache.challenge.disposition"] == "use")
        #expect(told[3]["http.response.status_code"] == "200" && told[3]["http.request.resend_count"] == "1")
        #expect(told[3]["attache.answer.scheme"] == "basic" && told[3]["attache.answer.result"] == "accepted")
        #expect(spans.allSatisfy { $0["status"] == nil })
    }

    @Test func `a trace that begins here has no parent`() throws {
        let spans = try Self.spans(parent: nil) { _, record, _, _ in record.facts.status = 204 }
        #expect(spans.first?["parentSpanId"] == nil && spans.first?["flags"] as? Int == 0x101)
    }

    @Test func `a request that failed says why`() throws {
        let spans = try Self.spans { trace, record, _, loop in
            trace.note(.connect, of: "h", from: loop.now, error: "h port 80 refused the connection")
            (record.facts.status, record.facts.error, record.facts.details) = (
                502, .connectionRefused, "h port 80 \"refused\""
            )
        }
        let status = spans.map { $0["status"] as? [String: Any] }
        #expect(status.map { $0?["code"] as? Int } == [2, 2])
        #expect(status[0]?["message"] as? String == "h port 80 \"refused\"")
        #expect(Self.attributes(spans[0])["error.type"] == "connection_refused")
        #expect(Self.attributes(spans[0])["http.response.status_code"] == "502")
    }

    @Test(arguments: [
        ("/p?a=secret&b=other", "http://h/p?a=REDACTED&b=REDACTED"), ("/p?", "http://h/p?"), ("/p", "http://h/p"),
        ("/p?secret", "http://h/p?REDACTED"), ("/p?a=&=b&&c", "http://h/p?a=REDACTED&=REDACTED&&REDACTED"),
        ("/p?a=b?c=d", "http://h/p?a=REDACTED"), ("", "http://h"),
    ])
    func `of a query the collector gets the names`(path: String, url: String) throws {
        let spans = try Self.spans(path: path) { _, record, _, _ in record.facts.status = 200 }
        #expect(Self.attributes(spans[0])["url.full"] == url)
    }

    @Test func `a URL's user stays here`() throws {
        let spans = try Self.spans(form: .https, host: "user:password@[2001:db8::1]", port: 8443) { _, record, _, _ in
            record.facts.status = 200
        }
        #expect(Self.attributes(spans[0])["url.full"] == "https://[2001:db8::1]:8443/p")
        #expect(Self.attributes(spans[0])["server.address"] == "2001:db8::1")
    }

    @Test func `hostile texts are bounded, and one JSON string each`() throws {
        let realm = String(repeating: "\u{202E}\"\\\n<script>", count: 100_000)
        let spans = try Self.spans(
            path: "/" + String(repeating: "é\"\u{1}", count: 50_000) + "?" + String(repeating: "a=b&", count: 50_000)
        ) { trace, record, _, _ in
            _ = trace.beginLeg("GET", for: record)
            trace.note(ChallengeDecision(method: "basic", realm: realm, rule: nil, disposition: "default"))
            record.facts.status = 401
        }
        #expect(Self.attributes(spans[1])["attache.challenge.realm"]?.unicodeScalars.count == 1025)
        #expect((Self.attributes(spans[0])["url.full"]?.utf8.count ?? 0) < 40_000)
    }

    @Test func `a request that is sent without end has no endless trace`() throws {
        let spans = try Self.spans { trace, record, _, _ in
            for _ in 0..<1000 { _ = trace.beginLeg("GET", for: record) }
            record.facts.status = 200
        }
        #expect(spans.count == 65)
    }

    @Test func `without a collector legs have ids, and nothing is kept`() throws {
        let spans = try Self.spans(isCollected: false) { trace, record, _, loop in
            #expect(!trace.isRecorded)
            trace.note(.connect, of: "h", from: loop.now)
            #expect(trace.beginLeg("GET", for: record).span != trace.beginLeg("GET", for: record).span)
            record.facts.status = 200
        }
        #expect(spans.count == 1)
    }
}
