import Database

extension CredentialStore {
    /// The reason why a credential store cannot be opened. The store is unchanged.
    public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        case database(DatabaseError)
        /// The secrets of the store are sealed with another key.
        case wrongKey(needed: String, given: String)
        /// The source holds no key.
        case unusableKey(String)
        case unreadableKey(CredentialError)
        /// The key's file can be read by other users.
        case exposedKey(path: String)
        /// The key that was created beside the store is gone.
        case missingKey(path: String)
        /// There is no store.
        case missing(path: String)
        case connectionString(CredentialError)
        /// The folder or the key of the store could not be created.
        case unwritable(String)
        /// A row cannot be opened with the store's own key: it was changed, or moved here from elsewhere.
        case foreignRow(user: String, host: String)
        /// A row is not in the format of this version, and all rows must be copied.
        case unreadableRow(user: String, host: String, cause: String)
        case cannotSeal(String)
        /// The destination of a copy already contains something.
        case notEmpty(credentials: Int)

        static func asking<Value>(
            _ body: () throws(DatabaseError) -> Value
        ) throws(CredentialStore.Failure) -> Value {
            do throws(DatabaseError) { return try body() } catch { throw .database(error) }
        }

        /// Whether the work was stopped, so that nothing was written.
        public var isStop: Bool { self == .database(.stopped) }

        public var description: String {
            switch self {
            case .database(let error): "\(error)"
            case .wrongKey(let needed, let given):
                "the credential store is encrypted under the key \(needed), but the rule file has the key \(given); use the key that "
                    + "was used before, or move the store away to start with an empty one"
            case .unusableKey(let source):
                "the credential store needs a key of 32 bytes, as 64 hexadecimal digits or 44 characters of base64, but "
                    + "\(source) has none; make one with: openssl rand -base64 32"
            case .unreadableKey(let error), .connectionString(let error): "\(error)"
            case .exposedKey(let path): "others can read the key of the credential store; run: chmod 600 \(path)"
            case .missingKey(let path):
                "the key of the credential store is missing: restore \(path), or move the store away to start with an empty "
                    + "one"
            case .missing(let path): "there is no credential store \(path)"
            case .unwritable(let cause): "cannot create the credential store: \(cause)"
            case .foreignRow(let user, let host):
                "the credential of \(user) for \(host) in the store was changed or moved outside of this program; remove it "
                    + "with attache credential remove"
            case .unreadableRow(let user, let host, let cause):
                "cannot copy the credential of \(user) for \(host), because \(cause): copy the store with the "
                    + "version of this program that wrote the row, or delete the row from the database"
            case .notEmpty(let count):
                "the destination already has \(count == 1 ? "1 credential" : "\(count) credentials"); use --replace to "
                    + "replace everything in it"
            case .cannotSeal(let cause): "the credential store cannot encrypt: \(cause)"
            }
        }
    }
}
