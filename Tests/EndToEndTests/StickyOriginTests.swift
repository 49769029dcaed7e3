import Synchronization
import Testing

/// Servers that keep a nonce in a session, to which a cookie of the challenge leads back.
struct StickyOriginTests {
    /// Knows its clients by their cookies alone: each session has a nonce of its own.
    private final class Sessions: Sendable {
        private let guards = Mutex<[DigestGuard]>([])

        /// - Parameter number: of a session that there is; nil: one is begun.
        func session(_ number: Int?) -> (number: Int, sentry: DigestGuard) {
            guards.withLock { guards in
                if let number, guards.indices.contains(number) { return (number, guards[number]) }
                guards.append(DigestGuard())
                return (guards.count - 1, guards[guards.count - 1])
            }
        }

        var all: [DigestGuard] { guards.withLock { $0 } }
    }

    private static func origin(with sessions: Sessions) throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            let cookie = request["Cookie"]?.split(separator: "; ").first { $0.hasPrefix("session=") }
            let (number, sentry) = sessions.session(cookie.flatMap { Int($0.dropFirst(8)) })
            let fields = cookie == nil ? ["Set-Cookie: session=\(number); Path=/; HttpOnly"] : []
            switch try sentry.judge(request) {
            case .challenged(let value):
                try connection.reply("401 Unauthorized", fields + ["WWW-Authenticate: \(value)"], "who are you?")
            case .accepted: try connection.reply("200 OK", fields, "ok")
            }
        }
    }

    @Test func `clients that keep no cookies are let in, each in a session of its own`() throws {
        let origin = try Self.origin(with: Sessions())
        try AttacheProcess.answering(origin.port) { proxy throws in
            for number in 0..<4 {
                let answered = try proxy.get(origin.url("/\(number)"))
                #expect(answered.status == 200, "\(answered)")
                #expect(answered["Set-Cookie"] == "session=\(number); Path=/; HttpOnly", "\(answered)")
            }
            let statuses = try Parallel.fetch(60, origin.url("/"), through: proxy)
            #expect(statuses.filter { $0 == 200 }.count == 60)
        }
    }

    @Test func `a client that keeps the cookie stays in its session, and is asked once`() throws {
        let sessions = Sessions()
        let origin = try Self.origin(with: sessions)
        try AttacheProcess.answering(origin.port) { proxy throws in
            let more = (1...5).flatMap { ["-o", "/dev/null", origin.url("/\($0)")] }
            let options = ["-x", proxy.address, "-c", "/dev/null", "-b", "theme=dark"] + more
            let fetched = try Curl.fetch(origin.url(), options)
            #expect(fetched.status == 200, "\(fetched)")
            #expect(sessions.all.map(\.unauthenticated) == [1])
            #expect(sessions.all.allSatisfy { $0.refused == [] })
            let cookies = origin.messages.compactMap { $0["Cookie"] }
            #expect(cookies.allSatisfy { $0.contains("theme=dark") }, "\(cookies)")
        }
    }
}
