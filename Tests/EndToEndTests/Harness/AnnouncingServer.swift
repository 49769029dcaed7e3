import Foundation
import Synchronization

/// A server that announces its tokens (RFC 9728), and the issuer that gives them, as two origins of the tests.
final class AnnouncingServer: Sendable {
    struct Terms: Sendable {
        /// The issuers that the server lists; `ISSUER` is the one of the tests.
        var issuers = ["ISSUER"]
        /// The value of `scope` in the challenge; nil: none.
        var scope: String?
        /// Whether a request without a token is answered by a challenge.
        var challenges = true
        /// The status of the response to a token with too few scopes.
        var refusal = "403 Forbidden"
        /// Seconds.
        var lifetime = 3600
        /// The response of the issuer instead of documents and tokens.
        var outage: String?
    }

    /// The issuer, whose tokens are the scopes that were asked for and a number.
    let issuer: RecordingOrigin
    /// The server, which wants the scope `write` for `/mcp/write`, and `read` for the rest.
    let origin: RecordingOrigin
    private let state: State

    private final class State: Sendable {
        let terms: Mutex<Terms>
        /// The URLs of the two, which their answers contain.
        let places = Mutex((issuer: "", origin: ""))
        let issued = Atomic(0)

        init(_ terms: Terms) { self.terms = Mutex(terms) }
    }

    init(_ terms: Terms = Terms()) throws {
        let state = State(terms)
        self.state = state
        issuer = try RecordingOrigin.answering { request, connection in
            let (terms, url) = (state.terms.withLock { $0 }, state.places.withLock { $0.issuer })
            if let outage = terms.outage { return try connection.reply(outage) }
            if request.method == "GET" {
                return try connection.reply(body: "{\"issuer\":\"\(url)\",\"token_endpoint\":\"\(url)/token\"}")
            }
            let scope = request.text.split(separator: "&").first { $0.hasPrefix("scope=") }?.dropFirst(6) ?? ""
            let number = state.issued.add(1, ordering: .relaxed).newValue
            let token = "\(scope.replacing("%20", with: "-"))-\(number)"
            try connection.reply(
                body: "{\"access_token\":\"\(token)\",\"token_type\":\"Bearer\",\"expires_in\":\(terms.lifetime)}")
        }
        origin = try RecordingOrigin.answering { request, connection in
            let (terms, places) = (state.terms.withLock { $0 }, state.places.withLock { $0 })
            if request.target == "/meta" || request.target.hasPrefix("/.well-known/") {
                let issuers = terms.issuers.map { "\"\($0.replacing("ISSUER", with: places.issuer))\"" }
                return try connection.reply(
                    body: "{\"resource\":\"\(places.origin)/mcp\",\"authorization_servers\":"
                        + "[\(issuers.joined(separator: ","))],\"scopes_supported\":[\"read\"]}")
            }
            let scopes = request["Authorization"]?.split(separator: " ").last?.split(separator: "-") ?? []
            if scopes.isEmpty {
                let scope = terms.scope.map { ", scope=\"\($0)\"" } ?? ""
                let field = "WWW-Authenticate: Bearer resource_metadata=\"\(places.origin)/meta\"\(scope)"
                return try connection.reply("401 Unauthorized", terms.challenges ? [field] : [])
            }
            let wanted = request.target == "/mcp/write" ? "write" : "read"
            if scopes.contains(Substring(wanted)) { return try connection.reply(body: "ok") }
            try connection.reply(
                terms.refusal, ["WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"\(wanted)\""])
        }
        let url = { (origin: RecordingOrigin) in String(origin.url("/").dropLast()) }
        let places = (issuer: url(issuer), origin: url(origin))
        state.places.withLock { $0 = places }
    }

    /// The identifier of the issuer.
    var issuerURL: String { state.places.withLock { $0.issuer } }
    var url: String { origin.url("/mcp") }

    func change(_ change: @Sendable (inout Terms) -> Void) { state.terms.withLock { change(&$0) } }

    /// The forms of the token requests.
    var forms: [String] { issuer.messages.filter { $0.method == "POST" }.map(\.text) }

    /// Rules for the server.
    func rules(scope: String = "read write", _ more: String = "") -> String {
        """
        credential mcp { issuer \(issuerURL); client-id agent; client-secret s; scope \(scope)\(more) }
        challenge "mcp" { host 127.0.0.1; port \(origin.port); use mcp }
        """
    }
}
