import Foundation
import Synchronization

/// The requests at an origin that asks for Basic.
final class BasicGuard: Sendable {
    private struct State {
        var password: String
        var unanswered = 0
        var accepted = 0
        var refused = 0
    }

    private let user: String
    private let state: Mutex<State>

    init(_ password: String = Account.password, of user: String = Account.user) {
        self.user = user
        state = Mutex(State(password: password))
    }

    /// Sets the password that is accepted.
    func change(to password: String) { state.withLock { $0.password = password } }

    /// Requests without an answer, with the right one, with a wrong one.
    var unanswered: Int { state.withLock { $0.unanswered } }
    var accepted: Int { state.withLock { $0.accepted } }
    var refused: Int { state.withLock { $0.refused } }

    func admits(_ authorization: String?) -> Bool {
        state.withLock { state in
            let right = "Basic " + Data("\(user):\(state.password)".utf8).base64EncodedString()
            switch authorization {
            case nil: state.unanswered += 1
            case right: state.accepted += 1
            default: state.refused += 1
            }
            return authorization == right
        }
    }
}

extension RecordingOrigin {
    /// An origin whose every resource asks for Basic in the realm `r`.
    static func guarded(by sentry: BasicGuard, holding hold: Hold = Hold()) throws -> RecordingOrigin {
        try answering { request, connection in
            let isRight = !hold.refuses(request) && sentry.admits(request["Authorization"])
            let challenge = isRight ? [] : ["WWW-Authenticate: Basic realm=\"r\""]
            try connection.reply(isRight ? "200 OK" : "401 Unauthorized", challenge, isRight ? "ok" : "")
        }
    }
}
