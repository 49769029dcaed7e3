import Foundation
import TestSupport
import Testing

/// The limits of the requests of one client, with clients of other projects.
struct ClientLimitTests {
    /// A users file of `user1` to `user20`, all with one password.
    private static let users = (1...20).map {
        "user\($0):$2y$05$uWKKBkzvUtQmbkhafeFNG.wydLb9IlGXEDabHcr4l9XGUAk.cyG7C\n"
    }
    .joined()

    private static func running(_ limits: String, _ body: (AttacheProcess) throws -> Void) throws {
        let clients = "allow 127.0.0.0/8; authenticate basic; users file @/users"
        try AttacheProcess.running(
            "limits { \(limits) }", setting: .init(clients: clients, threads: 2, files: ["users": users]), body)
    }

    private static func login(_ number: Int) -> [String] {
        ["-U", "user\(number):\(Account.clientPassword)"]
    }

    @Test func `of 20 clients at once the greedy one gets 429s, and the others all they ask for`() throws {
        let origin = try RecordingOrigin.answering()
        try Self.running("requests-per-client 1/h burst 20") { proxy throws in
            let crowds = try (1...20).map { number in
                try Parallel(
                    number == 1 ? 200 : 10, origin.url("/\(number)"), through: proxy, options: Self.login(number))
            }
            let statuses = crowds.map { $0.statuses() }
            let greedy = statuses[0]
            #expect(greedy.count == 200)
            #expect(Set(greedy) == [200, 429])
            for others in statuses.dropFirst() { #expect(others == Array(repeating: 200, count: 10)) }
            let (served, refused) = (greedy.count { $0 == 200 }, greedy.count { $0 == 429 })
            #expect(served == 20)
            #expect(origin.requests.count == served + 190)
            #expect(try proxy.metric("attache_requests_limited_total{reason=\"rate\"}") == refused)
            let told = proxy.errorOutput.components(separatedBy: "user user1 has reached the limit").count
            #expect(told == 2, "\(proxy.errorOutput)")
            let refusedLines = try proxy.records(atLeast: 390).filter { $0.status == 429 }
            #expect(refusedLines.count == refused)
            #expect(
                refusedLines.allSatisfy {
                    $0["user"] == "user1" && $0["details"]?.contains("requests-per-client") == true
                })
        }
    }

    @Test func `20 requests of a client at once: no more are in progress than may be, and another client is served`()
        throws
    {
        let gate = Gate()
        let origin = try RecordingOrigin.answering { _, connection in
            gate.wait()
            try connection.reply(body: "ok")
        }
        try Self.running("concurrent-requests-per-client 5") { proxy throws in
            let crowd = try Parallel(20, origin.url(), through: proxy, options: Self.login(1))
            // Fifteen are refused while five wait.
            #expect(try Wait.until { try proxy.metric("attache_requests_limited_total{reason=\"concurrent\"}") == 15 })
            #expect(Wait.until { origin.requests.count == 5 })
            // Another client is served meanwhile.
            let other = try Parallel(1, origin.url(), through: proxy, options: Self.login(2))
            #expect(Wait.until { origin.requests.count == 6 })
            gate.open()
            #expect(other.statuses() == [200])
            #expect(crowd.statuses().sorted() == Array(repeating: 200, count: 5) + Array(repeating: 429, count: 15))
            #expect(origin.requests.count == 6)
            // All places are free again.
            let later = try Curl.fetch(origin.url(), ["-x", proxy.address] + Self.login(1))
            #expect(later.status == 200)
        }
    }

    @Test func `a refused client learns when to come again, and then is served`() throws {
        let origin = try RecordingOrigin.answering()
        try Self.running("requests-per-client 1/s") { proxy throws in
            let first = try proxy.get(origin.url(), Self.login(3)[0], Self.login(3)[1])
            #expect(first.status == 200)
            // curl waits as long as Retry-After says.
            let again = try proxy.get(origin.url(), Self.login(3)[0], Self.login(3)[1], "--retry", "3")
            #expect(again.status == 200)
        }
    }
}
