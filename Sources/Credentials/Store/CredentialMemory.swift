import Authentication
import Bytes
import Model
import Synchronization

/// What a process knows of credentials and spaces: of its own, until a store is opened for it, and from then on what the store
/// has as well. A store may be opened while the process serves, and stays.
public final class CredentialMemory: Sendable {
    public var storage: any CredentialStorage { late }
    /// Kept in the store as it changes, as are the accounts in it.
    public let spaces: ProtectionSpaces
    /// Kept in the store as they are fetched.
    public let tokens: TokenStore
    /// The changes of what may answer.
    public let audit: AuditTrail
    private let late = LateCredentialStorage()
    private let journal = LateJournal()

    public init(audit: AuditTrail = AuditTrail()) {
        self.audit = audit
        spaces = ProtectionSpaces(accounts: Accounts(journal: journal), journal: journal)
        tokens = TokenStore(journal: journal)
    }

    /// From now on the store is asked, and told. One store at most.
    func attach(_ storage: DatabaseCredentialStorage, _ journal: StoreJournal) {
        self.journal.attach(journal)
        late.attach(storage)
        // The journal's storage keeps the trail.
        audit.keep { [weak journal] event in journal?.noted(event) }
    }
}

/// A credential storage in memory, until there is one in a database.
private final class LateCredentialStorage: CredentialStorage {
    private let memory = MemoryCredentialStorage()
    private let database = AtomicLazyReference<DatabaseCredentialStorage>()
    private let listeners = ChangeListeners()

    init() { memory.listeners.pass(to: listeners) }

    private var present: any CredentialStorage { database.load() ?? memory }

    func attach(_ storage: DatabaseCredentialStorage) {
        storage.listeners.pass(to: listeners)
        guard database.storeIfNil(storage) === storage else { return }
        for entry in storage.entries {
            listeners.tell(
                CredentialChange(entry.isDefault ? .madeDefault : .set, space: entry.space, user: entry.user))
        }
    }

    func credentials(for space: ProtectionSpace) -> [ExactText: Credential] { present.credentials(for: space) }

    func allCredentials() async throws(CredentialStorageError) -> [ProtectionSpace: [ExactText: Credential]] {
        try await present.allCredentials()
    }

    func credentials(of kinds: Set<CredentialKind>) -> [ProtectionSpace: [ExactText: Credential]] {
        present.credentials(of: kinds)
    }

    var ticketHolders: [ProtectionSpace: [ExactText: Credential]] { present.ticketHolders }

    func defaultCredential(for space: ProtectionSpace) -> Credential? { present.defaultCredential(for: space) }

    func version(of user: String, for space: ProtectionSpace) -> CredentialVersion? {
        present.version(of: user, for: space)
    }

    func serves(_ origin: Origin) -> Bool { present.serves(origin) }

    /// Asked by every request: no object that all loops share is counted for it.
    var originGeneration: Int { listeners.generation }

    func set(_ credential: Credential, for space: ProtectionSpace) async throws(CredentialStorageError) {
        try await present.set(credential, for: space)
    }

    func setDefault(_ credential: Credential, for space: ProtectionSpace) async throws(CredentialStorageError) {
        try await present.setDefault(credential, for: space)
    }

    func remove(user: String, for space: ProtectionSpace) async throws(CredentialStorageError) {
        try await present.remove(user: user, for: space)
    }

    func changes() -> AsyncStream<CredentialChange> { listeners.stream() }
}

/// The journal of a store, once there is one.
private final class LateJournal: AccountJournal, SpaceJournal, TokenJournal {
    private let journal = AtomicLazyReference<StoreJournal>()

    func attach(_ journal: StoreJournal) { _ = self.journal.storeIfNil(journal) }

    var isAttached: Bool { journal.load() != nil }

    func change(
        _ own: SharedAccount, _ change: @escaping @Sendable (inout Account) -> (Account.Seat, [Account.Decision])
    ) async -> SharedAccount.Change? {
        await journal.load()?.change(own, change)
    }

    func replaced(by version: CredentialVersion, isRenewal: Bool) {
        journal.load()?.replaced(by: version, isRenewal: isRenewal)
    }

    func learned(_ space: LearnedSpace) { journal.load()?.learned(space) }

    func fetched(_ token: FetchedToken) { journal.load()?.fetched(token) }

    /// Without a store there is no other process.
    func claim(_ renewal: TokenRenewalClaim) async -> TokenRenewalClaim.Outcome {
        await journal.load()?.claim(renewal) ?? .granted(renewal.known)
    }

    func ended(
        _ family: RefreshTokenFamily, at rotation: RefreshTokenRotation, with token: FetchedToken?
    ) async {
        await journal.load()?.ended(family, at: rotation, with: token)
    }
}
