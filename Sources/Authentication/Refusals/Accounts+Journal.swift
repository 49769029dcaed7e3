extension Accounts {
    /// Stores accounts that several processes share.
    ///
    /// A process counts alone while the journal is not attached to a store, and while the store is unavailable.
    public protocol Journal: Sendable {
        /// Whether there is a store. Called for each event.
        var isAttached: Bool { get }

        /// Changes the account of a version, in one transaction.
        ///
        /// The change begins with the store's account, completed by the knowledge of this process. If the store has
        /// none, it begins with the account of the former value if this one is new, else with this process's account.
        ///
        /// - Parameters:
        ///   - own: the account as this process knows it.
        ///   - change: may be called more than once, each time with the current account. Nil: the credential has another
        ///     value meanwhile, and the store must keep nothing of this one.
        /// - Returns: nil if the store does not answer in time, or the change is no longer wanted.
        func change(
            _ own: Account.Shared, _ change: @escaping @Sendable (inout Account) -> (Account.Seat, [Account.Decision])?
        ) async -> Account.Shared.Change?

        /// Invalidates the accounts of other versions of that name. Returns at once.
        ///
        /// - Parameter isRenewal: whether the version is equivalent to the former one: a token that was fetched again.
        func replaced(by version: CredentialVersion, isRenewal: Bool)
    }
}

extension Account {
    /// An account that several processes share.
    public struct Shared: Sendable {
        public let version: CredentialVersion
        /// The client that sent the credential; nil: it is from the rule file or the store.
        public let owner: String?
        public let account: Account
        /// The number of the store's latest change of the account; it grows with each change. 0: no store has it.
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
}
