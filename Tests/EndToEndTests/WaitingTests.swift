import Foundation
import TestSupport
import Testing

/// No request waits for another client's, unless a password could be wasted. The time-outs of an answer are longer than
/// the test waits: a client held by an unanswered request fails the test.
struct WaitingTests {
    private static let slow = "timeouts { response 300s; idle 300s; connect 300s }"

    fileprivate static func authority(of url: String) -> Substring {
        url.split(separator: "/", maxSplits: 2)[1].prefix { $0 != "/" }
    }

    fileprivate static func get(_ url: String, _ fields: String...) -> String {
        (["GET \(url) HTTP/1.1", "Host: \(authority(of: url))"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// An origin that answers what begins with `/held` only once the gate is open.
    private static func origin(held gate: Gate) throws -> RecordingOrigin {
        try RecordingOrigin { connection in
            while let request = try connection.requestHead() {
                if request.target.contains("/held") { gate.wait() }
                if request.method == "GET" { try connection.reply(body: request.target) }
            }
        }
    }

    /// The cause that holds the first request to an unknown origin.
    enum Leader: CaseIterable {
        /// The origin takes its time.
        case poll
        /// The client does.
        case upload

        func request(to url: String) -> String {
            switch self {
            case .poll: WaitingTests.get(url)
            case .upload:
                "POST \(url) HTTP/1.1\r\nHost: \(WaitingTests.authority(of: url))\r\nContent-Length: 10\r\n\r\n1"
            }
        }
    }

    @Test(arguments: Leader.allCases)
    func `a first request that is not answered holds no other to its origin`(leader: Leader) throws {
        let gate = Gate()
        let origin = try Self.origin(held: gate)
        try AttacheProcess.answering(origin.port, rules: Self.slow) { proxy throws in
            let first = try proxy.connect()
            try first.send(leader.request(to: origin.url("/held")))
            #expect(Wait.until { origin.messages.count == 1 })
            #expect(try proxy.exchange(Self.get(origin.url("/other"))).text == "/other")
            #expect(try proxy.exchange(Self.get(origin.url("/deeper/other"))).text == "/deeper/other")
            #expect(origin.messages.map(\.target) == ["/held", "/other", "/deeper/other"])
            gate.open()
        }
    }

    @Test(arguments: Leader.allCases)
    func `a first request that is not answered holds no other behind its parent`(leader: Leader) throws {
        let gate = Gate()
        let parent = try Self.origin(held: gate)
        let rules = """
            \(Self.slow)
            parent corp { http 127.0.0.1:\(parent.port) }
            route * { via corp }
            challenge { proxy yes; use web }
            """
        try AttacheProcess.answering(9, rules: rules) { proxy throws in
            let first = try proxy.connect()
            try first.send(leader.request(to: "http://127.0.0.1:9/held"))
            #expect(Wait.until { parent.messages.count == 1 })
            for path in ["same", "other"] {
                let url = path == "same" ? "http://127.0.0.1:9/other" : "http://other.test/other"
                #expect(try proxy.exchange(Self.get(url)).text == url)
            }
            gate.open()
        }
    }

    /// An origin that asks every request for Basic, and answers those with the right password only once the gate is open, if
    /// their target begins with `/held`.
    private static func guarded(held gate: Gate) throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            guard request["Authorization"] != nil else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\""])
            }
            if request.target.hasPrefix("/held") { gate.wait() }
            try connection.reply(body: request.target)
        }
    }

    private func answers(_ origin: RecordingOrigin) -> [String] {
        origin.messages.filter { $0["Authorization"] != nil }.map(\.target)
    }

    @Test func `of many requests two send a password that no server has judged`() throws {
        let gate = Gate()
        let origin = try Self.guarded(held: gate)
        let rules = "timeouts { response 300s; connect 6s }"
        try AttacheProcess.answering(origin.port, rules: rules, setting: .init(threads: 1)) { proxy throws in
            let clients = try (0..<12).map { _ in try proxy.connect() }
            for (number, client) in clients.enumerated() {
                try client.send(Self.get(origin.url("/held/\(number)")))
            }
            // Ten are given their challenge, and told why.
            #expect(Wait.until { (try? proxy.records().count) == 10 })
            let records = try proxy.records(atLeast: 10)
            #expect(records.allSatisfy { $0.status == 401 })
            #expect(records.allSatisfy { $0["details"]?.contains("was sent with another request") == true })
            #expect(answers(origin).count == 2)
            gate.open()
            var statuses: [Int: Int] = [:]
            for client in clients { statuses[try client.readResponse().status, default: 0] += 1 }
            #expect(statuses == [200: 2, 401: 10])
        }
    }
}
