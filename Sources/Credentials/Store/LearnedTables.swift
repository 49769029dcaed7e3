import Authentication
import Database
import IO
import Model

/// A store's table of learned spaces.
enum LearnedTables {
    /// The number of the day since 1970.
    static var today: Int64 { Int64(Day(of: SystemClock.wallTime).number) }
    /// The days for which a space is remembered without being met again.
    private static let memory: Int64 = 30
    /// The limit of spaces, beyond which those met longest ago are removed.
    private static let capacity = 4096

    /// Whether a space gets a row: an origin may send any realm, and an index has limited room.
    static func mayKeep(_ space: ProtectionSpace) -> Bool {
        space.realm.map { $0.utf8.count <= 1024 && !$0.utf8.contains(0) } ?? true
    }

    static func put(
        _ learned: ProtectionSpaces.LearnedSpace, on day: Int64, at revision: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) {
        try connection.rows(
            """
            INSERT INTO attache_spaces (\(CredentialTables.space), extents, accepted, day, revision)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            ON CONFLICT (\(CredentialTables.space)) DO UPDATE SET extents = excluded.extents,
                accepted = excluded.accepted, day = excluded.day, revision = excluded.revision
            """,
            learned.space.columns
                + [
                    .bytes(LearnedTables.Coding.bytes(of: learned.extents)),
                    .bytes(LearnedTables.Coding.bytes(of: learned.accepted)), .integer(day), .integer(revision),
                ])
        try connection.rows("DELETE FROM attache_spaces WHERE day < $1", [.integer(day - memory)])
        try connection.rows(
            """
            DELETE FROM attache_spaces WHERE revision <=
                (SELECT revision FROM attache_spaces ORDER BY revision DESC LIMIT 1 OFFSET \(capacity))
            """)
    }

    /// The spaces learned since a revision that are not too old.
    static func spaces(
        since revision: Int64, on day: Int64, _ connection: some SQLConnection
    ) throws(DatabaseError) -> [ProtectionSpaces.LearnedSpace] {
        try connection.values(
            of: "SELECT \(CredentialTables.space), extents, accepted FROM attache_spaces "
                + "WHERE revision > $1 AND day >= $2 ORDER BY revision", [.integer(revision), .integer(day - memory)]
        ) { row in
            // An unreadable row is learned again.
            guard let space = ProtectionSpace(canonicalRow: row),
                let extents = row.bytes(6).flatMap(LearnedTables.Coding.extents(in:)),
                let accepted = row.bytes(7).flatMap(LearnedTables.Coding.versions(in:))
            else { return nil }
            return ProtectionSpaces.LearnedSpace(space: space, extents: extents, accepted: accepted)
        }
    }

    /// A learned space as bytes of a row: pieces, each after its length in two bytes.
    fileprivate enum Coding {
        /// The limit of paths; longer ones are not stored.
        private static let pathLimit = 1024

        /// No prefix at all means the whole origin.
        static func bytes(of extents: [Extent]) -> [UInt8] {
            var prefixes: [[UInt8]] = []
            for extent in extents {
                switch extent {
                case .origin: return []
                case .prefixes(let more): prefixes += more
                }
            }
            // If only long prefixes were dropped, the space would become the whole origin.
            let short = prefixes.filter { $0.count <= pathLimit }
            return joined(short.isEmpty && !prefixes.isEmpty ? [[]] : short)
        }

        static func extents(in bytes: [UInt8]) -> [Extent]? {
            guard let pieces = pieces(in: bytes) else { return nil }
            if pieces.isEmpty { return [.origin] }
            // The empty path alone: the space covers no known target.
            return pieces.filter { !$0.isEmpty }.map { .prefixes([$0]) }
        }

        static func bytes(of versions: [CredentialVersion]) -> [UInt8] {
            joined(versions.map { $0.fingerprintBytes + Array($0.name.utf8) }.filter { $0.count <= pathLimit })
        }

        static func versions(in bytes: [UInt8]) -> [CredentialVersion]? {
            pieces(in: bytes)?.compactMap { piece in
                guard let name = String(validating: piece.dropFirst(16), as: UTF8.self) else { return nil }
                return CredentialVersion(name: name, fingerprint: Array(piece.prefix(16)))
            }
        }

        private static func joined(_ pieces: [[UInt8]]) -> [UInt8] {
            var bytes: [UInt8] = []
            for piece in pieces {
                bytes.append(UInt8(truncatingIfNeeded: piece.count >> 8))
                bytes.append(UInt8(truncatingIfNeeded: piece.count))
                bytes += piece
            }
            return bytes
        }

        private static func pieces(in bytes: [UInt8]) -> [[UInt8]]? {
            var pieces: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                guard rest.count >= 2 else { return nil }
                let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
                rest = rest.dropFirst(2)
                guard rest.count >= count else { return nil }
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            return pieces
        }
    }
}
