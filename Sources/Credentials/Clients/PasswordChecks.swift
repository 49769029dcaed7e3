import Bytes
import IO
import Synchronization

/// The results of password checks, by the keyed codes of user and password: a hash takes tens of
/// milliseconds on purpose, and is computed once. Clients that bring the same pair at the same time wait for one check.
///
/// Anybody may ask for checks faster than they are done. So only so many wait, the clients' addresses have their turns, at
/// most one check of a user and one of an address is under way, and that of a client that leaves is given up. Before all
/// others come pairs that were right before the accounts changed, which nobody brings but who knows the password; then
/// users who have logged in from the same address.
final class PasswordChecks: Sendable {
    /// A user and a password, as long as the accounts are what they were.
    private struct Pair: Hashable {
        let code: UInt128
        let generation: Int
    }

    fileprivate struct Login: Hashable {
        let user: UInt128
        let network: IPAddress
    }

    fileprivate struct State {
        /// Right pairs, with the generation of the accounts in which they were found to be that.
        var right: [UInt128: Int] = [:]
        /// A program with an old password asks as often as one with the right one.
        var wrong: Set<UInt128> = []
        var logins: Set<Login> = []
        var generation = 0
    }

    /// Entries of each kind that are remembered.
    fileprivate static let limit = 4096
    /// Threads of their own, so that whoever tries passwords keeps nothing waiting but other passwords.
    static let pool = BlockingPool(threads: threads)
    private static let threads = 2
    /// Checks that wait at most. Those of clients that have left do not.
    static let capacity = 128

    private let state = Mutex(State())
    private let work: FairWork<Pair, Bool>

    init(on pool: BlockingPool = PasswordChecks.pool) {
        work = FairWork(on: pool, threads: Self.threads, waiting: Self.capacity)
    }

    /// The earlier verdict; nil without one, or if it was about other accounts.
    func outcome(of pair: UInt128) -> Bool? {
        state.withLock { $0.outcome(of: pair) }
    }

    /// The accounts have changed. A check under way counts for those who wait for it already, and is not remembered.
    func forget() {
        state.withLock { state in
            state.wrong = []
            state.generation += 1
        }
    }

    /// Checks on the calling thread.
    func check(_ pair: UInt128, _ isRight: () -> Bool) -> Bool {
        let (known, generation) = state.withLock { ($0.outcome(of: pair), $0.generation) }
        if let known { return known }
        let answer = isRight()
        state.withLock { $0.remember(pair, answer, of: generation) }
        return answer
    }

    /// Checks on a thread of the pool. To be called on the client's loop.
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
        case .refused(let seconds): return .busy(retryAfter: seconds)
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
    /// Too many checks wait. There is a prospect of room in so many seconds.
    case busy(retryAfter: Int)
    /// The client has left, and nothing was found out.
    case abandoned

    init(_ isRight: Bool) { self = isRight ? .right : .wrong }
}
