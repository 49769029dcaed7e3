import Bytes
import Foundation
import HTTP
import Model
import TestSupport
import Testing

@testable import Telemetry

/// The requests that the dashboard shows.
struct RecentRequestsTests {
    private static func record(_ path: String = "/p?key=s3cret", status: Int = 200) throws -> ExchangeRecord {
        let record = ExchangeRecord(keeping: [.requestLine, .challenges])
        record.setClient(try #require(IPAddress("192.0.2.7")))
        AccessLogTests.target(record, "GET", .http, "ci.example.com", 8080, path)
        record.facts.status = status
        return record
    }

    private static func written(_ recent: RecentRequests, after number: Int = 0) throws -> [[String: Any]] {
        let buffer = ByteBuffer(capacity: 64)
        buffer.append("[")
        _ = recent.write(after: number, into: buffer)
        buffer.append("]")
        return try #require(try JSONSerialization.jsonObject(with: Data(buffer.readable.array)) as? [[String: Any]])
    }

    private static func object(_ record: ExchangeRecord) throws -> [String: Any] {
        let recent = RecentRequests()
        let buffer = ByteBuffer(capacity: 64)
        recent.add(AccessLogEncoder(format: .json).recent(record, at: AccessLogTests.time, in: buffer))
        return try #require(try written(recent).first)
    }

    @Test func `a response that judges nothing leaves the verdict on an answer as it is`() throws {
        let record = try Self.record()
        record.note(ChallengeDecision(method: "basic", realm: nil, rule: nil, disposition: "use"))
        record.note(AnswerResult.unjudged)
        #expect(record.challenges.map(\.result) == [.unjudged])
        record.note(AnswerResult.refused)
        record.note(AnswerResult.unjudged)
        #expect(record.challenges.map(\.result) == [.refused])
    }

    @Test func `the last ones are kept, each with its number`() throws {
        let recent = RecentRequests(limit: 3)
        for place in 1...5 { recent.add(Array("\"place\":\(place)}".utf8)) }
        #expect(try Self.written(recent).compactMap { $0["place"] as? Int } == [3, 4, 5])
        #expect(try Self.written(recent, after: 4).compactMap { $0["number"] as? Int } == [5])
        #expect(try Self.written(recent, after: 5).isEmpty && recent.last == 5)
    }

    @Test func `long ones make the list shorter, and one that is too long is not kept`() throws {
        let recent = RecentRequests(limit: 100, byteLimit: 1000)
        let long = "\"text\":\"\(String(repeating: "a", count: 300))\"}"
        for _ in 0..<10 { recent.add(Array(long.utf8)) }
        #expect(try Self.written(recent).compactMap { $0["number"] as? Int } == [8, 9, 10])
        recent.add(Array("\"text\":\"\(String(repeating: "a", count: 2000))\"}".utf8))
        #expect(try Self.written(recent).isEmpty)
        recent.add(Array("\"place\":12}".utf8))
        #expect(try Self.written(recent).compactMap { $0["number"] as? Int } == [12])
    }

    @Test func `requests that fail are always kept, others while somebody is logged in`() throws {
        let recent = RecentRequests()
        let plain = try Self.record()
        #expect(!recent.wants(plain))
        recent.isWatched = true
        #expect(recent.wants(plain))
        recent.isWatched = false
        #expect(try recent.wants(Self.record(status: 404)) && recent.wants(Self.record(status: 0)))
        plain.facts.challenge = ChallengeRecord(schemes: "basic", realm: nil)
        #expect(recent.wants(plain))
        plain.reset()
        plain.facts.status = 200
        plain.facts.error = .connectionTerminated
        #expect(recent.wants(plain))
        // Where there is no dashboard, nothing is kept.
        let other = ExchangeRecord(keeping: .requestLine)
        recent.isWatched = true
        #expect(!recent.wants(other))
    }

    @Test func `a request has what the log has, and what only the page shows`() throws {
        let record = try Self.record(status: 401)
        record.hideParameter("key".utf8Span.span)
        record.facts.answering = 5_000_000
        record.facts.proxyStatus = "Attache; details=\"a\""
        record.note(
            ChallengeDecision(
                method: "digest", realm: "r", rule: RuleReference(name: "ci", file: "proxy.conf", line: 5),
                disposition: "use ci"))
        record.meet(after: .refused)
        record.note(ChallengeDecision(method: "basic", realm: nil, rule: nil, disposition: "default"))
        let object = try Self.object(record)
        let target = try #require(object["target"] as? String)
        #expect(target.hasPrefix("http://ci.example.com:8080/p?key=") && !target.contains("s3cret"), "\(target)")
        #expect(object["host"] as? String == "ci.example.com" && object["client"] as? String == "192.0.2.7")
        #expect(object["challenge_ms"] as? Int == 5 && object["number"] as? Int == 1)
        #expect(object["proxy_status"] as? String == "Attache; details=\"a\"")
        let challenges = try #require(object["challenges"] as? [[String: Any]]).map {
            $0.mapValues { "\(($0 as? [String: Any])?["name"] ?? $0)" }
        }
        #expect(
            challenges == [
                ["method": "digest", "realm": "r", "rule": "ci", "disposition": "use ci", "result": "refused"],
                ["method": "basic", "disposition": "default"],
            ])
        record.reset()
        #expect(try Self.object(record)["challenges"] == nil)
    }

    @Test func `a long path is cut, and told apart from others`() throws {
        let start = "/" + String(repeating: "a", count: 600)
        let targets = try ["b", "c"].map { end in
            try #require(try Self.object(try Self.record(start + end))["target"] as? String)
        }
        #expect(targets[0] != targets[1])
        for target in targets { #expect(target.utf8.count < 600 && target.contains("… (602 bytes, #")) }
        #expect(try Self.object(Self.record("/\u{1B}\"\\"))["target"] as? String != nil)
    }

    @Test func `challenges of one request are bounded`() throws {
        let record = try Self.record(status: 401)
        for _ in 0..<1000 {
            record.note(
                ChallengeDecision(
                    method: "basic", realm: String(repeating: "é", count: 5000), rule: nil, disposition: "default"))
        }
        let buffer = ByteBuffer(capacity: 64)
        let bytes = AccessLogEncoder(format: .json).recent(record, at: AccessLogTests.time, in: buffer)
        #expect(bytes.count < 16 << 10)
        #expect(try #require(try Self.object(record)["challenges"] as? [Any]).count > 1)
    }
}
