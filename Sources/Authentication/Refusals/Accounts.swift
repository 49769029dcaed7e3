import Bytes
import Synchronization

/// The accounts of all versions of credentials that this process sends.
public final class Accounts: Sendable {
    private let context: Context
    private let capacity: Int
    private let state = Mutex(State())

    fileprivate struct State {
        var ledgers: [CredentialVersion: Account.Ledger] = [:]
        /// The accounts of credentials that clients sent, the oldest first.
        var brought: [Account.Ledger] = []
        /// The accounts of the other credentials.
        var own: [Account.Ledger] = []
        /// The latest versions that were replaced.
        var replaced: [CredentialVersion] = []
    }

    /// - Parameters:
    ///   - capacity: the limit of accounts, beyond which the oldest is forgotten. Credentials that clients send have
    ///     limits of their own.
    ///   - journal: carries out changes on accounts that several processes share.
    public init(capacity: Int = 4096, journal: (any Journal)? = nil) {
        self.capacity = max(1, capacity)
        context = Context(journal: journal)
    }

    /// A number that changes whenever some version may or may not be sent any longer.
    public var generation: Int { context.generation }

    /// The evidence of a server about a version.
    ///
    /// - Parameter owner: the client that sent the credential; nil: it is from the rule file or the store.
    public func evidence(of credential: Credential, at server: String, broughtBy owner: String? = nil) -> Evidence {
        let ledger = ledger(of: credential.version, broughtBy: owner, weight: credential.byteCount)
        ledger.take(credential)
        return ledger.evidence(at: server)
    }

    private func ledger(
        of version: CredentialVersion, broughtBy owner: String?, weight: @autoclosure () -> Int = 0
    ) -> Account.Ledger {
        let (ledger, forgotten) = state.withLock { state -> (Account.Ledger, [Account.Ledger]) in
            if let known = state.ledgers[version] {
                return (known, owner == nil && known.owner != nil ? state.adopt(known, capacity: capacity) : [])
            }
            let ledger = Account.Ledger(version, Account(), owner: owner, weight: weight(), in: context)
            return (ledger, state.insert(ledger, capacity: capacity))
        }
        for ledger in forgotten { ledger.dissolve(isReplaced: false) }
        return ledger
    }

    private func known(_ version: CredentialVersion) -> Account.Ledger? { state.withLock { $0.ledgers[version] } }

    // MARK: - Values

    /// Replaces the value of a credential. The accounts of former values are forgotten; their knowledge helps the new
    /// one.
    public func replace(with version: CredentialVersion) {
        take(version, renewal: false)
        context.journal?.replaced(by: version, isRenewal: false)
    }

    /// Replaces one of several values of a credential, which are for different servers.
    public func replace(_ former: CredentialVersion, with version: CredentialVersion) {
        take(version, after: former, renewal: false)
    }

    /// Replaces a token by an equivalent one of the same grant. Servers that accepted the former token count as
    /// accepting the new one. The grant keeps its account.
    public func renew(with version: CredentialVersion) {
        take(version, renewal: true)
        context.journal?.replaced(by: version, isRenewal: true)
    }

    /// Replaces one of several tokens of a grant by an equivalent one. The other tokens keep their accounts.
    public func renew(_ former: CredentialVersion, with version: CredentialVersion) {
        take(version, after: former, renewal: true)
    }

    /// - Parameter former: the only version that is replaced; nil: all versions of the credential.
    private func take(_ version: CredentialVersion, after former: CredentialVersion? = nil, renewal: Bool) {
        let former = state.withLock { state -> [Account.Ledger] in
            let former = (state.own + state.brought).filter {
                $0.version.key == version.key && $0.version != version && !(renewal && $0.version.isGrant)
                    && (former == nil || $0.version == former)
            }
            state.replaced.removeAll { $0 == version }
            if former.isEmpty { return [] }
            for ledger in former { state.remove(ledger) }
            state.replaced = (state.replaced + former.map(\.version)).suffix(State.replacedLimit)
            guard state.ledgers[version] == nil, let last = former.last(where: { $0.account.isProven }) else {
                return former
            }
            let account = renewal ? Account(renewing: last.account) : Account(after: last.account)
            _ = state.insert(Account.Ledger(version, account, owner: nil, in: context), capacity: capacity)
            return former
        }
        if former.isEmpty { return }
        for ledger in former { ledger.dissolve(isReplaced: true) }
        context.noteChange()
    }

