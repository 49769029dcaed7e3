/// Keeps accounts where several processes share them.
///
/// A process counts alone as long as the journal is not attached to a store, and while the store cannot be reached.
public protocol AccountJournal: Sendable {
    /// Whether there is a store. Asked for each event.
    var isAttached: Bool { get }

    /// Changes the account of a version, in one transaction.
    ///
    /// The change begins with the store's account, completed by what only this process knows; where the store has none, with
    /// that of the value before, if nothing is known of this one, and else with this process's.
    ///
    /// - Parameters:
    ///   - own: the account as this process knows it.
    ///   - change: may be called more than once, each time with what is there.
    /// - Returns: nil where the store cannot be reached in time.
    func change(
        _ own: SharedAccount, _ change: @escaping @Sendable (inout Account) -> (Account.Seat, [Account.Decision])
    ) async -> SharedAccount.Change?

    /// The accounts of that name's other versions are void. Returns at once.
    ///
    /// - Parameter isRenewal: whether the version means the same as the one before: a token that was fetched again.
    func replaced(by version: CredentialVersion, isRenewal: Bool)
}

/// An account that several processes share.
public struct SharedAccount: Sendable {
    public let version: CredentialVersion
    /// The client that brought the credential along; nil: the rule file or the store has it.
    public let owner: String?
    public let account: Account
    /// The number of the store's change that made it what it is: a greater one with each change. 0: no store has it.
    public let revision: Int64

    public init(_ version: CredentialVersion, broughtBy owner: String?, _ account: Account, revision: Int64) {
        self.version = version
        self.owner = owner
        self.account = account
        self.revision = revision
    }

    /// The result of a change.
    public struct Change: Sendable {
        public let account: Account
        public let revision: Int64
        public let seat: Account.Seat
        public let decisions: [Account.Decision]

        public init(
            _ account: Account, revision: Int64, by seat: Account.Seat, decisions: [Account.Decision]
        ) {
            self.account = account
            self.revision = revision
            self.seat = seat
            self.decisions = decisions
        }
    }
}
