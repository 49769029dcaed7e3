import IO
import Synchronization

/// What became of passwords that were checked, by the keyed codes of user and password: a hash takes tens of
/// milliseconds on purpose, and is computed once. A pair that is being checked is not checked again beside that.
final class PasswordChecks: Sendable {
    fileprivate struct State {
        var proven: Set<UInt128> = []
        /// A program with an old password asks as often as one with the right one.
        var refused: Set<UInt128> = []
        var waiting: [Pair: [CheckedContinuation<Bool, Never>]] = [:]
        var generation = 0
    }

    /// A user and a password, as long as the accounts are what they were.
    fileprivate struct Pair: Hashable {
        let code: UInt128
        let generation: Int
    }

    /// Pairs remembered of each kind; beyond it all are forgotten, which costs one hash each.
    fileprivate static let limit = 4096
    /// Threads of their own, so that whoever tries passwords keeps nothing waiting but other passwords.
    private static let pool = BlockingPool(threads: 2)

    private let state = Mutex(State())

    /// What was found before; nil when nothing was, or it was of other accounts.
    func outcome(of code: UInt128) -> Bool? {
        state.withLock { $0.outcome(of: code) }
    }

    /// Forgets everything; what is under way counts for those who wait for it already, and is not remembered.
    func forget() {
        state.withLock { state in
            state.proven = []
            state.refused = []
            state.generation += 1
        }
    }

    /// Checks on the calling thread.
    func check(_ code: UInt128, _ isRight: () -> Bool) -> Bool {
        let (known, generation) = state.withLock { ($0.outcome(of: code), $0.generation) }
        if let known { return known }
        let answer = isRight()
        state.withLock { $0.remember(code, answer, of: generation) }
        return answer
    }

    /// Checks on a thread of the pool.
    func check(_ code: UInt128, _ isRight: @escaping @Sendable () -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            let (known, starts, pair) = state.withLock { state -> (Bool?, Bool, Pair) in
                let pair = Pair(code: code, generation: state.generation)
                if let known = state.outcome(of: code) { return (known, false, pair) }
                let isUnderWay = state.waiting[pair] != nil
                state.waiting[pair, default: []].append(continuation)
                return (nil, !isUnderWay, pair)
            }
            if let known { return continuation.resume(returning: known) }
            guard starts else { return }
            Self.pool.submit {
                let answer = isRight()
                let waiting = self.state.withLock { state in
                    state.remember(code, answer, of: pair.generation)
                    return state.waiting.removeValue(forKey: pair) ?? []
                }
                for continuation in waiting { continuation.resume(returning: answer) }
            }
        }
    }
}

extension PasswordChecks.State {
    fileprivate func outcome(of code: UInt128) -> Bool? {
        proven.contains(code) ? true : refused.contains(code) ? false : nil
    }

    fileprivate mutating func remember(_ code: UInt128, _ answer: Bool, of former: Int) {
        guard generation == former else { return }
        if answer {
            if proven.count >= PasswordChecks.limit { proven = [] }
            proven.insert(code)
        } else {
            if refused.count >= PasswordChecks.limit { refused = [] }
            refused.insert(code)
        }
    }
}