    /// Clears the doubts about versions at once, everywhere: the account was unlocked, or the value was written again.
    ///
    /// - Returns: the versions that were doubted.
    @discardableResult
    public func reset(at now: WallTime, where fits: (CredentialVersion, Account) -> Bool) -> [CredentialVersion] {
        let ledgers = state.withLock { $0.own + $0.brought }.filter {
            let account = $0.account
            return account.isTroubled && fits($0.version, account)
        }
        for ledger in ledgers { ledger.reset(at: now) }
        return ledgers.map(\.version)
    }

    // MARK: - Queries

    /// The end of a hold on the version, or `distantFuture` without a set time; nil: a request
    /// may use it.
    ///
    /// - Parameter target: as for `Evidence.hash`; nil: a new target.
    public func hold(
        on version: CredentialVersion, at server: String, for target: UInt64? = nil, now: WallTime
    ) -> WallTime? {
        guard context.troubledCount > 0 else { return nil }
        return known(version)?.account.hold(at: server, for: target, now: now)
    }

    /// Whether a version was refused, so that another credential is preferable: a request could not use it, or no
    /// server has ever accepted it.
    public func isRefused(_ version: CredentialVersion, at server: String, now: WallTime) -> Bool {
        guard context.troubledCount > 0, let account = known(version)?.account else { return false }
        return !account.isProven && account.unprovenRefusals > 0 || account.hold(at: server, now: now) != nil
    }

    /// The credential with the version's value; nil: this process has not sent it.
    public func credential(of version: CredentialVersion) -> Credential? { known(version)?.credential }

    /// Whether a server has accepted the version.
    public func hasAccepted(_ version: CredentialVersion, at server: String) -> Bool {
        known(version)?.account.record(of: server)?.isKnown ?? false
    }

    /// The versions that are doubted at a server, by name.
    public func standings(
        at server: String, now: WallTime
    ) -> [(name: String, standing: Account.Standing, reason: String?)] {
        guard context.troubledCount > 0 else { return [] }
        return all.compactMap { shared in
            let (account, record) = (shared.account, shared.account.record(of: server))
            guard account.isTroubled, record != nil || !account.isProven else { return nil }
            let standing = account.standing(at: server, now: now)
            return standing.isTroubled ? (shared.version.name, standing, record?.reason) : nil
        }
    }

    /// The names of the versions that a request for the target could not use, with the ends as for `hold`.
    public func refused(at server: String, for target: UInt64, now: WallTime) -> [(name: String, end: WallTime)] {
        guard context.troubledCount > 0 else { return [] }
        return all.compactMap { shared in
            shared.account.hold(at: server, for: target, now: now).map { (shared.version.name, $0) }
        }
    }

    /// Notes that a server has accepted the version in an earlier process, or in another one.
    func noteAccepted(_ version: CredentialVersion, at server: String) {
        ledger(of: version, broughtBy: nil).learn(of: server)
    }

    /// Notes that a server has accepted a ticket of the version in an earlier process, or in another one.
    func noteTicket(of version: CredentialVersion, at server: String) {
        ledger(of: version, broughtBy: nil).noteTicket(at: server, now: nil)
    }

    /// All accounts, in the order of their creation.
    public var all: [Account.Shared] { state.withLock { $0.own + $0.brought }.map(\.shared) }

    /// The number of doubted versions.
    public var troubledCount: Int { context.troubledCount }

    /// Notes when versions were sent and accepted. Call it each second.
    public func noteUse(at now: WallTime) {
        for ledger in state.withLock({ $0.own + $0.brought }) { ledger.noteUse(at: now) }
    }

    // MARK: - Work

    /// Sets the function that sends the proxy's own requests to servers.
    public func onProbe(_ prober: @escaping @Sendable (Evidence.Probe) -> Void) {
        context.prober.withLock { $0 = prober }
    }

    /// Sends a probe. The verdict is the one on its attempt.
    public func ask(_ probe: Evidence.Probe) { context.ask(probe) }

