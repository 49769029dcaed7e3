#if canImport(Authentication)
@testable import Authentication
#endif

/// Since when the version is paused at each server. An acceptance ends a pause only if its answer was sent later.
struct PauseWatch {
    /// By server, the place in the order of sending of the last answer that was sent before the pause.
    private var paused: [String: Int] = [:]

    /// A verdict has changed the account.
    ///
    /// - Parameters:
    ///   - order: the answer's place in the order of sending.
    ///   - last: the place of the last answer that was sent before the verdict.
    mutating func note(
        _ verdict: AnswerVerdict, on answer: SentAnswer, order: Int, last: Int, from former: Account,
        to account: Account
    ) throws(BrokenPromise) {
        let before = former.record(of: answer.server)?.pause
        let after = account.record(of: answer.server)?.pause
        if before == after { return }
        if after == nil, verdict != .accepted || order <= paused[answer.server, default: 0] {
            throw BrokenPromise(.lockout, "\(answer.server) is paused no longer, by an answer that was sent before")
        }
        paused[answer.server] = after == nil ? nil : last
    }

    func last(at server: String) -> Int? { paused[server] }
}
