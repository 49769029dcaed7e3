import Foundation
import Synchronization
import TestSupport
import Testing

/// Servers that announce their tokens (RFC 9728), with many clients at once.
struct AnnouncedTokenTests {
    /// The URL of a server, which its own answers contain.
    private final class Place: Sendable {
        private let text = Mutex("")
        var url: String { text.withLock { $0 } }
        func set(_ url: String) { text.withLock { $0 = url.hasSuffix("/") ? String(url.dropLast()) : url } }
    }

    /// An issuer whose tokens are the scopes that were asked for.
    private static func issuer() throws -> (origin: RecordingOrigin, url: String) {
        let place = Place()
        let origin = try RecordingOrigin.answering { request, connection in
            if request.method == "GET" {
                let url = place.url
                return try connection.reply(body: "{\"issuer\":\"\(url)\",\"token_endpoint\":\"\(url)/token\"}")
            }
            let scope = request.text.split(separator: "&").first { $0.hasPrefix("scope=") }?.dropFirst(6) ?? ""
            let token = scope.replacing("%20", with: "-")
            try connection.reply(body: "{\"access_token\":\"\(token)\",\"token_type\":\"Bearer\",\"expires_in\":3600}")
        }
        place.set(origin.url(""))
        return (origin, place.url)
    }

    /// A server that wants the scope `write` for `/mcp/write`, and `read` for the rest.
    private static func server(issuers: [String]) throws -> RecordingOrigin {
        let place = Place()
        let origin = try RecordingOrigin.answering { request, connection in
            if request.target == "/meta" {
                let list = issuers.map { "\"\($0)\"" }.joined(separator: ",")
                return try connection.reply(
                    body: "{\"resource\":\"\(place.url)/mcp\",\"authorization_servers\":[\(list)],"
                        + "\"scopes_supported\":[\"read\"]}")
            }
            let scopes = request["Authorization"]?.split(separator: " ").last?.split(separator: "-") ?? []
            if scopes.isEmpty {
                return try connection.reply(
                    "401 Unauthorized", ["WWW-Authenticate: Bearer resource_metadata=\"\(place.url)/meta\""])
            }
            let wanted = request.target == "/mcp/write" ? "write" : "read"
            if scopes.contains(Substring(wanted)) { return try connection.reply(body: "ok") }
            try connection.reply(
                "403 Forbidden", ["WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"\(wanted)\""])
        }
        place.set(origin.url(""))
        return origin
    }

    private static func rules(_ issuer: String, _ server: RecordingOrigin) -> String {
        """
        credential mcp { issuer \(issuer); client-id agent; client-secret s; scope read write }
        challenge "mcp" { host 127.0.0.1; port \(server.port); use mcp }
        """
    }

    @Test func `64 clients at once read each document once, and fetch one token`() throws {
        let (issuer, url) = try Self.issuer()
        let server = try Self.server(issuers: ["https://other.example", url])
        try AttacheProcess.running(Self.rules(url, server)) { proxy throws in
            let requests = try Parallel(64, server.url("/mcp"), through: proxy)
            #expect(requests.statuses() == Array(repeating: 200, count: 64))
            #expect(server.messages.count { $0.target == "/meta" } == 1)
            #expect(issuer.messages.count { $0.method == "GET" } == 1)
            #expect(issuer.messages.count { $0.method == "POST" } == 1)
        }
    }

    @Test func `a step up keeps the scopes of before`() throws {
        let (issuer, url) = try Self.issuer()
        let server = try Self.server(issuers: [url + "/"])
        try AttacheProcess.running(Self.rules(url, server)) { proxy throws in
            for path in ["/mcp", "/mcp/write", "/mcp", "/mcp/write"] {
                #expect(try proxy.get(server.url(path)).text == "ok")
            }
            let forms = issuer.messages.filter { $0.method == "POST" }.map(\.text)
            #expect(forms.count == 2)
            #expect(
                forms.first?.contains("&scope=read&") == true && forms.last?.contains("&scope=read%20write&") == true)
            #expect(forms.allSatisfy { $0.contains("&resource=http%3A%2F%2F127.0.0.1%3A\(server.port)%2Fmcp") })
        }
    }

    @Test func `a server of another issuer gets nothing`() throws {
        let (issuer, url) = try Self.issuer()
        let server = try Self.server(issuers: ["https://other.example"])
        try AttacheProcess.running(Self.rules(url, server)) { proxy throws in
            let fetched = try proxy.get(server.url("/mcp"))
            #expect(fetched.status == 401)
            #expect(fetched["Proxy-Status"]?.contains("is served by https://other.example") == true, "\(fetched)")
            #expect(issuer.messages.isEmpty && server.messages.allSatisfy { $0["Authorization"] == nil })
        }
    }
}
