import Authentication
import Bytes
import Crypto
import Database
import Model

/// The refusals in a store that earlier versions of this program wrote. They are read once, and accounts are made from
/// them. The table stays, since a running process of an earlier version may still use it.
enum EarlierRefusals {
    /// Makes the accounts, unless that was already done.
    static func convert(
        in database: any CredentialDatabase, _ key: SealingKey, now: WallTime
    ) throws(DatabaseError) {
        let isDone = try database.read { connection throws(DatabaseError) in try isConverted(connection) }
        if isDone { return }
        try database.write { connection, revision throws(DatabaseError) in
            // Another process may have been first.
            if try isConverted(connection) { return }
            try convert(key, now: now, at: revision, connection)
            try markConverted(at: revision, connection)
        }
    }

    private static func isConverted(_ connection: some SQLConnection) throws(DatabaseError) -> Bool {
        try connection.rows("SELECT accounts FROM attache_revision").first?.integer(0) != 0
    }

    static func markConverted(at revision: Int64, _ connection: some SQLConnection) throws(DatabaseError) {
        try connection.rows("UPDATE attache_revision SET accounts = $1", [.integer(revision)])
    }

    private static func convert(
        _ key: SealingKey, now: WallTime, at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        let day = Int64(Day(of: now).number)
        var servers: [CredentialVersion: [String]] = [:]
        for space in try LearnedTables.spaces(since: CredentialTables.beginning, on: day, connection) {
            for version in space.accepted { servers[version, default: []].append(space.space.origin.serverName) }
        }
        var versions: [CredentialVersion] = []
        var refusals: [CredentialVersion: [Account.EarlierRefusal]] = [:]
        let columns = "\(CredentialTables.space), name, fingerprint, since, next_try, retries"
        for row in try connection.rows("SELECT \(columns) FROM attache_refusals ORDER BY number") {
            guard let (version, refusal) = refusal(in: row), AccountTables.mayKeep(version) else { continue }
            if refusals[version] == nil { versions.append(version) }
            refusals[version, default: []].append(refusal)
        }
        for version in versions {
            let account = Account(
                earlier: refusals[version] ?? [], acceptedBy: servers[version] ?? [], at: now)
            if let row = AccountTables.Row(account, of: version, broughtBy: nil, sealedWith: key) {
                try AccountTables.put(row, on: day, at: revision, connection)
            }
        }
    }

    private static func refusal(in row: [DatabaseValue]) -> (CredentialVersion, Account.EarlierRefusal)? {
        guard let space = ProtectionSpace(row: row), let name = row.text(6),
            let version = CredentialVersion(name: name, fingerprint: row.bytes(7) ?? []), let since = row.time(8),
            let nextTry = row.time(9), let retries = row.integer(10)
        else { return nil }
        return (
            version,
            Account.EarlierRefusal(
                at: space.origin.serverName, since: since,
                nextTry: nextTry == 0 ? nil : nextTry, retries: Int(clamping: max(0, retries)))
        )
    }
}
