import TestSupport
import Testing

/// Many requests meet an unknown space at once: one is challenged and the others wait for its verdict.
struct SingleFlightTests {
    /// A request waits for another's challenge for a second at most, so that on a slow machine many meet one, too. Without
    /// single flight all would. The unit tests of `FlightTurn` and of protection spaces count exactly.
    private static func isSome(_ unauthenticated: Int, of count: Int) -> Bool { (1..<count).contains(unauthenticated) }

    @Test func `200 requests at once cause one unauthenticated probe and repeat no count`() throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        try AttacheProcess.answering(apache.port) { proxy throws in
            let statuses = try Parallel.fetch(200, apache.url("/steady/?\(mark)"), through: proxy)
            #expect(statuses.count == 200)
            #expect(statuses.allSatisfy { $0 == 200 })
            let entries = apache.entries(marked: mark, atLeast: 201)
            #expect(Self.isSome(entries.count { $0.authorization == nil }, of: 200))
            let answers = entries.compactMap(\.authorization).map { DigestGuard.parameters(String($0.dropFirst(7))) }
            let counts = answers.map { "\($0["nonce"] ?? "") \($0["nc"] ?? "")" }
            #expect(Set(counts).count == counts.count, "an nc was used twice")
            #expect(try proxy.records(atLeast: 200).count == 200)
        }
    }

    @Test func `200 requests at once survive a nonce that grows stale among them`() throws {
        let sentry = DigestGuard(.init(algorithm: "MD5", usesPerNonce: 120))
        let origin = try RecordingOrigin.guarded(by: sentry)
        try AttacheProcess.answering(origin.port) { proxy throws in
            let statuses = try Parallel.fetch(200, origin.url(), through: proxy)
            #expect(statuses.filter { $0 == 200 }.count == 200)
            #expect(sentry.refused == [])
            #expect(Self.isSome(sentry.unauthenticated, of: 200))
        }
    }

    @Test func `two spaces of one origin are probed each once`() throws {
        let apache = try ApacheServer.shared()
        let marks = [ApacheServer.mark(), ApacheServer.mark()]
        try AttacheProcess.answering(apache.port) { proxy throws in
            for (mark, name) in zip(marks, ["basic", "steady"]) {
                let statuses = try Parallel.fetch(50, apache.url("/\(name)/?\(mark)"), through: proxy)
                #expect(statuses.filter { $0 == 200 }.count == 50)
                let entries = apache.entries(marked: mark, atLeast: 51)
                #expect(Self.isSome(entries.count { $0.authorization == nil }, of: 50))
            }
        }
    }

    @Test func `requests to an origin that did not challenge go side by side`() throws {
        let gate = Gate()
        let origin = try RecordingOrigin.answering { request, connection in
            if request.target == "/held" { gate.wait() }
            try connection.reply(body: "ok")
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            #expect(try proxy.get(origin.url("/first")).status == 200)
            let held = try Subprocess("curl", ["-q", "-s", "-m", "120", "-x", proxy.address, origin.url("/held")])
            let isHeld = Wait.until { origin.messages.contains { $0.target == "/held" } }
            #expect(isHeld)
            let other = try proxy.get(origin.url("/open"))
            #expect(other.status == 200, "\(other)")
            gate.open()
            #expect(held.wait(seconds: 60) == 0)
        }
    }
}
