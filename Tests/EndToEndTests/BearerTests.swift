import Foundation
import TestSupport
import Testing

/// Bearer challenges (RFC 6750) are answered with a token.
struct BearerTests {
    private static let token = "t0ken-Of.The~Queen+/=="

    private func answering(
        _ answer: @escaping @Sendable (Message, RecordingOrigin.Connection) throws -> Void,
        _ body: (AttacheProcess, RecordingOrigin) throws -> Void
    ) throws {
        let origin = try RecordingOrigin.answering(answer)
        let rule = """
            credential api { token file @/token }
            challenge { host 127.0.0.1; port \(origin.port); use api }
            """
        try AttacheProcess.running(rule, setting: .init(files: ["token": Self.token + "\n"])) { proxy throws in
            try body(proxy, origin)
            #expect(!(proxy.accessLog + proxy.errorOutput).contains(Self.token))
        }
    }

    @Test(arguments: ["", "method basic;"])
    func `a server that asks for Bearer and takes Basic: the 401 names the way out, and that leads there`(
        method: String
    ) throws {
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.answering { request, connection in
            let isRight = sentry.admits(request["Authorization"])
            let challenge = isRight ? [] : ["WWW-Authenticate: Bearer realm=\"api\""]
            try connection.reply(isRight ? "200 OK" : "401 Unauthorized", challenge)
        }
        let credential = "credential ci { user \(Account.user); password file @/password }\n"
        let rule = "challenge { host 127.0.0.1; port \(origin.port); \(method) use ci }"
        try AttacheProcess.running(credential + rule) { proxy throws in
            let fetched = try proxy.get(origin.url())
            #expect(fetched.status == 401)
            #expect(fetched["Proxy-Status"]?.contains("'method basic' and 'preempt always'") == true, "\(fetched)")
            try proxy.reload(
                credential + "challenge { host 127.0.0.1; method basic; use ci; preempt always }")
            #expect(try Wait.until { try proxy.get(origin.url()).status == 200 })
            #expect(sentry.refused == 0)
        }
    }

    @Test func `a token answers, and goes unasked from then on`() throws {
        try answering { request, connection in
            guard request["Authorization"] == "Bearer \(Self.token)" else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: Bearer realm=\"api\""])
            }
            try connection.reply(body: "ok")
        } _: { proxy, origin throws in
            for path in ["/a/1", "/b/2"] { #expect(try proxy.get(origin.url(path)).text == "ok") }
            #expect(origin.messages.count == 3)
            #expect(try proxy.records(atLeast: 2).allSatisfy { $0["scheme"] == "bearer" })
        }
    }

    @Test func `a token that is refused is sent once, until its file changes`() throws {
        try answering { request, connection in
            guard request["Authorization"] == "Bearer another" else {
                let error = request["Authorization"] == nil ? "" : ", error=\"invalid_token\""
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: Bearer realm=\"api\"" + error])
            }
            try connection.reply(body: "ok")
        } _: { proxy, origin throws in
            for _ in 1...3 { #expect(try proxy.get(origin.url()).status == 401) }
            #expect(origin.messages.filter { $0["Authorization"] != nil }.count == 1)
            try proxy.replace("token", with: "another\n")
            let isAccepted = try Wait.until { try proxy.get(origin.url()).status == 200 }
            #expect(isAccepted)
        }
    }

    @Test func `a token that lacks a scope is not refused, and the client learns which`() throws {
        try answering { request, connection in
            guard request["Authorization"] != nil else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: Bearer"])
            }
            guard request.target == "/admin" else { return try connection.reply(body: "ok") }
            try connection.reply(
                "403 Forbidden", ["WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"admin:write\""])
        } _: { proxy, origin throws in
            #expect(try proxy.get(origin.url("/")).text == "ok")
            for _ in 1...2 {
                let refused = try proxy.get(origin.url("/admin"))
                #expect(refused.status == 403)
                #expect(refused["Proxy-Status"]?.contains("lacks the scope") == true, "\(refused)")
                #expect(refused["Proxy-Status"]?.contains("admin:write") == true)
            }
            #expect(try proxy.get(origin.url("/")).text == "ok")
        }
    }
}
