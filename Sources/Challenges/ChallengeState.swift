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
    public let questions = OperatorQuestions()
    /// The origins that some client's session has credentials for.
    let sessionOrigins = SessionOrigins()
    let sessionCredentials = SessionCredentials()
    /// The evidence of clients' own answers.
    let evidence = LearningEvidence<SessionClient>()
    /// Where operators read of trouble; a line at a time.
    public let report: @Sendable (String) -> Void
    /// Told of each change of what may answer.
    public let audit: AuditTrail
    private let observer = Mutex<@Sendable (ConfiguredCredentials.Refresh) -> Void>({ _ in })
    private let exceptionObserver = Mutex<@Sendable () -> Void>({})

    /// - Parameters:
    ///   - spaces: what others may have learned as well.
    ///   - tokens: likewise.
    public init(
        storage: any CredentialStorage, spaces: ProtectionSpaces, tokens: TokenStore,
        audit: AuditTrail = AuditTrail(), report: @escaping @Sendable (String) -> Void
    ) {
        self.audit = audit
        questions.onQuestion { report($0.report) }
        self.storage = storage
        self.spaces = spaces
        self.tokens = tokens
        self.report = report
    }

    /// Another number whenever another answer may be found for some target, by the same rules.
    func generation(of policy: ChallengePolicy) -> Int {
        spaces.generation &+ policy.credentials.generation &+ questions.generation
    }

    // MARK: - Kept credentials

    /// Another number whenever `keepsCredentials` may answer otherwise for some origin; never 0.
    var keptGeneration: Int { storage.originGeneration &+ sessionOrigins.generation }

    /// Whether a credential is kept for the origin, in the storage or in a session.
    public func keepsCredentials(for origin: Origin) -> Bool {
        storage.serves(origin) || sessionOrigins.contains(origin)
    }

    /// Stores a credential that was accepted, and that a client has brought. The first of its space becomes the default, which
    /// requests without a credential of their own are answered with.
    public func keep(_ credential: Credential, for space: ProtectionSpace, of client: ClientIdentity) async {
        do throws(CredentialStorageError) {
            if let user = credential.user, let known = storage.credentials(for: space)[user],
                known.password == credential.password
            {
                return
            }
            let isDefault = storage.defaultCredential(for: space) == nil
            if isDefault {
                try await storage.setDefault(credential, for: space)
            } else {
                try await storage.set(credential, for: space)
            }
            noteLearned(credential, for: space, of: client, asDefault: isDefault)
        } catch { report("\(credential) could not be kept: \(error)") }
    }

    func noteLearned(
        _ credential: Credential, for space: ProtectionSpace, of client: ClientIdentity, asDefault: Bool = false
    ) {
        let name = space.credentialName(of: credential.storedName(for: space) ?? credential.version.name)
        var event = AuditEvent(.credentialLearned, by: .init(client), space, credential: name)
        event.persistence = credential.persistence
        event.isDefault = asDefault
        audit.note(event)
    }

    /// Gives the parked versions that fit another chance, for somebody.
    public func retry(
        for actor: AuditEvent.Actor, where fits: (ParkedCredentials.Entry) -> Bool
    ) -> [ParkedCredentials.Entry] {
        let lifted = spaces.parked.retry(where: fits)
        for entry in lifted {
            audit.note(AuditEvent(.credentialLifted, by: actor, entry.space, credential: entry.version.name))
        }
        return lifted
    }

    /// A version that was parked was accepted.
    public func noteLifted(_ version: CredentialVersion, for space: ProtectionSpace, by client: ClientIdentity) {
        audit.note(AuditEvent(.credentialLifted, by: .init(client), space, credential: version.name))
    }

    /// A server has definitely refused a credential: from now on nobody sends this version there, until its value changes.
    ///
    /// - Parameter now: milliseconds since 1970.
    public func refuse(
        _ refusal: DefiniteRefusal, of client: ClientIdentity, countedBy metrics: Metrics, at now: Int
    ) {
        let (credential, space) = (refusal.credential, refusal.space)
        let term: ParkedCredentials.Term?
        if refusal.isUnasked, let target = refusal.target {
            term = spaces.refuseUnasked(
                credential.version, for: space, at: target.readable, retry: refusal.retry, now: now)
        } else if let target = refusal.target {
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
        note(refusal, of: client, parkedFor: term)
        sessionCredentials.remove(credential.version, for: space, of: client)
        metrics.add(to: .credentialsRefused)
    }

    /// Tells of a refusal that changes anything.
    private func note(_ refusal: DefiniteRefusal, of client: ClientIdentity, parkedFor term: ParkedCredentials.Term?) {
        let (version, space) = (refusal.credential.version, refusal.space)
        guard term.map({ $0.retries == 0 }) ?? spaces.isNewDoubt(about: version, in: space) else { return }
        let name: AuditEvent.Name = term == nil ? .credentialRefused : .credentialParked
        var event = AuditEvent(name, by: .init(client), space, credential: version.name)
        event.nextTry = term?.nextTry
        audit.note(event)
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
        for version in refresh.setAgain {
            for entry in spaces.parked.retry(where: { $0.version == version }) {
                audit.note(AuditEvent(.credentialLifted, by: .file, entry.space, credential: version.name))
            }
        }
        for name in refresh.replaced { audit.note(AuditEvent(.credentialChanged, by: .file, credential: name)) }
        observer.withLock { $0 }(refresh)
    }

    /// From now on tells `observer` that an operator has made an exception for a certificate, before requests go on by it.
    public func onException(_ observer: @escaping @Sendable () -> Void) {
        exceptionObserver.withLock { $0 = observer }
    }

    func noteException() { exceptionObserver.withLock { $0 }() }

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
    /// Whether a rule sends the credential with every request, and nobody has asked for it.
    let isUnasked: Bool

    public init(
        of credential: Credential, in space: ProtectionSpace, at target: ByteBuffer? = nil, retry: [Int],
        because reason: String? = nil, isUnasked: Bool = false
    ) {
        self.isUnasked = isUnasked
        self.credential = credential
        self.space = space
        self.target = target
        self.retry = retry
        self.reason = reason
    }
}

extension AuditEvent.Actor {
    init(_ client: ClientIdentity) { self = .client(address: "\(client.address.unmapped)", user: client.user) }
}
