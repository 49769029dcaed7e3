import Foundation
import Synchronization

/// A token endpoint (RFC 6749) and the API that believes its tokens, as two origins of the tests.
final class TokenServer: Sendable {
    struct Terms: Sendable {
        /// Seconds; nil leaves `expires_in` out.
        var lifetime: Int? = 3600
        /// The response to the next requests instead of a token.
        var answer: (status: String, content: String)?
        /// The API refuses this many tokens, the first ones.
        var refusedTokens = 0
        /// The endpoint gives no token before it is open.
        var gate: Gate?
        /// The endpoint gives another refresh token with each token, and ends all of them when one comes twice.
        var rotates = false
    }

    private struct State {
        var terms: Terms
        var issued = 0
        var used: [String] = []
        var refused = 0

        /// Whether the request has the refresh token that was given last.
        mutating func admits(_ request: Message) -> Bool {
            guard terms.rotates else { return true }
            let isLast = request.text.split(separator: "&").contains(
                "refresh_token=\(TokenServer.refreshToken(issued))")
            if refused > 0 || !isLast { refused += 1 }
            return refused == 0
        }
    }

    private let shared: Shared
    let endpoint: RecordingOrigin
    let api: RecordingOrigin

    init(_ terms: Terms = Terms()) throws {
        let shared = Shared(terms)
        endpoint = try RecordingOrigin.answering { request, connection in
            let (terms, number, isAdmitted) = shared.state.withLock { state in
                let isAdmitted = state.terms.answer != nil || state.admits(request)
                if state.terms.answer == nil, isAdmitted { state.issued += 1 }
                return (state.terms, state.issued, isAdmitted)
            }
            terms.gate?.wait()
            guard isAdmitted else {
                return try connection.reply("400 Bad Request", [], "{\"error\":\"invalid_grant\"}")
            }
            if let answer = terms.answer { return try connection.reply(answer.status, [], answer.content) }
            let lifetime = terms.lifetime.map { ",\"expires_in\":\($0)" } ?? ""
            let refresh = terms.rotates ? ",\"refresh_token\":\"\(Self.refreshToken(number))\"" : ""
            try connection.reply(
                "200 OK", ["Content-Type: application/json"],
                "{\"access_token\":\"\(Self.stem)\(number)\",\"token_type\":\"Bearer\"\(lifetime)\(refresh)}")
        }
        api = try RecordingOrigin.answering { request, connection in
            let isGood = shared.state.withLock { state in
                guard let field = request["Authorization"], field.hasPrefix("Bearer \(Self.stem)"),
                    let number = Int(field.dropFirst("Bearer \(Self.stem)".count))
                else { return false }
                state.used.append("\(number)")
                return number > state.terms.refusedTokens && number <= state.issued
            }
            if isGood { return try connection.reply(body: "ok") }
            let error = request["Authorization"] == nil ? "" : " error=\"invalid_token\""
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Bearer\(error)"])
        }
        self.shared = shared
    }

    /// The state that the two scripts share.
    private final class Shared: Sendable {
        let state: Mutex<State>
        init(_ terms: Terms) { state = Mutex(State(terms: terms)) }
    }

    /// Every token begins so: a leak is found by searching.
    static let stem = "T0ken-of-the-Queen."

    /// The refresh token that comes with a token; 0: the one that is configured.
    static func refreshToken(_ number: Int) -> String { "\(refreshStem)\(number)" }

    static let refreshStem = "Refr3sh-of-the-Queen."

    func change(_ change: @Sendable (inout Terms) -> Void) { shared.state.withLock { change(&$0.terms) } }

    /// Requests with a refresh token that had been used, and all behind them.
    var refused: Int { shared.state.withLock { $0.refused } }
    var issued: Int { shared.state.withLock { $0.issued } }
    /// The numbers of the tokens that the API saw, in order.
    var used: [String] { shared.state.withLock { $0.used } }
    var url: String { endpoint.url("/token") }
}
