import CPostgreSQL

/// libpq, which is loaded at its first use, and stays.
enum PostgreSQLLibrary {
    static func load() throws(DatabaseError) -> libpq {
        guard let loaded else {
            throw .unavailable("the PostgreSQL client library is not installed here (libpq.so.5, Debian's libpq5)")
        }
        return loaded
    }

    private static let loaded: libpq? = {
        var table = libpq()
        return libpq_load(&table) ? table : nil
    }()
}
