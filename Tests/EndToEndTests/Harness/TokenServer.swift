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
        /// The endpoint takes its time.
        var delay: UInt32 = 0
    }

    private struct State {
        var terms: Terms
        var issued = 0
        var used: [String] = []
    }

    private let shared: Shared
    let endpoint: RecordingOrigin
    let api: RecordingOrigin

    init(_ terms: Terms = Terms()) throws {
        let shared = Shared(terms)
        endpoint = try RecordingOrigin.answering { _, connection in
            let (terms, number) = shared.state.withLock { state in
                if state.terms.answer == nil { state.issued += 1 }
                return (state.terms, state.issued)
            }
            usleep(terms.delay)
            if let answer = terms.answer { return try connection.reply(answer.status, [], answer.content) }
            let lifetime = terms.lifetime.map { ",\"expires_in\":\($0)" } ?? ""
            try connection.reply(
                "200 OK", ["Content-Type: application/json"],
                "{\"access_token\":\"\(Self.stem)\(number)\",\"token_type\":\"Bearer\"\(lifetime)}")
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

    /// What the two scripts share.
    private final class Shared: Sendable {
        let state: Mutex<State>
        init(_ terms: Terms) { state = Mutex(State(terms: terms)) }
    }

    /// Every token begins so: a leak is found by searching.
    static let stem = "T0ken-of-the-Queen."

    func change(_ change: @Sendable (inout Terms) -> Void) { shared.state.withLock { change(&$0.terms) } }

    var issued: Int { shared.state.withLock { $0.issued } }
    /// The numbers of the tokens that the API saw, in order.
    var used: [String] { shared.state.withLock { $0.used } }
    var url: String { endpoint.url("/token") }
}
