import Bytes
import IO
import Synchronization

/// The results of password checks, by the keyed codes of user and password. A hash takes tens of milliseconds on
/// purpose, and is computed once. Clients that send the same pair at the same time wait for one check.
///
/// Clients may request checks faster than they are done. So the number of waiting checks is limited, and the clients'
/// addresses take turns. At most one check per user and one per address runs at a time. The check of a client that
/// leaves is dropped. Pairs that were right before the accounts changed come first, since only a user who knows the
/// password can send them. Then come users who have logged in from the same address.
final class PasswordChecks: Sendable {
    /// A user and a password, valid until the accounts change.
    private struct Pair: Hashable {
        let code: UInt128
        let generation: Int
    }

    fileprivate struct Login: Hashable {
        let user: UInt128
        let network: IPAddress
    }

    fileprivate struct State {
        /// The right pairs, with the generation of the accounts at the check.
        var right: [UInt128: Int] = [:]
        /// The wrong pairs: a program with an old password asks as often as one with the right one.
        var wrong: Set<UInt128> = []
        var logins: Set<Login> = []
        var generation = 0
    }

    /// The limit of remembered entries of each kind.
    fileprivate static let limit = 4096
    /// Separate threads, so that password guessing delays only other password checks.
    static let pool = BlockingPool(threads: threads)
    private static let threads = 2
    /// The limit of waiting checks. Those of clients that have left do not count.
    static let capacity = 128

    private let state = Mutex(State())
    private let work: FairScheduler<Pair, Bool>

    init(on pool: BlockingPool = PasswordChecks.pool) {
        work = FairScheduler(on: pool, threads: Self.threads, waiting: Self.capacity)
    }

    /// The earlier verdict; nil without one, or if the accounts have changed.
    func outcome(of pair: UInt128) -> Bool? {
        state.withLock { $0.outcome(of: pair) }
    }

    /// Forgets verdicts, since the accounts have changed. A running check counts for clients that already wait for it,
    /// but is not remembered.
    func forget() {
        state.withLock { state in
            state.wrong = []
            state.generation += 1
        }
    }

    /// Checks a password on the calling thread.
    func check(_ pair: UInt128, _ isRight: () -> Bool) -> Bool {
        let (known, generation) = state.withLock { ($0.outcome(of: pair), $0.generation) }
        if let known { return known }
        let answer = isRight()
        state.withLock { $0.remember(pair, answer, of: generation) }
        return answer
    }

    /// Checks a password on a thread of the pool. Call it on the client's loop.
    func check(
        _ pair: UInt128, of user: UInt128, for client: WaitingClient, _ isRight: @escaping @Sendable () -> Bool
    ) async -> PasswordVerdict {
        let login = Login(user: user, network: client.network)
        let (known, generation, wasRight, hasLoggedIn) = state.withLock { state in
            (state.outcome(of: pair), state.generation, state.right[pair] != nil, state.logins.contains(login))
        }
        if let known { return PasswordVerdict(known) }
        let outcome = await work.run(
            Pair(code: pair, generation: generation), for: client, rank: wasRight ? 0 : hasLoggedIn ? 1 : 2,
            subject: wasRight ? nil : user
        ) { [self] in
            if let known = state.withLock({ $0.generation == generation ? $0.outcome(of: pair) : nil }) { return known }
            let answer = isRight()
            state.withLock { $0.remember(pair, answer, of: generation) }
            return answer
        }
        switch outcome {
        case .done(let isRight):
            if isRight { state.withLock { $0.remember(login) } }
            return PasswordVerdict(isRight)
        case .refused(let time): return .busy(retryAfter: time)
        case .abandoned: return .abandoned
        }
    }
}

extension PasswordChecks.State {
    fileprivate func outcome(of pair: UInt128) -> Bool? {
        right[pair] == generation ? true : wrong.contains(pair) ? false : nil
    }

    fileprivate mutating func remember(_ pair: UInt128, _ answer: Bool, of former: Int) {
        guard generation == former else { return }
        if answer {
            if right.count >= PasswordChecks.limit { right = right.filter { $0.value == generation } }
            if right.count >= PasswordChecks.limit { right = [:] }
            right[pair] = generation
        } else {
            right[pair] = nil
            if wrong.count >= PasswordChecks.limit { wrong = [] }
            wrong.insert(pair)
        }
    }

    fileprivate mutating func remember(_ login: PasswordChecks.Login) {
        if logins.count >= PasswordChecks.limit { logins = [] }
        logins.insert(login)
    }
}

/// The verdict on a client's password.
public enum PasswordVerdict: Sendable, Equatable {
    case right
    case wrong
    /// Too many checks wait. There may be room after this time.
    case busy(retryAfter: Milliseconds)
    /// The client has left, and the password was not checked.
    case abandoned

    init(_ isRight: Bool) { self = isRight ? .right : .wrong }
}
