import Authentication
import Bytes
import IO

extension Evidence {
    /// Asks the account whether the version may be sent to a server that judges only the version, such as a KDC or a
    /// token endpoint. Waits for the verdict on another answer.
    ///
    /// - Parameter limit: the limit of the wait; nil for no limit.
    /// - Returns: nil if the verdict does not come in time.
    func admission(under terms: RetryTerms, within limit: Milliseconds?, at now: WallTime) async -> Admission? {
        let admission = admit([UInt8]().span, under: terms, now: now)
        guard case .wait(let waiter) = admission else { return admission }
        let alarm = EventLoop.current.map { Alarm(on: $0) { waiter.expire() } }
        if let limit { alarm?.set(after: limit) }
        defer { alarm?.cancel() }
        return await waiter.admission()
    }
}

/// A KDC as a server that accepts and refuses a password or key.
extension KDCAdmission {
    /// Asks the account.
    ///
    /// - Parameter limit: the limit for the verdict on another answer; nil for no limit.
    init(by evidence: Evidence, under terms: Evidence.RetryTerms, within limit: Milliseconds?) async throws(TicketError)
    {
        switch await evidence.admission(under: terms, within: limit, at: SystemClock.wallTime) {
        case .send(let attempt)?: self.init(attempt)
        case .refused(_, let nextTry)?: throw .held(nextTry: nextTry)
        case .wait?, nil: throw .undecided
        }
    }

    private init(_ attempt: Evidence.Attempt) {
        self.init(
            report: { error in
                let verdict: Account.Verdict =
                    switch error {
                    case nil: .accepted
                    case .refused?: .refused
                    default: .none
                    }
                let reason = error.map { "was refused (\($0))" }
                attempt.settle(verdict, because: reason, now: SystemClock.wallTime)
            },
            renewal: { [weak evidence = attempt.evidence] in
                guard let evidence, evidence.isGood else { return nil }
                return KDCAdmission(Evidence.Attempt(sentAt: evidence.send(), evidence, for: [UInt8]().span))
            })
    }
}
