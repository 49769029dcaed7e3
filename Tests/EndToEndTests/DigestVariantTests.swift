import Testing

/// Digest as servers other than Apache and lighttpd speak it, against a checker that forgives nothing.
struct DigestVariantTests {
    /// Fetches several times and expects that nothing but the first request came unanswered and nothing was refused.
    private func expectAccepted(
        _ terms: DigestGuard.Terms, requests: Int = 4, _ expectation: (RecordingOrigin) throws -> Void = { _ in }
    ) throws {
        let sentry = DigestGuard(terms)
        let origin = try RecordingOrigin.guarded(by: sentry)
        try AttacheProcess.answering(origin.port) { proxy throws in
            for number in 1...requests {
                let answered = try proxy.get(origin.url("/a/b?c=d%20\(number)"), "--data", "x=\(number)")
                #expect(answered.status == 200, "\(sentry.refused)")
                #expect(answered.text == "ok")
            }
            #expect(sentry.refused == [])
            #expect(sentry.unauthenticated == 1)
            try expectation(origin)
        }
    }

    @Test(arguments: ["MD5", "MD5-sess", "SHA-256", "SHA-256-sess", "SHA-512-256", "SHA-512-256-sess", nil])
    func `every algorithm is answered, and none means MD5`(algorithm: String?) throws {
        try expectAccepted(.init(algorithm: algorithm))
    }

    @Test func `a challenge without qop is answered as RFC 2069 says`() throws {
        try expectAccepted(.init(algorithm: nil, qop: nil)) { origin in
            let answer = try #require(origin.messages.last?["Authorization"])
            #expect(!answer.contains("nc="))
            #expect(!answer.contains("cnonce="))
        }
    }

    @Test func `auth-int alone covers the content`() throws {
        try expectAccepted(.init(qop: "auth-int"))
    }

    /// The content is held until its proof was checked: in the head's buffer, in memory, and on disk.
    @Test(arguments: DigestGuard.Framing.allCases, [2, 50_000, 1_000_000])
    func `under auth-int a response passes when its proof fits`(framing: DigestGuard.Framing, size: Int) throws {
        let content = String(repeating: "0123456789", count: size / 10 + 1)
        let sentry = DigestGuard(.init(qop: "auth-int", content: content, framing: framing))
        let origin = try RecordingOrigin.guarded(by: sentry)
        try AttacheProcess.answering(origin.port) { proxy throws in
            for _ in 1...3 {
                let answered = try proxy.get(origin.url())
                #expect(answered.status == 200)
                #expect(answered.text == content)
                #expect(answered["Proxy-Status"] == nil)
            }
            #expect(sentry.refused == [])
        }
    }

    @Test(arguments: DigestGuard.Framing.allCases)
    func `under auth-int a response that somebody changed is not passed on`(framing: DigestGuard.Framing) throws {
        let content = String(repeating: "0123456789", count: 20_000)
        let sentry = DigestGuard(.init(qop: "auth-int", lies: true, content: content, framing: framing))
        let origin = try RecordingOrigin.guarded(by: sentry)
        try AttacheProcess.answering(origin.port) { proxy throws in
            let answered = try proxy.get(origin.url())
            #expect(answered.status == 502)
            #expect(answered.text.contains("rspauth"))
            #expect(!answered.text.contains("0123456789"))
        }
    }

    @Test(arguments: DigestGuard.Framing.allCases)
    func `a response too large for its proof passes, and the client is told`(framing: DigestGuard.Framing) throws {
        let content = String(repeating: "0123456789", count: 50_000)
        let sentry = DigestGuard(.init(qop: "auth-int", content: content, framing: framing))
        let origin = try RecordingOrigin.guarded(by: sentry)
        let limits = "limits { replay-memory 16k; replay-disk 64k }"
        try AttacheProcess.answering(origin.port, rules: limits) { proxy throws in
            let answered = try proxy.get(origin.url())
            #expect(answered.status == 200)
            #expect(answered.text == content)
            #expect(answered["Proxy-Status"]?.contains("was not checked") == true)
        }
    }

