import Authentication
import Database
import IO

/// The journal of refusals in a store. What cannot be written is reported; the process goes on with what it knows.
final class StoredRefusals: RefusalJournal {
    private let database: any CredentialDatabase
    private let pool: BlockingPool
    private let report: @Sendable (String) -> Void

    init(
        _ database: any CredentialDatabase, pool: BlockingPool, report: @escaping @Sendable (String) -> Void
    ) {
        self.database = database
        self.pool = pool
        self.report = report
    }

    func parked(_ entry: ParkedCredentials.Entry) {
        write { connection throws(DatabaseError) in
            try CredentialTables.add(entry, connection)
        }
    }

    func replaced(by version: CredentialVersion) {
        write { connection throws(DatabaseError) in
            try CredentialTables.removeRefusals(before: version, connection)
        }
    }

    func unparkedAll() {
        write { connection throws(DatabaseError) in
            try CredentialTables.removeRefusals(connection)
        }
    }

    private func write(_ body: @escaping @Sendable (any SQLConnection) throws(DatabaseError) -> Void) {
        pool.submit { [database, report] in
            do throws(DatabaseError) {
                try database.write(body)
            } catch { report("a refusal could not be kept in the credential store: \(error)") }
        }
    }
}
