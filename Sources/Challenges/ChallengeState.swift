import Authentication
import Bytes
import Credentials
import IO
import Rules
import Synchronization
import Telemetry

/// The knowledge of challenges that all loops share and that outlives a reload: the spaces met, the credentials kept, the
/// tokens fetched.
public final class ChallengeState: Sendable {
    public let spaces: ProtectionSpaces
    public let storage: any CredentialStorage
    /// The tokens that were fetched.
    public let tokens: TokenStore
    public let journal = ChallengeJournal()
    /// The origins that some client's session has credentials for.
    let sessionOrigins = SessionOrigins()
    let sessionCredentials = SessionCredentials()
    /// The evidence of clients' own answers.
    let evidence = LearningEvidence<SessionClient>()
    /// Where operators read of trouble; a line at a time.
    public let report: @Sendable (String) -> Void
    private let observer = Mutex<@Sendable (ConfiguredCredentials.Refresh) -> Void>({ _ in })

    /// - Parameters:
    ///   - spaces: what others may have learned as well.
    ///   - tokens: likewise.
    public init(
        storage: any CredentialStorage, spaces: ProtectionSpaces, tokens: TokenStore,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.storage = storage
        self.spaces = spaces
        self.tokens = tokens
        self.report = report
    }

    /// Another number whenever another answer may be found for some target, by the same rules.
    func generation(of policy: ChallengePolicy) -> Int { spaces.generation &+ policy.credentials.generation }

    // MARK: - Kept credentials

    /// Another number whenever `keepsCredentials` may answer otherwise for some origin; never 0.
    var keptGeneration: Int { storage.originGeneration &+ sessionOrigins.generation }

    /// Whether a credential is kept for the origin, in the storage or in a session.
    public func keepsCredentials(for origin: Origin) -> Bool {
        storage.serves(origin) || sessionOrigins.contains(origin)
    }

    /// Stores a credential that was accepted. The first of its space becomes the default, which requests without a
    /// credential of their own are answered with.
    public func keep(_ credential: Credential, for space: ProtectionSpace) async {
        do throws(CredentialStorageError) {
            if let user = credential.user, let known = storage.credentials(for: space)[user],
                known.password == credential.password
            {
                return
            }
            if storage.defaultCredential(for: space) == nil {
                try await storage.setDefault(credential, for: space)
            } else {
                try await storage.set(credential, for: space)
            }
        } catch { report("\(credential) could not be kept: \(error)") }
    }

    /// A server has definitely refused a credential: from now on nobody sends this version there, until its value changes.
    ///
    /// - Parameter now: milliseconds since 1970.
    public func refuse(
        _ refusal: DefiniteRefusal, of client: ClientIdentity, countedBy metrics: Metrics, at now: Int
    ) {
        let (credential, space) = (refusal.credential, refusal.space)
        let term: ParkedCredentials.Term?
        if let target = refusal.target {
            term = spaces.refuse(
                credential.version, for: space, at: target.readable, retry: refusal.retry, now: now)
        } else {
            term = spaces.refuse(credential.version, for: space, retry: refusal.retry, now: now)
        }
        if let term, term.retries == 0 {
            let end = term.nextTry.map { "for \(max(1, ($0 - now) / 1000)) seconds, and then tried by one request" }
            report(
                "\(credential) \(refusal.reason ?? "was refused by \(space.host):\(space.port)") and is not sent again "
                    + (end ?? "until its value changes"))
        }
        sessionCredentials.remove(credential.version, for: space, of: client)
        metrics.add(to: .credentialsRefused)
    }

    // MARK: - Configured credentials

    /// Reads the configured credentials again, off the loops. A value that changed is a new version, and what was
    /// parked of the old one is forgotten.
    public func refresh(_ credentials: ConfiguredCredentials) async {
        adopt(await BlockingPool.shared.run { credentials.refresh() })
    }

    /// Takes note of what a refresh found, and tells the observer.
    public func adopt(_ refresh: ConfiguredCredentials.Refresh) {
        for credential in refresh.changed { spaces.replace(with: credential.version) }
        observer.withLock { $0 }(refresh)
    }

    /// From now on tells `observer` what each refresh found, in place of the one before.
    public func onRefresh(_ observer: @escaping @Sendable (ConfiguredCredentials.Refresh) -> Void) {
        self.observer.withLock { $0 = observer }
    }
}

/// A server's verdict on a credential.
public struct DefiniteRefusal {
    let credential: Credential
    let space: ProtectionSpace
    /// Of the request, where the server may have refused that.
    let target: ByteBuffer?
    /// How long a version that was accepted before is parked, as `ParkedCredentials.park`.
    let retry: [Int]
    /// The predicate of the operator's line; nil: that the space's host refused it.
    let reason: String?

    public init(
        of credential: Credential, in space: ProtectionSpace, at target: ByteBuffer? = nil, retry: [Int],
        because reason: String? = nil
    ) {
        self.credential = credential
        self.space = space
        self.target = target
        self.retry = retry
        self.reason = reason
    }
}
