import Authentication
import Bytes
import Credentials
import IO
import Model
import Synchronization
import Telemetry

/// The knowledge about challenges that all loops share and that outlives a reload: known spaces, stored credentials,
/// fetched tokens.
public final class ChallengeState: Sendable {
    public let spaces: ProtectionSpaces
    public let storage: StoredCredentials
    /// The tokens that were fetched.
    public let tokens: TokenStore
    /// The metadata of the issuers of tokens.
    let issuers = MetadataStore<IssuerMetadata>()
    /// The metadata of servers that want tokens, by the first place where it is looked for; nil if a server has none.
    let resources = MetadataStore<ResourceMetadata?>()
    /// The tokens that servers have announced.
    let announced = AnnouncedTokens()
    /// The tokens that registries have asked for.
    let registries = RegistryTokens()
    public let journal = ChallengeJournal()
    public let questions = OperatorQuestions()
    /// The origins for which a client's session has credentials.
    let sessionOrigins = SessionCredentials.Origins()
    let sessionCredentials = SessionCredentials()
    /// The evidence from clients' own answers.
    let evidence = LearningEvidence<SessionClient>()
    /// Reports problems to operators, a line at a time.
    public let report: @Sendable (String) -> Void
    /// Records each change of credentials and answers.
    public let audit: AuditTrail
    private let lateCredentials = Mutex<Set<LateCredential>>([])
    private let observer = Mutex<@Sendable (ConfiguredCredentials.Refresh) -> Void>({ _ in })
    private let retryObserver = Mutex<@Sendable ((CredentialVersion) -> Bool) -> Void>({ _ in })
    private let exceptionObserver = Mutex<@Sendable () -> Void>({})
    private let remedy = Mutex<@Sendable (CredentialVersion) -> CredentialRemedy>({ CredentialRemedy(of: $0.name) })

    /// - Parameters:
    ///   - spaces: the spaces, which other owners may share.
    ///   - tokens: the tokens, which other owners may share.
    public init(
        storage: StoredCredentials, spaces: ProtectionSpaces, tokens: TokenStore,
        audit: AuditTrail = AuditTrail(), report: @escaping @Sendable (String) -> Void
    ) {
        self.audit = audit
        questions.onQuestion { report($0.report) }
        self.storage = storage
        self.spaces = spaces
        self.tokens = tokens
        self.report = report
        spaces.accounts.onChange { [weak self] changes in
            for change in changes { self?.note(change) }
        }
    }

    /// A number that changes when another answer may be found for a target under the same rules.
    func generation(of policy: ChallengePolicy) -> Int {
        spaces.generation &+ policy.credentials.generation &+ questions.generation &+ tokens.generation
    }

    // MARK: - Kept credentials

    /// The number of the set of origins with kept credentials. It changes with that set, and is never 0.
    var keptGeneration: Int { storage.originGeneration &+ sessionOrigins.generation }

    /// Whether a credential for the origin is in the store or in a session.
    public func keepsCredentials(for origin: Origin) -> Bool {
        storage.mayAnswer(origin) || sessionOrigins.contains(origin)
    }

    /// Stores an accepted credential that a client has brought. The first of its space becomes the default, which
    /// answers requests without their own credential. While the store is unavailable it is tried again and again: a known
    /// answer meets no challenge, so the credential would not come here a second time.
    public func keep(_ credential: Credential, for space: ProtectionSpace, of client: ClientIdentity) async {
        guard let cause = await store(credential, for: space, of: client) else { return }
        let late = LateCredential(space: space, version: credential.version)
        if lateCredentials.withLock({ $0.contains(late) }) { return }
        guard case .unavailable = cause,
            lateCredentials.withLock({ $0.count < Self.lateLimit && $0.insert(late).inserted })
        else { return report("cannot store \(credential): \(cause)") }
        report("cannot store \(credential) yet: \(cause)")
        await Task { [self] in
            defer { lateCredentials.withLock { _ = $0.remove(late) } }
            for _ in 0..<Self.lateAttempts {
                guard (try? await Task.sleep(for: Self.latePause)) != nil else { return }
                guard let cause = await store(credential, for: space, of: client) else { return }
                guard case .unavailable = cause else { return report("cannot store \(credential): \(cause)") }
            }
            report("cannot store \(credential): the credential store was unavailable for too long")
        }.value
    }

