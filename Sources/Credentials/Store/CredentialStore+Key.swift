import Bytes
import Crypto
import Database
import IO

extension CredentialStore {
    /// The keys of a store's rows: a data key that never leaves the store unencrypted, wrapped by a key that is never
    /// in the store.
    struct Key: Sendable, Hashable {
        /// The id of the key that wraps the data key.
        let wrappingKeyID: String
        let wrapped: [UInt8]

        private static let context = Array("attache data key".utf8)

        init(wrappingKeyID: String, wrapped: [UInt8]) {
            self.wrappingKeyID = wrappingKeyID
            self.wrapped = wrapped
        }

        init(_ dataKey: SealingKey, wrappedBy key: SealingKey) throws(CredentialStore.Failure) {
            do throws(CryptoError) {
                wrapped = try dataKey.withSecret { secret throws(CryptoError) in
                    try key.seal(secret, for: Self.context.span)
                }
            } catch { throw .cannotSeal("\(error)") }
            wrappingKeyID = key.id
        }

        func dataKey(unwrappedWith key: SealingKey) throws(CredentialStore.Failure) -> SealingKey {
            guard wrappingKeyID == key.id else { throw .wrongKey(needed: wrappingKeyID, given: key.id) }
            let dataKey = try? key.open(wrapped.span, for: Self.context.span)
            guard let dataKey, let key = SealingKey(dataKey) else {
                throw .database(.unusable("its key was changed outside of this program"))
            }
            return key
        }

        /// The key that seals the store's rows. A store without one gets one, and a store of an earlier version is
        /// updated. With a wrong key nothing is changed.
        static func dataKey(
            of database: any CredentialDatabase, wrappedBy key: SealingKey
        ) throws(CredentialStore.Failure) -> SealingKey {
            let present = try database.ask { connection throws(DatabaseError) in try CredentialTables.key(connection) }
            if let known = try present?.dataKey(unwrappedWith: key) {
                try update(database, known)
                return known
            }
            try CredentialStore.Failure.asking { () throws(DatabaseError) in try database.update() }
            let fresh: SealingKey
            do throws(CryptoError) { fresh = try .random() } catch { throw .cannotSeal("\(error)") }
            let made = try CredentialStore.Key(fresh, wrappedBy: key)
            // Another process may have been first: all processes then use its key.
            let adopted = try CredentialStore.Failure.asking { () throws(DatabaseError) in
                try database.write { connection, _ throws(DatabaseError) in
                    try CredentialTables.adopt(made, connection)
                    return try CredentialTables.key(connection)
                }
            }
            guard let adopted else { throw .database(.unusable("it keeps no key")) }
            let dataKey = try adopted.dataKey(unwrappedWith: key)
            try update(database, dataKey)
            return dataKey
        }

        /// Updates a store's tables and their content.
        private static func update(
            _ database: any CredentialDatabase, _ dataKey: SealingKey
        ) throws(CredentialStore.Failure) {
            try CredentialStore.Failure.asking { () throws(DatabaseError) in
                try database.update()
                try EarlierRefusals.convert(in: database, dataKey, now: SystemClock.wallTime)
            }
        }

        /// Updates the tables of a store with that key; another store stays unchanged.
        static func check(_ database: any CredentialDatabase, _ key: SealingKey) throws(CredentialStore.Failure) {
            let present = try database.ask { connection throws(DatabaseError) in try CredentialTables.key(connection) }
            guard let present else { return }
            try update(database, try present.dataKey(unwrappedWith: key))
        }

        /// Wraps a store's key with another key. The rows stay unchanged, and processes with the open store continue.
        static func rewrap(
            _ database: any CredentialDatabase, from former: SealingKey, to new: SealingKey, audit: AuditTrail
        ) throws(CredentialStore.Failure) {
            let dataKey = try dataKey(of: database, wrappedBy: former)
            let rewrapped = try CredentialStore.Key(dataKey, wrappedBy: new)
            let event = AuditEvent(.storeRekeyed, by: audit.actor ?? .proxy, details: "to the key \(new.id)")
            try CredentialStore.Failure.asking { () throws(DatabaseError) in
                try database.write { connection, revision throws(DatabaseError) in
                    guard try CredentialTables.key(connection)?.wrappingKeyID == former.id else {
                        throw .failed("another process changed its key at the same time")
                    }
                    try CredentialTables.replace(rewrapped, connection)
                    try EventTable.put([event], of: audit, at: revision, connection)
                }
            }
        }
    }
}

extension CredentialStore.Key {
    /// The key that is created beside a store's file if the rules name none.
    struct File {
        static let name = "credentials.key"
        /// The permissions of other users, who must never read a key. The group is allowed: a mounted secret is often
        /// readable by the container's group.
        static let strangers: UInt32 = 0o007

        /// The path of the store.
        let database: String

        var path: String { "\(Self.folder(of: database))/\(Self.name)" }

        /// - Returns: a message for the operator about a key that was created.
        func makeIfMissing() throws(CredentialStore.Failure) -> String? {
            if SmallFile.exists(path) { return nil }
            var text: [UInt8] = []
            do throws(CryptoError) {
                try SealingKey.random().withSecret { secret in
                    var bytes = secret.withBytes { $0.array }
                    defer { _ = Secret(wiping: &bytes) }
                    text.reserveCapacity(Base64.count(encoding: bytes.count) + 1)
                    Base64.append(bytes, to: &text)
                    text.append(UInt8(ascii: "\n"))
                }
            } catch { throw .cannotSeal("\(error)") }
            let secret = Secret(wiping: &text)
            do throws(IOError) {
                let lock = try DirectoryLock(exclusive: Self.folder(of: database))
                defer { lock.release() }
                // Another process may have been faster.
                if SmallFile.exists(path) { return nil }
                // A new key could not open the existing store.
                if !SmallFile.exists(database) {
                    try secret.withBytes { bytes throws(IOError) in try DurableFile.write(bytes, to: path, mode: 0o600)
                    }
                }
            } catch { throw .unwritable("\(error)") }
            guard SmallFile.exists(path) else { throw .missingKey(path: path) }
            return
                "the credential store has a new key, \(path): anyone with both files can read the passwords, and without "
                + "the key they are lost, so back it up; to keep it elsewhere, write 'store … { key … }' in the rule file"
        }

        static func folder(of path: String) -> String {
            guard let slash = path.lastIndex(of: "/") else { return "." }
            return slash == path.startIndex ? "/" : String(path[..<slash])
        }
    }
}
