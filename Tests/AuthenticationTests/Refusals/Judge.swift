#if canImport(Authentication)
@testable import Authentication
#endif

/// Counts refused answers as a directory does that locks an account after five in half an hour (P1). A server may have a
/// directory of its own.
///
/// A *run* begins with a refused answer. It ends when the proxy knows of an accepted one that was sent later than the run's
/// first, or that was a leader's. Refused answers that were sent before their replica knew of the run's first one are under
/// way, and are not counted: they cannot be called back.
struct Judge {
    /// The first refused answer of the open run, by its place in the order of sending; nil: no run is open.
    private(set) var run: Int?
    /// The times when the refused answers became known that the directory still counts.
    private(set) var counted: [Int] = []
    private(set) var wasAccepted = false
    /// The refused answers of a version that no server has accepted.
    private(set) var unproven = 0
    private(set) var lastUnproven = 0

    static let lockoutTime = 30 * minute
    static let lockoutLimit = 5

    /// - Parameters:
    ///   - order: the answer's place in the order of sending.
    ///   - known: the run of which its replica knew when it sent the answer.
    mutating func note(
        _ verdict: Account.Verdict, _ role: Account.SentAnswer.Role, order: Int, known: Int?, at now: Int
    ) throws(BrokenPromise) {
        switch verdict {
        case .none, .abandoned: break
        case .accepted: noteAcceptance(role, order: order)
        case .refused:
            if !wasAccepted { try noteUnproven(at: now) }
            try noteRefusal(order: order, known: known, at: now)
        }
    }

    mutating func noteAcceptance(_ role: Account.SentAnswer.Role, order: Int) {
        wasAccepted = true
        unproven = 0
        guard let run, order > run || role.isRetrial else { return }
        self.run = nil
        counted = []
    }

    /// An operator has the version tried again, and answers for it.
    mutating func reset() {
        run = nil
        counted = []
        unproven = 0
    }

    /// A refused answer that the directory counts, whether the proxy knows of the verdict or its replica has died.
    mutating func noteRefusal(order: Int, known: Int?, at now: Int) throws(BrokenPromise) {
        if run == nil {
            run = order
            counted = [now]
        } else if known == run {
            counted.removeAll { now - $0 >= Self.lockoutTime }
            counted.append(now)
        }
        if counted.count >= Self.lockoutLimit {
            throw BrokenPromise(.lockout, "\(counted.count) refused answers in half an hour, at \(seconds(counted))")
        }
    }

    /// A version that no server has accepted: two answers, then one after half an hour, one hour, two, and so on up to a day.
    private mutating func noteUnproven(at now: Int) throws(BrokenPromise) {
        unproven += 1
        let wait = now - lastUnproven
        lastUnproven = now
        guard unproven > 2 else { return }
        if wait < min(30 * minute << min(unproven - 3, 6), 24 * 60 * minute) {
            throw BrokenPromise(
                .lockout,
                "no server has accepted it, and answer \(unproven) was refused \(seconds([wait])) s after the last")
        }
    }
}

let minute = 60_000

func seconds(_ times: [Int]) -> String {
    times.map { "\($0 / 1000).\($0 % 1000 / 100)" }.joined(separator: ", ")
}