    /// - Returns: the reason why it is not stored; nil if it is.
    private func store(
        _ credential: Credential, for space: ProtectionSpace, of client: ClientIdentity
    ) async -> StoredCredentials.Failure? {
        do throws(StoredCredentials.Failure) {
            if let user = credential.user, let known = storage.credentials(for: space)[ExactText(user)],
                known.password == credential.password
            {
                return nil
            }
            let isDefault = storage.defaultCredential(for: space) == nil
            if isDefault {
                try await storage.setDefault(credential, for: space)
            } else {
                try await storage.set(credential, for: space)
            }
            noteLearned(credential, for: space, of: client, asDefault: isDefault)
            return nil
        } catch { return error }
    }

    /// A credential that waits for the store.
    private struct LateCredential: Hashable {
        let space: ProtectionSpace
        let version: CredentialVersion
    }

    /// The limit of credentials that wait for the store. A request's head limits the size of each.
    private static let lateLimit = 32
    private static let latePause = Duration.milliseconds(250)
    /// The number of attempts in 10 minutes.
    private static let lateAttempts = 2400

    func noteLearned(
        _ credential: Credential, for space: ProtectionSpace, of client: ClientIdentity, asDefault: Bool = false
    ) {
        let name = space.credentialName(of: credential.storedName(for: space) ?? credential.version.name)
        var event = AuditEvent(.credentialLearned, by: .init(client), space, credential: name)
        event.persistence = credential.persistence
        event.isDefault = asDefault
        audit.note(event)
    }

    /// Gives doubted versions another chance, in all processes that share the store.
    ///
    /// - Returns: the names of the credentials.
    @discardableResult
    public func retry(
        for actor: AuditEvent.Actor, at now: WallTime, where fits: (CredentialVersion, Account) -> Bool
    ) -> [String] {
        let versions = spaces.accounts.reset(at: now, where: fits)
        for version in versions {
            audit.note(AuditEvent(.credentialLifted, by: actor, credential: version.name))
            spaces.accounts.credential(of: version)?.principal?.forgetRefusal()
        }
        if !versions.isEmpty { retryEndpoints(where: Set(versions).contains) }
        return versions.map(\.name)
    }

    /// Gives every version another chance that a server, a KDC or a token endpoint has refused.
    ///
    /// - Returns: the names of those credentials.
    public func retryAll(for actor: AuditEvent.Actor, at now: WallTime) -> Set<String> {
        retryEndpoints { _ in true }
        return Set(retry(for: actor, at: now) { _, _ in true })
    }

    /// Has KDCs and token endpoints asked again about the matching configured credentials.
    private func retryEndpoints(where fits: (CredentialVersion) -> Bool) {
        retryObserver.withLock { $0 }(fits)
        tokens.retry(where: fits)
        issuers.retry()
        resources.retry()
    }

    /// Records that a server has definitely refused a credential.
    public func refuse(
        _ credential: Credential, in space: ProtectionSpace, of client: ClientIdentity, countedBy metrics: Metrics
    ) {
        sessionCredentials.remove(credential.version, for: space, of: client)
        metrics.add(to: .credentialsRefused)
    }

    /// Sets `remedy`, which says how a version can be sent again at once.
    public func onRemedy(_ remedy: @escaping @Sendable (CredentialVersion) -> CredentialRemedy) {
        self.remedy.withLock { $0 = remedy }
    }

    /// Records a change in the doubts about a version.
    private func note(_ change: Account.Change) {
        // Connections show the certificate that they began with.
        if change.isIdentity { noteException() }
        guard change.isOurs else { return }
        let name: AuditEvent.Name =
            switch change.kind {
            case .refused: .credentialRefused
            case .onHold: .credentialParked
            case .lifted: .credentialLifted
            }
        let origin = change.server.flatMap(Origin.init(serverName:))
        var event = AuditEvent(
            name, by: change.client.map { .init($0) } ?? .proxy,
            origin.map {
                ProtectionSpace(
                    origin: $0, realm: nil,
                    authenticationMethod: change.isIdentity ? .clientCertificate : .default)
            }, credential: change.version.name)
        event.server = origin == nil ? change.server : nil
        if name != .credentialLifted {
            let standing = change.standing
            event.since = standing.since
            switch standing.nextTry {
            case .time(let time), .otherTarget(let time), .otherServer(let time): event.nextTry = time
            case .request, .verdict, .newValue: break
            }
            event.details = change.sentence(remedy.withLock { $0 }(change.version))
        }
        audit.note(event)
        if let details = event.details, change.isReported { report("credential \(change.version.name) \(details)") }
    }

