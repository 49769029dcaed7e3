import Database
import Model

extension StoreBackend {
    /// Opens a database, or makes an empty one. Blocks.
    ///
    /// - Parameter place: the path of its file, or its connection string.
    func open(_ place: String) throws(CredentialStore.Failure) -> any CredentialDatabase {
        try CredentialStore.Failure.asking { () throws(DatabaseError) in
            switch self {
            case .sqlite: return try SQLiteCredentialDatabase(path: place)
            case .postgresql: return try PostgreSQLCredentialDatabase(place)
            }
        }
    }
}