    @Test func `a response that breaks off before its proof could be checked is not passed on`() throws {
        let sentry = DigestGuard(.init(qop: "auth-int"))
        let origin = try RecordingOrigin { connection in
            while let request = try connection.request() {
                switch try sentry.judge(request) {
                case .challenged(let value):
                    try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(value)"])
                case .accepted(let info):
                    let field = info.map { "Authentication-Info: \($0)\r\n" } ?? ""
                    return try connection.wire.send("HTTP/1.1 200 OK\r\n\(field)Content-Length: 100\r\n\r\nhalf")
                }
            }
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            let answered = try proxy.get(origin.url())
            #expect(answered.status == 502)
            #expect(answered["Proxy-Status"]?.contains("http_response_incomplete") == true)
        }
    }

    @Test func `under auth-int a content that is too large is not asked for again and again`() throws {
        // It answers before the content, for which the proxy's `Expect` waits.
        let origin = try RecordingOrigin { connection in
            guard let request = try connection.requestHead() else { return }
            let nonce = "\(request.target)-\(connection.wire)"
            try connection.reply(
                "401 Unauthorized",
                ["WWW-Authenticate: Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth-int\"", "Connection: close"])
        }
        let content = String(repeating: "c", count: 10_000)
        try AttacheProcess.answering(origin.port, rules: "limits { replay-memory 2k; replay-disk 0 }") { proxy throws in
            let fetched = try proxy.get(origin.url(), "-d", content)
            #expect(fetched.status == 401, "\(fetched)")
            #expect(origin.messages.count == 2)
            #expect(fetched["Proxy-Status"]?.contains("requires the digest of the whole body") == true, "\(fetched)")
        }
    }

    @Test func `auth is preferred to auth-int`() throws {
        try expectAccepted(.init(qop: "auth-int,auth")) { origin in
            let answer = try #require(origin.messages.last?["Authorization"])
            #expect(DigestGuard.parameters(String(answer.dropFirst(7)))["qop"] == "auth")
        }
    }

    @Test func `nextnonce is used for the next request`() throws {
        try expectAccepted(.init(sendsNextNonce: true)) { origin in
            let nonces = origin.messages.compactMap { $0["Authorization"] }
                .map { DigestGuard.parameters(String($0.dropFirst(7)))["nonce"] ?? "" }
            #expect(Set(nonces).count == 4)
        }
    }

    @Test func `a nonce that grows stale after two uses costs a round, no failure`() throws {
        let sentry = DigestGuard(.init(usesPerNonce: 2))
        let origin = try RecordingOrigin.guarded(by: sentry)
        try AttacheProcess.answering(origin.port, modifiers: "attempts 1") { proxy throws in
            for _ in 1...7 { #expect(try proxy.get(origin.url()).status == 200) }
            #expect(sentry.refused == [])
            #expect(sentry.unauthenticated == 1)
        }
    }

    @Test func `a server that always says stale is given up`() throws {
        let origin = try RecordingOrigin.answering { _, connection in
            let nonce = "n\(connection.number)-\(UInt32.random(in: 0 ... .max))"
            let value = #"Digest realm="r", nonce="\#(nonce)", qop="auth", algorithm=SHA-256, stale=true"#
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(value)"], "again")
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            let answered = try proxy.get(origin.url())
            #expect(answered.status == 401)
            #expect(origin.requests.count <= 10)
        }
    }

    @Test func `quotes and backslashes of a realm come back escaped`() throws {
        let realm = #"the \"quoted\", \\ realm"#
        let origin = try RecordingOrigin.answering { request, connection in
            let isEscaped = request["Authorization"]?.contains("realm=\"\(realm)\"") ?? false
            if isEscaped { return try connection.reply(body: "ok") }
            let value = #"Digest realm="\#(realm)", nonce="abc", qop="auth", algorithm=SHA-256"#
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(value)"])
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
        }
    }

    @Test func `a response whose rspauth is wrong is not trusted to hold the password`() throws {
        let sentry = DigestGuard(.init(lies: true))
        let origin = try RecordingOrigin.guarded(by: sentry)
        try AttacheProcess.answering(origin.port) { proxy throws in
            let answered = try proxy.get(origin.url())
            #expect(answered.status == 502)
            #expect(answered["Proxy-Status"]?.contains("http_protocol_error") == true)
            #expect(answered.text.contains("rspauth"))
            _ = try proxy.get(origin.url())
            #expect(sentry.unauthenticated == 2, "the space was kept although the server did not prove itself")
        }
    }
}
