import Bytes

#if canImport(Authentication)
@testable import Authentication
#endif

/// The replicas of one store, as the proxy runs them. The store's account is the truth; each replica has its own seat, and a
/// copy of the account as of its last look at the store.
struct Replicas {
    private(set) var account: Account
    private(set) var copies: [Account]
    private(set) var seats: [Account.Seat]
    private var started: UInt64

    init(_ account: Account = Account(), count: Int) {
        self.account = account
        copies = Array(repeating: account, count: count)
        seats = (0..<count).map { Account.Seat(replica: UInt64($0 + 1)) }
        started = UInt64(count)
    }

    var indices: Range<Int> { copies.indices }

    /// A number for a request of that replica.
    mutating func nextID(of replica: Int) -> Int { seats[replica].nextID() }

    /// A request whose version is good by the replica's copy is sent without a look at the store.
    mutating func request(_ request: Account.Request, of replica: Int, at now: WallTime) -> [Account.Decision] {
        if copies.count == 1 { copies[replica] = account }
        let copy = copies[replica]
        if copy.isGood(at: request.server) {
            return [.send(seats[replica].send(request, as: .free, knowing: copy.number), nil)]
        }
        return look(of: replica) { account, seat in account.request(request, by: &seat, at: now) }
    }

    mutating func judge(
        _ answer: Account.SentAnswer, _ verdict: Account.Verdict, of replica: Int, at now: WallTime
    ) -> [Account.Decision] {
        let sample = answer.isProbe ? nil : Page(target: answer.target).sample
        return look(of: replica) { account, seat in account.judge(answer, verdict, sample: sample, by: &seat, at: now) }
    }

    mutating func wake(_ replica: Int, at now: WallTime) -> [Account.Decision] {
        look(of: replica) { account, seat in account.wake(by: &seat, at: now) }
    }

    /// The store tells the replica of a change.
    mutating func follow(_ replica: Int, at now: WallTime) -> [Account.Decision] {
        look(of: replica) { account, seat in account.follow(by: &seat, at: now) }
    }

    /// A request has waited long for a leader at that server.
    mutating func hurry(at server: String, of replica: Int, at now: WallTime) -> [Account.Decision] {
        look(of: replica) { account, seat in account.hurry(at: server, by: &seat, at: now) }
    }

    /// An operator has the version tried again.
    mutating func reset(by replica: Int, at now: WallTime) -> [Account.Decision] {
        look(of: replica) { account, seat in account.reset(by: &seat, at: now) }
    }

    mutating func giveUp(_ id: Int, of replica: Int) -> Bool { seats[replica].remove(id) }

    /// The replica's process ends, and another begins in its place.
    mutating func restart(_ replica: Int) {
        started += 1
        seats[replica] = Account.Seat(replica: started)
        copies[replica] = account
    }

    private mutating func look(
        of replica: Int, _ event: (inout Account, inout Account.Seat) -> [Account.Decision]
    ) -> [Account.Decision] {
        let decisions = event(&account, &seats[replica])
        copies[replica] = account
        return decisions
    }
}
