#if canImport(Authentication)
@testable import Authentication
#endif

/// Follows the pauses of the version at each server. Only verdicts on answers that were sent later change that. Three leaders
/// in a row without a verdict pause it, too.
struct PauseWatch {
    /// The position of the last answer that was sent before the pause, by server.
    private var paused: [String: Int] = [:]
    /// The number of leaders in a row that got no verdict, by server.
    private(set) var indecisions: [String: Int] = [:]

    /// A verdict has changed the account.
    ///
    /// - Parameters:
    ///   - order: the answer's place in the order of sending.
    ///   - last: the place of the last answer that was sent before the verdict.
    mutating func note(
        _ verdict: Account.Verdict, on answer: Account.SentAnswer, order: Int, last: Int, from former: Account,
        to account: Account
    ) throws(BrokenPromise) {
        switch verdict {
        case .none: if answer.role == .doubt { indecisions[answer.server, default: 0] += 1 }
        case .accepted: indecisions[answer.server] = nil
        case .refused, .abandoned: break
        }
        let before = former.record(of: answer.server)?.pause
        let after = account.record(of: answer.server)?.pause
        if after == nil, account.record(of: answer.server)?.leader == nil, indecisions[answer.server, default: 0] >= 3 {
            throw BrokenPromise(.rest, "three leaders at \(answer.server) had no verdict, and it is not paused")
        }
        // Its time may change: a server that is known by now has shorter steps.
        if before?.number == after?.number { return }
        if before != nil, order <= paused[answer.server, default: 0] || after == nil && verdict != .accepted {
            throw BrokenPromise(.lockout, "the pause of \(answer.server) changes by an answer that was sent before")
        }
        if before == nil, verdict == .abandoned || verdict == .none && indecisions[answer.server, default: 0] < 3 {
            throw BrokenPromise(.others, "\(answer.server) is paused without a verdict")
        }
        if let before, let after {
            if after.since != before.since {
                throw BrokenPromise(.visibility, "the pause of \(answer.server) is shown to begin anew")
            }
            if verdict == .none, after.step != before.step {
                throw BrokenPromise(.healing, "the steps of \(answer.server) move without a verdict")
            }
        }
        indecisions[answer.server] = nil
        paused[answer.server] = after == nil ? nil : last
    }

    mutating func reset() {
        paused = [:]
        indecisions = [:]
    }

    func last(at server: String) -> Int? { paused[server] }
}
