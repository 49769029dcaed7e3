import Authentication
import Bytes
import Database

@testable import Credentials

/// The actions of a process of an earlier version of this program in an open store (schema 6).
enum EarlierVersion {
    static func refuse(
        _ version: CredentialVersion, in space: ProtectionSpace, nextTry: WallTime, _ connection: any SQLConnection
    ) throws(DatabaseError) {
        try connection.rows(
            """
            INSERT INTO attache_refusals
                (host, port, protocol, proxy, realm, method, name, fingerprint, since, next_try, retries)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, 0)
            ON CONFLICT (host, port, protocol, proxy, realm, method, name, fingerprint)
                DO UPDATE SET next_try = excluded.next_try
            """, space.columns + version.columns + [.time(nextTry)])
        try connection.rows("UPDATE attache_revision SET refusals = latest")
    }

    static func refused(_ connection: any SQLConnection) throws(DatabaseError) -> [String] {
        let revision = try connection.rows("SELECT latest, refusals, forgotten FROM attache_revision").first ?? []
        guard revision.count == 3 else { return [] }
        return try connection.rows(
            """
            SELECT host, port, protocol, proxy, realm, method, name, fingerprint, since, next_try, retries
            FROM attache_refusals ORDER BY number
            """
        ).compactMap { $0.text(6) }
    }
}
