import Authentication
import Challenges
import Credentials
import Model
import Synchronization
import TLS
import Telemetry

/// The state that all loops share and that outlives a reload, such as protection spaces and stored credentials.
public final class SharedState: Sendable {
    /// The part about challenges.
    public let challenges: ChallengeState
    /// TLS sessions with origins that may be resumed.
    let sessions = SessionCache<SessionKey>()
    public let tlsPolicyEpoch: TLSPolicyEpoch
    /// The addresses at which the process listens. The code that opens a listener adds it.
    public let ownListeners = LocalListeners()
    /// The figures of the parents of all loops.
    public let parents = ParentBoard()
    /// The recorded uses of weak logins and old TLS.
    public let datedUses = WeakUses()
    /// The last requests, for the dashboard.
    public let recentRequests = RecentRequests()
    private let retirements = Mutex<@Sendable (Retirement) -> Void>({ _ in })
    private let untrusted = Mutex<@Sendable (Origin, PresentedChain) -> Void>({ _, _ in })
    /// The room that copies of bodies share.
    public let spool = ReplaySpool()

    /// - Parameters:
    ///   - spaces: the protection spaces, perhaps with knowledge of other processes.
    ///   - tokens: the tokens, perhaps with knowledge of other processes.
    ///   - audit: gets each change of credentials and rules.
    ///   - report: gets messages for operators, a line at a time.
    public init(
        storage: StoredCredentials, spaces: ProtectionSpaces = ProtectionSpaces(),
        tokens: TokenStore = TokenStore(), audit: AuditTrail = AuditTrail(),
        report: @escaping @Sendable (String) -> Void
    ) {
        tlsPolicyEpoch = TLSPolicyEpoch(stored: storage)
        challenges = ChallengeState(
            storage: storage, spaces: spaces, tokens: tokens, audit: audit, report: report)
        challenges.onRefresh { [weak self] in self?.retire(after: $0) }
        challenges.onException { [weak self] in self?.retireTLSAnswers() }
    }

    /// The disk use of copies of bodies.
    public var replayDisk: ReplayDiskUse { spool.use }

    public var spaces: ProtectionSpaces { challenges.spaces }
    public var storage: StoredCredentials { challenges.storage }
    public var audit: AuditTrail { challenges.audit }
    public var report: @Sendable (String) -> Void { challenges.report }

    /// Applies the changes that a refresh of the configured credentials found.
    public func adopt(_ refresh: ConfiguredCredentials.Refresh) { challenges.adopt(refresh) }

    private func retire(after refresh: ConfiguredCredentials.Refresh) {
        if refresh.changed.contains(where: { $0.identity != nil }) {
            retireTLSAnswers()
        }
        for credential in refresh.changed { retire(.logins(credential.version.name, but: credential.version)) }
    }

    /// Closes connections after a certificate or exception changed, or after one was parked or unparked.
    func retireTLSAnswers() {
        tlsPolicyEpoch.advance()
        retire(.tlsPolicyEpoch)
    }

    /// Sets the observer of servers whose certificate was refused, in place of the previous one.
    public func onUntrusted(_ observer: @escaping @Sendable (Origin, PresentedChain) -> Void) {
        untrusted.withLock { $0 = observer }
    }

    /// Tells the observer of a server whose certificate was refused.
    func noteUntrusted(_ origin: Origin, _ chain: PresentedChain) { untrusted.withLock { $0 }(origin, chain) }

    /// Sets the observer of retirements, in place of the previous one.
    public func onRetirement(_ observer: @escaping @Sendable (Retirement) -> Void) {
        retirements.withLock { $0 = observer }
    }

    public func retire(_ retirement: Retirement) {
        if case .logins = retirement, !ConnectionLogin.areThere { return }
        retirements.withLock { $0 }(retirement)
    }

    /// Follows the changes of stored credentials as long as the process lives.
    public func followStorage() async {
        var count = 0
        for await change in storage.changes() {
            count += 1
            // A whole store may be replaced at once, and the loop has requests to serve meanwhile.
            if count % 64 == 0 { await Task.yield() }
            if [.certificate, .trust].contains(change.space.authenticationMethod.storedKind) { retireTLSAnswers() }
            if let version = storage.version(of: change.user, for: change.space) {
                spaces.accounts.replace(with: version)
                retire(.logins(version.name, but: version))
            } else if change.kind == .removed {
                retire(.logins(change.space.credentialName(of: change.user), but: nil))
            }
        }
    }
}
