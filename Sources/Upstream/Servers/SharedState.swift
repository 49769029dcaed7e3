import Authentication
import Challenges
import Credentials
import Synchronization
import TLS
import Telemetry

/// The knowledge that all loops share and that outlives a reload: the protection spaces met, the stored credentials.
public final class SharedState: Sendable {
    /// The part about challenges.
    public let challenges: ChallengeState
    /// TLS sessions with origins that may be resumed.
    let sessions = SessionCache<SessionKey>()
    public let tlsAnswers: TLSAnswers
    /// Where the process listens. Whoever opens a listener adds it.
    public let ownListeners = OwnListeners()
    /// The parents of all loops, in figures.
    public let parents = ParentBoard()
    /// The ways to servers that should be given up.
    public let datedUses = DatedUses()
    private let retirements = Mutex<@Sendable (Retirement) -> Void>({ _ in })
    /// The room that copies of bodies take up.
    public let spool = ReplaySpool()

    /// - Parameters:
    ///   - spaces: what others may have learned as well.
    ///   - tokens: likewise.
    ///   - audit: told of each change of what may answer.
    ///   - report: where operators read of trouble; a line at a time.
    public init(
        storage: any CredentialStorage, spaces: ProtectionSpaces = ProtectionSpaces(),
        tokens: TokenStore = TokenStore(), audit: AuditTrail = AuditTrail(),
        report: @escaping @Sendable (String) -> Void
    ) {
        tlsAnswers = TLSAnswers(stored: storage)
        challenges = ChallengeState(
            storage: storage, spaces: spaces, tokens: tokens, audit: audit, report: report)
        challenges.onRefresh { [weak self] in self?.retire(after: $0) }
        challenges.onException { [weak self] in self?.retireTLSAnswers() }
    }

    /// The room that copies of bodies take up on disk.
    public var replayDisk: ReplayDiskUse { spool.use }

    public var spaces: ProtectionSpaces { challenges.spaces }
    public var storage: any CredentialStorage { challenges.storage }
    public var audit: AuditTrail { challenges.audit }
    public var report: @Sendable (String) -> Void { challenges.report }

    /// Takes note of what a refresh of the configured credentials found.
    public func adopt(_ refresh: ConfiguredCredentials.Refresh) { challenges.adopt(refresh) }

    private func retire(after refresh: ConfiguredCredentials.Refresh) {
        if refresh.changed.contains(where: { $0.identity != nil }) {
            retireTLSAnswers()
        }
        for credential in refresh.changed { retire(.logins(credential.version.name, but: credential.version)) }
    }

    /// A certificate or an exception is another one now, or may be shown where it could not be, or the reverse.
    func retireTLSAnswers() {
        tlsAnswers.advance()
        retire(.tlsAnswers)
    }

    /// From now on tells `observer` which connections have had their time, in place of whoever was told before.
    public func onRetirement(_ observer: @escaping @Sendable (Retirement) -> Void) {
        retirements.withLock { $0 = observer }
    }

    public func retire(_ retirement: Retirement) {
        if case .logins = retirement, !ConnectionLogin.areThere { return }
        retirements.withLock { $0 }(retirement)
    }
}
