import Foundation
import Synchronization
import TestSupport
import Testing

/// Tokens that are exchanged for tokens (RFC 8693), and assertions of other programs (RFC 7523).
struct TokenExchangeTests {
    /// Answers each token request with the next token of that name, if the form has the fields.
    private static func endpoint(
        _ name: String, type: String = "Bearer", lifetime: Int = 3600,
        accepts: @escaping @Sendable (Message) -> Bool = { _ in true }
    ) throws -> (origin: RecordingOrigin, count: @Sendable () -> Int) {
        let count = Counter()
        let origin = try RecordingOrigin.answering { request, connection in
            guard accepts(request) else {
                return try connection.reply("400 Bad Request", [], "{\"error\":\"invalid_grant\"}")
            }
            let number = count.next()
            try connection.reply(
                "200 OK", ["Content-Type: application/json"],
                "{\"access_token\":\"\(name)-\(number)\",\"token_type\":\"\(type)\",\"expires_in\":\(lifetime)}")
        }
        return (origin, { count.value })
    }

    private final class Counter: Sendable {
        private let number = Mutex(0)
        var value: Int { number.withLock { $0 } }
        func next() -> Int {
            number.withLock {
                $0 += 1
                return $0
            }
        }
    }

    private static func api(_ stem: String) throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            if request["Authorization"]?.hasPrefix("Bearer \(stem)-") == true {
                return try connection.reply(body: "ok")
            }
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Bearer"])
        }
    }

    private static func field(_ name: String, of message: Message?) -> String? {
        message?.text.split(separator: "&").first { $0.hasPrefix("\(name)=") }.map {
            String($0.dropFirst(name.count + 1))
        }
    }

    @Test func `a chain of two servers gives one token each for 64 clients`() throws {
        let first = try Self.endpoint("jag", type: "N_A")
        let second = try Self.endpoint("tool") { $0.text.contains("assertion=jag-1") }
        let api = try Self.api("tool")
        let rules = """
            credential jag {
                oauth2 \(first.origin.url("/token")); client-id A; client-secret s
                subject-token file id.jwt id_token; requested id-jag; audience https://as.example.com
            }
            credential tool { oauth2 \(second.origin.url("/token")); client-id A; client-secret t; assertion credential jag }
            challenge "api" { host 127.0.0.1; port \(api.port); use tool }
            """
        try AttacheProcess.running(rules, setting: .init(files: ["id.jwt": "e.y.J\n"])) { proxy throws in
            let requests = try Parallel(64, api.url(), through: proxy)
            #expect(requests.statuses() == Array(repeating: 200, count: 64))
            #expect(first.count() == 1 && second.count() == 1)
            #expect(
                first.origin.messages.first?.text
                    == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token=e.y.J"
                    + "&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aid_token"
                    + "&requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aid-jag"
                    + "&audience=https%3A%2F%2Fas.example.com")
            #expect(Self.field("assertion", of: second.origin.messages.first) == "jag-1")
            #expect(!(proxy.accessLog + proxy.errorOutput).contains("e.y.J"))
        }
    }

    @Test func `a token that is no bearer token goes to no origin`() throws {
        for (type, status) in [("N_A", 502), ("DPoP", 502), ("Bearer", 200)] {
            let endpoint = try Self.endpoint("sts", type: type)
            let api = try Self.api("sts")
            let rules = """
                credential sts { oauth2 \(endpoint.origin.url("/token")); subject-token file id.jwt }
                challenge "api" { host 127.0.0.1; port \(api.port); use sts }
                """
            try AttacheProcess.running(rules, setting: .init(files: ["id.jwt": "e.y.J\n"])) { proxy throws in
                #expect(try proxy.get(api.url()).status == status)
                #expect(try proxy.get(api.url()).status == status)
                let isSent = api.messages.contains { $0["Authorization"] != nil }
                #expect(isSent == (status == 200))
                #expect(Self.field("client_id", of: endpoint.origin.messages.first) == nil)
            }
        }
    }

    @Test func `a token file that is swapped while requests wait makes none of them fail`() throws {
        let gate = Gate()
        // The first request waits at the endpoint until the file has its next token.
        let isFirst = Mutex(true)
        let endpoint = try Self.endpoint("az") { request in
            if isFirst.withLock({ first in
                defer { first = false }
                return first
            }) {
                gate.wait()
            }
            return request.text.contains("client_assertion=new")
        }
        let api = try Self.api("az")
        let rules = """
            credential az { oauth2 \(endpoint.origin.url("/token")); client-id APP; client-assertion file @/projected }
            challenge "api" { host 127.0.0.1; port \(api.port); use az }
            """
        try AttacheProcess.running(rules, setting: .init(files: ["projected": "old\n"])) { proxy throws in
            let requests = try Parallel(32, api.url(), through: proxy)
            #expect(Wait.until { endpoint.origin.messages.count == 1 })
            #expect(endpoint.origin.messages.first?.text.contains("client_assertion=old") == true)
            try proxy.replace("projected", with: "new\n")
            gate.open()
            #expect(requests.statuses() == Array(repeating: 200, count: 32))
            #expect(endpoint.origin.messages.count == 2)
            #expect(endpoint.count() == 1)
        }
    }

    @Test func `a wrong token is sent once until its file changes`() throws {
        let endpoint = try Self.endpoint("az") { $0.text.contains("subject_token=good") }
        let api = try Self.api("az")
        let rules = """
            credential az { oauth2 \(endpoint.origin.url("/token")); subject-token file @/projected }
            challenge "api" { host 127.0.0.1; port \(api.port); use az }
            """
        try AttacheProcess.running(rules, setting: .init(files: ["projected": "bad\n"])) { proxy throws in
            let requests = try Parallel(64, api.url(), through: proxy)
            #expect(requests.statuses() == Array(repeating: 502, count: 64))
            #expect(endpoint.origin.messages.count <= 2)
            let count = endpoint.origin.messages.count
            #expect(try proxy.get(api.url()).status == 502)
            #expect(endpoint.origin.messages.count == count)
            try proxy.replace("projected", with: "good\n")
            let recovers = try Wait.until { try proxy.get(api.url()).status == 200 }
            #expect(recovers)
        }
    }

    /// One server wants the issuer as the audience, the other one itself.
    @Test(arguments: ["issuer", "endpoint"])
    func `an assertion is for the audience that the server wants`(wanted: String) throws {
        let folder = Scratch.folder("audience")
        try OpenSSLCommand.run(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", folder + "/k")
        let place = Mutex("")
        let server = try RecordingOrigin.answering { request, connection in
            let url = place.withLock { $0 }
            if request.method == "GET" {
                return try connection.reply(body: "{\"issuer\":\"\(url)\",\"token_endpoint\":\"\(url)/token\"}")
            }
            let audience = wanted == "issuer" ? url : "\(url)/token"
            guard let assertion = Self.field("client_assertion", of: request),
                Self.claims(assertion)?["aud"] as? String == audience
            else { return try connection.reply("400 Bad Request", [], "{\"error\":\"invalid_client\"}") }
            try connection.reply(body: "{\"access_token\":\"sso-1\",\"token_type\":\"Bearer\"}")
        }
        place.withLock { $0 = server.url("").hasSuffix("/") ? String(server.url("").dropLast()) : server.url("") }
        let api = try Self.api("sso")
        for (audience, isRight) in [("", wanted == "issuer"), ("; assertion-audience endpoint", wanted == "endpoint")] {
            let rules = """
                credential sso { issuer \(place.withLock { $0 }); client-id agent; key \(folder)/k\(audience) }
                challenge "api" { host 127.0.0.1; port \(api.port); use sso }
                """
            try AttacheProcess.running(rules) { proxy throws in
                let fetched = try proxy.get(api.url())
                #expect(fetched.status == (isRight ? 200 : 401), "\(proxy.errorOutput)")
                if !isRight { #expect(fetched["Proxy-Status"]?.contains("invalid_client") == true, "\(fetched)") }
            }
        }
    }

    private static func claims(_ assertion: String) -> [String: Any]? {
        let parts = assertion.split(separator: ".")
        guard parts.count == 3 else { return nil }
        let text = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4)).flatMap {
            try? JSONSerialization.jsonObject(with: $0) as? [String: Any]
        }
    }
}
