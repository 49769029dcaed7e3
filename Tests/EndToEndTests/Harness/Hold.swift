import Synchronization

/// Holds requests of a server's below `/held/` that carry an answer, until it is opened, so that many are under way at once.
final class Hold: Sendable {
    private struct State {
        var count = 0
        var refusals = 0
    }

    private let gate = Gate()
    private let state = Mutex(State())

    /// The number of requests that were held.
    var count: Int { state.withLock { $0.count } }

    /// Lets all requests go on.
    ///
    /// - Parameter count: the number of them that the server refuses although their answers are right.
    func open(refusing count: Int = 0) {
        state.withLock { $0.refusals = count }
        gate.open()
    }

    /// Waits, if the request is one to hold: of NTLM, one that proves the password.
    ///
    /// - Returns: whether the server refuses the request, with any answer.
    func refuses(_ request: Message) -> Bool {
        guard request.target.hasPrefix("/held/"), let answer = request["Authorization"],
            !answer.hasPrefix("NTLM ") || answer.count > 100
        else { return false }
        state.withLock { $0.count += 1 }
        gate.wait()
        return state.withLock { state in
            state.refusals -= 1
            return state.refusals >= 0
        }
    }
}
