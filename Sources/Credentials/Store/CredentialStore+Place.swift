import Crypto
import IO
import Model

extension CredentialStore {
    /// The location of a credential store, and of the key that opens it.
    public struct Place: Sendable, Hashable, CustomStringConvertible {
        private let location: StoreLocation
        /// The key's source; nil for a file with its key beside it.
        private let namedKey: ValueSource?

        /// - Parameter key: the source of the key; nil for `credentials.key` beside the file, which is made with it. A
        ///   server needs a key.
        public init?(_ location: StoreLocation, key: ValueSource?) {
            if !location.backend.isFile, key == nil { return nil }
            self.location = location
            namedKey = key
        }

        /// A file in the usual format.
        public init(file path: String, key: ValueSource?) {
            location = StoreLocation(.sqlite, .file(path))
            namedKey = key
        }

        /// The path of the file; nil for a server.
        private var path: String? {
            if case .file(let path) = location.place { path } else { nil }
        }

        /// The source of the key.
        public var key: ValueSource { namedKey ?? .file(generatedKey?.path ?? Key.File.name) }

        /// The key that is created beside a file, unless another one is named.
        private var generatedKey: Key.File? { namedKey == nil ? path.map { Key.File(database: $0) } : nil }

        /// Whether no store was ever created there, as far as that is visible without a connection.
        public var isMissing: Bool { path.map { !SmallFile.exists($0) } ?? false }

        /// The place in the form of the rule file, without secrets.
        public var description: String {
            let backend = location.backend.rawValue
            return path.map { "\(backend) \($0)" } ?? backend
        }

        /// Opens the store, or creates an empty one. Blocks.
        ///
        /// - Parameters:
        ///   - environment: the process's environment.
        ///   - memory: the process's knowledge, to which the store's content is added.
        ///   - fingerprintKey: gets the key that the store's processes use for fingerprints of credentials, before any
        ///     credential is read.
        ///   - report: gets messages for the operator, a sentence at a time.
        public func open(
            environment: [String: String], memory: CredentialMemory = CredentialMemory(),
            fingerprintKey: (Secret) -> Void,
            report: @escaping @Sendable (String) -> Void
        ) throws(CredentialStore.Failure) -> CredentialStore {
            try prepare(report: report)
            let key = try sealingKey(environment)
            return try CredentialStore(
                try connected(environment), key: key, memory: memory, fingerprintKey: fingerprintKey, report: report)
        }

        /// Makes the folder of a file, and its key.
        private func prepare(report: (String) -> Void) throws(CredentialStore.Failure) {
            guard let path else { return }
            do throws(IOError) {
                try DurableFile.makeDirectory(Key.File.folder(of: path))
            } catch { throw .unwritable("\(error)") }
            if let made = try generatedKey?.makeIfMissing() { report(made) }
        }

        /// Wraps the store's own key with a new key. The rows stay unchanged, and processes with the open store
        /// continue. Blocks.
        ///
        /// - Parameter audit: the author of the event.
        /// - Returns: the new key's id.
        public func rewrap(
            to key: ValueSource, environment: [String: String], audit: AuditTrail = AuditTrail()
        ) throws(CredentialStore.Failure) -> String {
            let (former, new) = (try sealingKey(environment), try SealingKey(reading: key, environment: environment))
            if let path, isMissing { throw .missing(path: path) }
            try Key.rewrap(try connected(environment), from: former, to: new, audit: audit)
            return new.id
        }

        /// Copies everything to another place, in one transaction there, and reads it back. Blocks.
        ///
        /// - Parameters:
        ///   - replacing: whether the content of the other place may be replaced.
        ///   - observer: called for each row that is written; it may stop the copy.
        ///   - report: gets messages for the operator, a sentence at a time.
        public func migrate(
            to destination: CredentialStore.Place, replacing: Bool, environment: [String: String],
            observedBy observer: some WorkObserver, report: (String) -> Void
        ) throws(CredentialStore.Failure) -> Migration {
            if let path, isMissing { throw .missing(path: path) }
            let key = try sealingKey(environment)
            let source = try connected(environment)
            // The destination is created only now.
            try destination.prepare(report: report)
            let destinationKey = try destination.sealingKey(environment)
            return try Migration.run(
                from: source, key, to: try destination.connected(environment), destinationKey, replacing: replacing,
                observedBy: observer)
        }

        private func connected(_ environment: [String: String]) throws(CredentialStore.Failure)
            -> any CredentialDatabase
        {
            let place: String
            switch location.place {
            case .file(let path): place = path
            case .server(let connection):
                do throws(CredentialError) {
                    place = try ValueReader(environment: environment).text(
                        of: connection, for: "(the store's connection string)")
                } catch { throw .connectionString(error) }
            }
            return try location.backend.open(place)
        }

        private func sealingKey(_ environment: [String: String]) throws(CredentialStore.Failure) -> SealingKey {
            try SealingKey(
                reading: key, environment: environment, forbidding: namedKey == nil ? 0o077 : Key.File.strangers)
        }
    }
}
