import Admin
import Authentication
import Bytes
import Challenges
import Credentials
import Crypto
import IO
import Model
import Upstream

/// Changes the credential store for a person. Every call blocks.
struct StoreEditing {
    private let store: CredentialStore

    /// Opens the store, or creates an empty one.
    init(_ place: CredentialStore.Place) throws(CommandError) {
        store = try CommandError.failing {
            try place.open(
                environment: Environment.all, memory: CredentialMemory(audit: .ofCommand),
                fingerprintKey: CredentialVersion.Fingerprint.use, report: { Console.error($0) })
        }
    }

    /// Opens the store, or creates an empty one and says that a running proxy does not know it yet.
    static func openOrMake(
        _ place: CredentialStore.Place, _ body: (StoreEditing) throws(CommandError) -> Void
    ) throws(CommandError) {
        let isNew = place.isMissing
        try body(try StoreEditing(place))
        if isNew {
            Console.error(
                "the store is new: a running proxy opens it after 'attache reload'")
        }
    }

    /// The exceptions for keys of a server.
    func trustExceptions(for host: String, port: UInt16) -> [TrustException] {
        store.storage.trustExceptions(for: host, port: port)
    }

    /// All stored credentials.
    var places: [CredentialList.StoredPlace] { store.places(opens: true) }

    /// - Parameter isDefault: whether it becomes the space's default; nil: only if the space has no default.
    func set(
        _ credential: Credential, for space: ProtectionSpace, asDefault isDefault: Bool?
    ) throws(CommandError) {
        let hasDefault = store.storage.defaultUser(for: space) != nil
        try CommandError.failing {
            try store.storage.apply([.set(credential, for: space, asDefault: isDefault ?? !hasDefault)])
        }
    }

    /// - Parameter ruleFile: the rule file on the command line.
    /// - Returns: a sentence about the effects; nil if only the credential is gone.
    func remove(_ user: String, for space: ProtectionSpace, ruleFile: String?) throws(CommandError) -> String? {
        // This also removes a credential that cannot be decrypted.
        guard store.storage.holds(user, for: space) else { throw Self.absence }
        let wasDefault = store.storage.defaultUser(for: space)?.hasSameBytes(as: user) == true
        try CommandError.failing { try store.storage.apply([.remove(user: user, for: space)]) }
        guard wasDefault else { return nil }
        let loss = "\(user) was the default for \(space.words)"
        guard let next = store.storage.credentials(for: space).keys.min()?.text else {
            return "\(loss): no stored credential answers there now"
        }
        let options = ruleFile.map { ["--config", $0] } ?? []
        let command = CredentialRemedy.command(to: "default", next, for: space) + options
        return
            "\(loss): now there is none; to use \(next), run: \(command.map(ShellWord.quoted).joined(separator: " "))"
    }

    func makeDefault(_ user: String, for space: ProtectionSpace) throws(CommandError) {
        if store.storage.credential(of: user, for: space) == nil { throw Self.absence }
        try CommandError.failing {
            try store.storage.apply([.makeDefault(user: user, for: space)])
        }
    }

    /// The servers' verdicts on credentials.
    var accounts: [Account.Shared] { store.accounts.all }

    /// Forgets the doubts about versions of credentials.
    ///
    /// - Returns: the names of the credentials.
    func retry(_ choice: CredentialChoice) throws(CommandError) -> [String] {
        try CommandError.failing { try store.reset(where: choice.fits).map(\.name) }
    }

    // MARK: - Many

    /// The effect of keeping a credential on the one that is there.
    enum State: String, CaseIterable {
        case new, changed
        case same = "as before"
    }

    func states(of batch: [CredentialStore.Entry]) -> [State] {
        batch.map { kept in
            guard let name = kept.credential.storedName(for: kept.space),
                let present = store.storage.credential(of: name, for: kept.space)
            else { return .new }
            return Self.isSame(present, kept.credential) ? .same : .changed
        }
    }

    private static func isSame(_ one: Credential, _ other: Credential) -> Bool {
        one.password == other.password && one.token == other.token && one.trustException == other.trustException
            && one.identity?.fingerprint == other.identity?.fingerprint
    }

    /// Returns the credentials, without the default mark if the space has another default.
    func settled(_ batch: [CredentialStore.Entry]) -> [CredentialStore.Entry] {
        let taken = Dictionary(
            store.storage.entries.filter(\.isDefault).map { ($0.space, $0.user) },
            uniquingKeysWith: { first, _ in first })
        return batch.map { kept in
            guard let user = taken[kept.space] else { return kept }
            return CredentialStore.Entry(
                kept.credential, for: kept.space,
                isDefault: kept.credential.storedName(for: kept.space)?.hasSameBytes(as: user) == true)
        }
    }

    /// Stores all credentials, or none.
    ///
    /// - Parameter stopped: the error if a signal stopped the work.
    func keep(
        _ batch: [CredentialStore.Entry], observedBy work: ProgressReport, stopped: @autoclosure () -> CommandError
    ) throws(CommandError) {
        do throws(StoredCredentials.Failure) { try store.storage.put(settled(batch), observedBy: work) } catch {
            throw error == .stopped ? stopped() : .failed("\(error)")
        }
    }

    /// Writes all credentials to standard output.
    func export(sealedWith source: ValueSource) throws(CommandError) {
        let text = try CommandError.failing {
            let key = try SealingKey(reading: source, environment: Environment.all)
            return try SealedCredentials.write(store.storage.all, sealedWith: key)
        }
        guard OutputFile.standardOutput.write(Array(text.utf8)) == .all else {
            throw .failed("cannot write all credentials to standard output")
        }
    }

    private static let absence = CommandError.failed(
        "this credential does not exist; 'attache credential list' shows all")
}

extension AuditTrail {
    /// The audit trail of this command: its changes to a store are recorded for its user.
    static var ofCommand: AuditTrail { AuditTrail(at: Environment.hostName, by: .command(user: LocalPeer.ownUser)) }
}
