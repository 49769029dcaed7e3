import Authentication
import Credentials
import IO
import Synchronization
import TLS

/// What all loops know together and what outlives a reload: the protection spaces met, and the stored credentials.
public final class SharedState: Sendable {
    public let spaces: ProtectionSpaces
    /// The tokens that were fetched.
    let tokens = TokenStore()
    /// TLS sessions with origins that may be resumed.
    let sessions = SessionCache<SessionKey>()
    private let identityChanges = Atomic(1)
    public let storage: any CredentialStorage
    /// The origins that some client's session has credentials for.
    let sessionOrigins = SessionOrigins()
    let sessionCredentials = SessionCredentials()
    let sightings = AnswerSightings<SessionClient>()
    /// Where operators read of trouble; a line at a time.
    let report: @Sendable (String) -> Void

    /// - Parameters:
    ///   - parked: refusals that others may know of as well.
    public init(
        storage: any CredentialStorage, parked: ParkedCredentials = ParkedCredentials(),
        report: @escaping @Sendable (String) -> Void
    ) {
        self.storage = storage
        spaces = ProtectionSpaces(parked: parked)
        self.report = report
    }

    /// Reads the configured credentials again, off the loops. A value that changed is a new version, and what was
    /// parked of the old one is forgotten.
    func refresh(_ credentials: ConfiguredCredentials) async {
        let refresh = await BlockingPool.shared.run { credentials.refresh() }
        adopt(refresh)
    }

    /// Another number whenever a certificate that could be shown has changed; never 0.
    var identityGeneration: Int { identityChanges.load(ordering: .relaxed) }

    /// Takes note of what a refresh found.
    public func adopt(_ refresh: ConfiguredCredentials.Refresh) {
        if refresh.changed.contains(where: { $0.identity != nil }) { identityChanges.add(1, ordering: .relaxed) }
        for credential in refresh.changed { spaces.replace(with: credential.version) }
    }
}
