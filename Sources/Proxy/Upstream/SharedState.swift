import Authentication
import Credentials
import IO
import Synchronization
import TLS
import Telemetry

/// What all loops know together and what outlives a reload: the protection spaces met, and the stored credentials.
public final class SharedState: Sendable {
    public let spaces: ProtectionSpaces
    /// The tokens that were fetched.
    let tokens: TokenStore
    /// TLS sessions with origins that may be resumed.
    let sessions = SessionCache<SessionKey>()
    /// The state of the certificates that could be shown.
    let identities = IdentityGeneration()
    /// Where the process listens. Whoever opens a listener adds it.
    public let ownListeners = OwnListeners()
    private let retirements = Mutex<@Sendable (Retirement) -> Void>({ _ in })
    public let storage: any CredentialStorage
    /// The origins that some client's session has credentials for.
    let sessionOrigins = SessionOrigins()
    let sessionCredentials = SessionCredentials()
    let sightings = AnswerSightings<SessionClient>()
    /// What copies of bodies take up.
    let spool = ReplaySpool()
    /// Where operators read of trouble; a line at a time.
    let report: @Sendable (String) -> Void

    /// - Parameters:
    ///   - spaces: what others may have learned as well.
    ///   - tokens: likewise.
    public init(
        storage: any CredentialStorage, spaces: ProtectionSpaces = ProtectionSpaces(),
        tokens: TokenStore = TokenStore(),
        report: @escaping @Sendable (String) -> Void
    ) {
        self.storage = storage
        self.spaces = spaces
        self.tokens = tokens
        self.report = report
    }

    /// What copies of bodies take up on disk.
    public var replayDisk: ReplayDiskUse { spool.use }

    /// Reads the configured credentials again, off the loops. A value that changed is a new version, and what was
    /// parked of the old one is forgotten.
    func refresh(_ credentials: ConfiguredCredentials) async {
        let refresh = await BlockingPool.shared.run { credentials.refresh() }
        adopt(refresh)
    }

    /// Takes note of what a refresh found.
    public func adopt(_ refresh: ConfiguredCredentials.Refresh) {
        if refresh.changed.contains(where: { $0.identity != nil }) {
            identities.advance()
            retire(.identities)
        }
        for credential in refresh.changed {
            spaces.replace(with: credential.version)
            retire(.logins(credential.version.name, but: credential.version))
        }
    }

    /// From now on tells `observer` which connections have had their time, in place of whoever was told before.
    func onRetirement(_ observer: @escaping @Sendable (Retirement) -> Void) {
        retirements.withLock { $0 = observer }
    }

    func retire(_ retirement: Retirement) {
        if case .logins = retirement, !ConnectionLogin.areThere { return }
        retirements.withLock { $0 }(retirement)
    }
}