    // MARK: - Configured credentials

    /// Reads the configured credentials again, off the loops. A value that changed is a new version, and what was
    /// parked of the old one is forgotten.
    public func refresh(_ credentials: ConfiguredCredentials) async {
        adopt(await BlockingPool.shared.run { credentials.refresh() })
    }

    /// Runs the program that gives a credential, and adopts its value. The accounts of former values follow.
    ///
    /// - Returns: the value, which may be the refused one; or the reason why the program gives no value.
    public func ask(
        _ question: HelperQuestion, of credentials: ConfiguredCredentials
    ) async -> Result<Credential, CredentialError> {
        let result = await credentials.ask(question)
        let news = credentials.takeNews(of: question)
        if let error = news.failure { report("\(error)") }
        if let change = news.change {
            if change.wasRefused {
                spaces.accounts.replace(change.former, with: change.version)
                audit.note(AuditEvent(.credentialChanged, by: .file, credential: question.name))
            } else {
                spaces.accounts.renew(change.former, with: change.version)
            }
        }
        return result
    }

    /// Adopts the result of a refresh, and calls the observer.
    public func adopt(_ refresh: ConfiguredCredentials.Refresh) {
        for credential in refresh.changed { spaces.accounts.replace(with: credential.version) }
        if !refresh.setAgain.isEmpty {
            retryEndpoints(where: refresh.setAgain.contains)
            retry(for: .file, at: SystemClock.wallTime) { version, _ in refresh.setAgain.contains(version) }
        }
        for name in refresh.replaced { audit.note(AuditEvent(.credentialChanged, by: .file, credential: name)) }
        observer.withLock { $0 }(refresh)
    }

    /// Sets the observer that has KDCs asked again about the matching configured credentials. It replaces the previous
    /// one.
    public func onRetry(_ observer: @escaping @Sendable ((CredentialVersion) -> Bool) -> Void) {
        retryObserver.withLock { $0 = observer }
    }

    /// Sets the observer that is called when an operator makes a certificate exception, before requests use it.
    public func onException(_ observer: @escaping @Sendable () -> Void) {
        exceptionObserver.withLock { $0 = observer }
    }

    func noteException() { exceptionObserver.withLock { $0 }() }

    /// Sets the observer that gets the result of each refresh. It replaces the previous one.
    public func onRefresh(_ observer: @escaping @Sendable (ConfiguredCredentials.Refresh) -> Void) {
        self.observer.withLock { $0 = observer }
    }
}

extension Account.Change {
    /// Whether the change is reported to operators, besides the log of events.
    fileprivate var isReported: Bool {
        switch kind {
        case .refused: standing.state == .unproven
        case .onHold(let isFirst): isFirst
        case .lifted: false
        }
    }

    /// The clause about the event and its remedy, to follow `credential NAME`.
    fileprivate func sentence(_ remedy: CredentialRemedy) -> String {
        let refused = reason ?? "was refused by \(server ?? "the server")"
        let end = remedy.sentence(in: standing).map { ": \($0)" } ?? ""
        return switch (standing.state, standing.nextTry) {
        case (.unproven, .otherTarget): "\(refused). It is sent once more, for another target\(end)"
        case (.unproven, .otherServer(let time)):
            "\(refused). It is sent once more, to another server or in \(words(until: time))\(end)"
        case (.unknown, .time(let time)): "\(refused) and is on hold there for \(words(until: time))\(end)"
        case (.paused, .time(let time)):
            "\(refused), which accepted it before, and is on hold. The next try is in \(words(until: time))\(end)"
        case (.paused, _): "\(refused), which accepted it before, and is on hold\(end)"
        case (.unproven, .time(let time)), (.held, .time(let time)):
            "\(refused) and is on hold for \(words(until: time))\(end)"
        default: "\(refused) and is \(standing.state)\(end)"
        }
    }

    private func words(until end: WallTime) -> String { ChallengeTask.PassReason.words(end - time) }
}

extension AuditEvent.Actor {
    init(_ client: ClientIdentity) { self = .client(address: client.place, user: client.user) }
}
