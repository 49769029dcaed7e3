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
        write { connection, revision throws(DatabaseError) in
            try CredentialTables.add(entry, at: revision, connection)
        }
    }

    func replaced(by version: CredentialVersion) {
        write { connection, revision throws(DatabaseError) in
            try CredentialTables.removeRefusals(before: version, at: revision, connection)
        }
    }

    func unparkedAll() {
        write { connection, revision throws(DatabaseError) in
            try CredentialTables.removeRefusals(at: revision, connection)
        }
    }

    private func write(_ body: @escaping @Sendable (any SQLConnection, Int64) throws(DatabaseError) -> Void) {
        pool.submit { [database, report] in
            do throws(DatabaseError) {
                try database.write(body)
            } catch { report("a refusal could not be kept in the credential store: \(error)") }
        }
    }
}
