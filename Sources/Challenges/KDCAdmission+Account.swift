import Authentication
import IO

/// A KDC as a server that accepts and refuses a password or key.
extension KDCAdmission {
    /// Asks the account.
    ///
    /// - Parameter limit: milliseconds to wait for the verdict on another answer; nil: as long as it takes.
    init(by evidence: Evidence, under terms: RetryTerms, within limit: Int?) async throws(TicketError) {
        var admission = AnswerAdmission?.some(
            evidence.admit([UInt8]().span, under: terms, now: SystemClock.epochMilliseconds))
        if case .wait(let waiter)? = admission {
            let alarm = EventLoop.current.map { Alarm(on: $0) { waiter.expire() } }
            if let limit { alarm?.set(after: limit) }
            defer { alarm?.cancel() }
            admission = await waiter.admission()
        }
        switch admission {
        case .send(let attempt)?: self.init(attempt)
        case .refused(_, let nextTry)?: throw .held(nextTry: nextTry)
        case .wait?, nil: throw .undecided
        }
    }

    private init(_ attempt: Attempt) {
        self.init(
            report: { error in
                let verdict: AnswerVerdict =
                    switch error {
                    case nil: .accepted
                    case .refused?: .refused
                    default: .none
                    }
                let reason = error.map { "was refused (\($0))" }
                attempt.settle(verdict, because: reason, now: SystemClock.epochMilliseconds)
            },
            renewal: { [weak evidence = attempt.evidence] in
                guard let evidence, evidence.isGood else { return nil }
                return KDCAdmission(Attempt(sentAt: evidence.send(), evidence, for: [UInt8]().span))
            })
    }
}
