import TestSupport
import Testing

/// Digest servers whose nonces serve once, or whose counters have no gaps, with many clients that keep their connections.
@Suite(.serialized) struct OneTimeNonceTests {
    @Test(arguments: [
        DigestGuard.Terms(algorithm: "MD5", usesPerNonce: 1), .init(algorithm: "MD5", noncePerChallenge: true),
        .init(algorithm: "MD5", countsStrictly: true), .init(algorithm: "MD5", sendsNextNonce: true),
        .init(algorithm: "MD5", usesPerNonce: 3),
        .init(algorithm: "MD5", noncePerChallenge: true, isSilentAboutNonces: true),
    ])
    func `300 requests of 12 clients, none faster than the next: all are answered`(terms: DigestGuard.Terms) throws {
        let sentry = DigestGuard(terms)
        let origin = try RecordingOrigin.guarded(by: sentry)
        try AttacheProcess.answering(origin.port) { proxy throws in
            let clients = Clients(12, through: [proxy], requests: 25, pause: 0) { origin.url("/\($0)/\($1)") }
            let statuses = clients.finish()
            let refused = proxy.accessLogLines.filter { !$0.contains("\"status\":200") }.joined(separator: "\n")
            #expect(statuses == [200: 300], "\(proxy.errorOutput)\(refused)")
            #expect(sentry.wrong == 0)
            #expect(try proxy.records(atLeast: 300).count == 300)
        }
    }

    /// The uses of a nonce, the seconds for which the server judges an answer, and the requests of each of 14 clients.
    @Test(arguments: [(1, 1.5, 1), (3, 0.4, 5)])
    func `a server that judges answers slowly and has one nonce at a time: each client gets its turn`(
        uses: Int, seconds: Double, requests: Int
    ) throws {
        let sentry = DigestGuard(.init(usesPerNonce: uses))
        let origin = try RecordingOrigin.answering { request, connection in
            if request["Authorization"] != nil { _ = Wait.until(seconds: seconds) { false } }
            switch try sentry.judge(request) {
            case .challenged(let value): try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(value)"])
            case .accepted: try connection.reply(body: "ok")
            }
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            let clients = Clients(14, through: [proxy], requests: requests, pause: 0) { origin.url("/\($0)/\($1)") }
            let statuses = clients.finish()
            #expect(statuses == [200: 14 * requests], "\(proxy.accessLogLines.joined(separator: "\n"))")
            #expect(sentry.wrong == 0)
        }
    }

    @Test(arguments: ["GET", "POST"])
    func `a used nonce gets a bare 401: the request goes out once without an answer, and gets the next nonce`(
        method: String
    ) throws {
        let sentry = DigestGuard(.init(noncePerChallenge: true, isSilentAboutNonces: true))
        let origin = try RecordingOrigin.guarded(by: sentry)
        try AttacheProcess.answering(origin.port) { proxy throws in
            for page in 1...5 {
                let fetched = try proxy.get(origin.url("/\(page)"), "-X", method, "-d", "text")
                #expect(fetched.status == 200, "\(page): \(fetched)")
            }
            #expect(sentry.wrong == 0)
            // Once the server is known to be one of these, no used nonce is sent.
            #expect(sentry.refused == ["unknown nonce"])
        }
    }

    @Test func `a page that answers 401 without a challenge, whatever it gets, is passed after two requests`() throws {
        let sentry = DigestGuard()
        let origin = try RecordingOrigin.answering { request, connection in
            if request.target == "/closed" { return try connection.reply("401 Unauthorized", [], "closed") }
            switch try sentry.judge(request) {
            case .challenged(let value):
                try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(value)"])
            case .accepted: try connection.reply(body: "ok")
            }
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            #expect(try proxy.get(origin.url("/page")).status == 200)
            for _ in 1...3 {
                let before = origin.messages.count
                #expect(try proxy.get(origin.url("/closed")).text == "closed")
                #expect(origin.messages.count <= before + 2)
                #expect(try proxy.get(origin.url("/page")).status == 200)
            }
            #expect(sentry.wrong == 0)
        }
    }

    @Test func `a wrong Basic password that gets a bare 401 after it was right is refused as any other`() throws {
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.answering { request, connection in
            let isRight = sentry.admits(request["Authorization"])
            let challenge = request["Authorization"] == nil ? ["WWW-Authenticate: Basic realm=\"r\""] : []
            try connection.reply(isRight ? "200 OK" : "401 Unauthorized", isRight ? [] : challenge, "text")
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            #expect(try proxy.get(origin.url("/page")).status == 200)
            sentry.change(to: Account.nextPassword)
            for page in 1...12 { #expect(try proxy.get(origin.url("/\(page)")).status == 401) }
            #expect(sentry.refused <= 5, "the wrong password was sent \(sentry.refused) times")
            try proxy.replace("password", with: Account.nextPassword + "\n")
            #expect(try Wait.until { try proxy.get(origin.url("/page")).status == 200 })
        }
    }
}