    /// Sets the function that gets the time of the next `wake`.
    public func onWake(_ waker: @escaping @Sendable (WallTime) -> Void) { context.waker.withLock { $0 = waker } }

    /// Sets the observer of each change of a state.
    public func onChange(_ observer: @escaping @Sendable ([Account.Change]) -> Void) {
        context.observer.withLock { $0 = observer }
    }

    /// The time of the next `wake`; nil: not before another event.
    public func nextWake(after now: WallTime) -> WallTime? {
        state.withLock { $0.own + $0.brought }.compactMap { $0.nextWake(after: now) }.min()
    }

    /// Makes the tries that are due. Call it at the time of `nextWake`.
    public func wake(at now: WallTime) {
        for ledger in state.withLock({ $0.own + $0.brought }) {
            if ledger.nextWake(after: now) != nil { ledger.wake(at: now) }
        }
    }

    /// Sends the events that the store missed, now that it is available.
    public func catchUp(at now: WallTime) {
        for ledger in state.withLock({ $0.own + $0.brought }) { ledger.catchUp(at: now) }
    }

    /// Adopts the accounts of a store that other processes write too.
    ///
    /// - Parameter isAnother: whether these are all accounts of another store, which numbers its changes from the
    ///   start.
    public func adopt(_ shared: [Account.Shared], ofAnotherStore isAnother: Bool = false, at now: WallTime) {
        if isAnother { for ledger in state.withLock({ $0.own + $0.brought }) { ledger.forgetStore() } }
        let replaced = state.withLock { $0.replaced }
        // The store may still have an account that this process has already replaced.
        for shared in shared where !replaced.contains(shared.version) {
            ledger(of: shared.version, broughtBy: shared.owner).adopt(shared, at: now)
        }
    }
}

extension Accounts.State {
    /// - Returns: the accounts that were removed to make room.
    mutating func insert(_ ledger: Account.Ledger, capacity: Int) -> [Account.Ledger] {
        ledgers[ledger.version] = ledger
        var forgotten: [Account.Ledger] = []
        if let owner = ledger.owner {
            let ofOwner = brought.filter { $0.owner?.hasSameBytes(as: owner) == true }
            forgotten = Self.displaced(by: ledger, among: ofOwner, Self.ownerLimit, bytes: Self.ownerByteLimit)
            for ledger in forgotten { remove(ledger) }
            let others = Self.displaced(by: ledger, among: brought, Self.broughtLimit, bytes: Self.broughtByteLimit)
            for ledger in others { remove(ledger) }
            forgotten += others
            brought.append(ledger)
        } else {
            if own.count >= capacity, let oldest = own.first {
                remove(oldest)
                forgotten = [oldest]
            }
            own.append(ledger)
        }
        return forgotten
    }

    /// The oldest ledgers that must be removed to make room for another one.
    private static func displaced(
        by ledger: Account.Ledger, among ledgers: [Account.Ledger], _ limit: Int, bytes byteLimit: Int
    ) -> [Account.Ledger] {
        var bytes = ledgers.reduce(ledger.weight) { $0 + $1.weight }
        var displaced: [Account.Ledger] = []
        for oldest in ledgers {
            if ledgers.count - displaced.count < limit, bytes <= byteLimit { break }
            displaced.append(oldest)
            bytes -= oldest.weight
        }
        return displaced
    }

    /// Notes that the credential is also in the rule file or the store. From now on credentials of clients cannot
    /// displace its account.
    ///
    /// - Returns: the accounts that were removed to make room.
    mutating func adopt(_ ledger: Account.Ledger, capacity: Int) -> [Account.Ledger] {
        remove(ledger)
        ledger.disown()
        return insert(ledger, capacity: capacity)
    }

    mutating func remove(_ ledger: Account.Ledger) {
        if ledgers[ledger.version] === ledger { ledgers[ledger.version] = nil }
        own.removeAll { $0 === ledger }
        brought.removeAll { $0 === ledger }
    }

    /// The limit of credentials from one client.
    private static let ownerLimit = 32
    /// The limit of their names and values in bytes.
    private static let ownerByteLimit = 128 << 10
    /// The limits for credentials of all clients.
    private static let broughtLimit = 1024
    private static let broughtByteLimit = 4 << 20
    fileprivate static let replacedLimit = 256
}
