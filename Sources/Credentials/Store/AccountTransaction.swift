import Authentication
import Crypto
import Database

extension StoreJournal {
    /// A change of one account in a store. It is carried out in a writer's transaction, which excludes other writers.
    /// Outside of one it shows whether there is anything to write.
    struct AccountTransaction: Sendable {
        /// The account as this process knows it.
        let own: Account.Shared
        let key: SealingKey
        let change: @Sendable (inout Account) -> (Account.Seat, [Account.Decision])?

        struct Outcome: Sendable {
            let account: Account
            let seat: Account.Seat
            let decisions: [Account.Decision]
            /// The row to write; nil if the store has it already.
            let row: AccountTables.Row?
            /// The revision of the store that contains the account.
            let revision: Int64

            func change(at revision: Int64? = nil) -> Account.Shared.Change {
                Account.Shared.Change(account, revision: revision ?? self.revision, by: seat, decisions: decisions)
            }
        }

        func outcome(_ connection: some SQLConnection) throws(DatabaseError) -> Outcome {
            let row = try AccountTables.row(of: own.version, connection)
            let content = row?.content(openedWith: key)
            let stored = content.flatMap { Account(encoded: $0) }
            var account = if let stored { stored.completed(by: own.account) } else { try beginning(connection) }
            guard let (seat, decisions) = change(&account) else { throw .stopped }
            let changed = AccountTables.Row.content(of: account)
            let isNews = stored == nil ? account != Account() : changed != content
            var written: AccountTables.Row?
            if isNews, try !isSuperseded(row, connection) {
                written = AccountTables.Row(changed, of: own.version, broughtBy: own.owner, sealedWith: key)
            }
            return Outcome(
                account: account, seat: seat, decisions: decisions, row: written,
                revision: row?.revision ?? own.revision)
        }

        /// The initial account if the store has none. The knowledge about the former value helps a new one. A client's
        /// own credential has no former value, since that may be another client's.
        private func beginning(_ connection: some SQLConnection) throws(DatabaseError) -> Account {
            guard own.account == Account(), own.owner == nil,
                let former = try AccountTables.former(of: own.version, key, connection)
            else { return own.account }
            return Account(after: former)
        }

        /// Whether the store had the account, and now has another value's in its place.
        private func isSuperseded(
            _ row: AccountTables.Row?, _ connection: some SQLConnection
        ) throws(DatabaseError) -> Bool {
            guard row == nil, own.revision > 0, own.owner == nil else { return false }
            return try AccountTables.hasOther(than: own.version, connection)
        }
    }
}
