import Authentication
import Crypto
import Database
import IO
import Model

/// Where a credential store is, and where the key that opens it.
public struct CredentialStorePlace: Sendable, Hashable {
    public enum Database: Sendable, Hashable {
        case sqlite(path: String)
        /// By libpq's connection string.
        case postgresql(ValueSource)
    }

    public let database: Database
    /// Nil for a file with its key beside it.
    private let namedKey: ValueSource?

    /// - Parameter key: nil: `credentials.key` beside the file, which is made with it.
    public init(sqlite path: String, key: ValueSource?) {
        database = .sqlite(path: path)
        namedKey = key
    }

    /// - Parameter info: libpq's connection string, or where it stands.
    public init(postgresql info: ValueSource, key: ValueSource) {
        database = .postgresql(info)
        namedKey = key
    }

    /// Where the key is.
    public var key: ValueSource { namedKey ?? .file(generatedKey?.path ?? StoreKeyFile.name) }

    /// The key that is made beside a file, unless another is named.
    private var generatedKey: StoreKeyFile? {
        guard namedKey == nil, case .sqlite(let path) = database else { return nil }
        return StoreKeyFile(database: path)
    }

    /// Whether nothing was ever kept there, as far as can be seen without a connection.
    public var isMissing: Bool {
        if case .sqlite(let path) = database { !SmallFile.exists(path) } else { false }
    }

    /// Opens the store, or makes an empty one. Blocks.
    ///
    /// - Parameters:
    ///   - environment: the process's.
    ///   - memory: the process's, to which all that is in the store is added.
    ///   - fingerprintKey: given the key under which the store's processes make fingerprints of credentials, before
    ///     any credential is read.
    ///   - report: told, a sentence at a time, what an operator has to know.
    public func open(
        environment: [String: String], memory: CredentialMemory = CredentialMemory(), fingerprintKey: (Secret) -> Void,
        report: @escaping @Sendable (String) -> Void
    ) throws(CredentialStoreError) -> CredentialStore {
        switch database {
        case .sqlite(let path):
            do throws(IOError) {
                try DurableFile.makeDirectory(StoreKeyFile.folder(of: path))
            } catch { throw .unwritable("\(error)") }
            if let made = try generatedKey?.makeIfMissing() { report(made) }
            return try CredentialStore(
                sqlite: path, key: try sealingKey(environment), memory: memory, fingerprintKey: fingerprintKey,
                report: report)
        case .postgresql(let info):
            let key = try sealingKey(environment)
            return try CredentialStore(
                postgresql: try Self.text(of: info, environment), key: key, memory: memory,
                fingerprintKey: fingerprintKey, report: report)
        }
    }

    /// Wraps the store's own key by another than that of now. The rows stay as they are, and whoever has the store open
    /// goes on. Blocks.
    ///
    /// - Parameter audit: whose event it is.
    /// - Returns: the new key's id.
    public func rewrap(
        to key: ValueSource, environment: [String: String], audit: AuditTrail = AuditTrail()
    ) throws(CredentialStoreError) -> String {
        let (former, new) = (try sealingKey(environment), try SealingKey(reading: key, environment: environment))
        switch database {
        case .sqlite(let path):
            guard !isMissing else { throw .missing(path: path) }
            try CredentialStore.rewrap(sqlite: path, from: former, to: new, audit: audit)
        case .postgresql(let info):
            try CredentialStore.rewrap(
                postgresql: try Self.text(of: info, environment), from: former, to: new, audit: audit)
        }
        return new.id
    }

    /// Copies all that is kept here to another place, in one transaction there, and reads it back. Blocks.
    ///
    /// - Parameters:
    ///   - replacing: whether what the other place holds may go.
    ///   - observer: told of each row that is written, and may stop the copy.
    ///   - report: told, a sentence at a time, what an operator has to know.
    public func migrate(
        to destination: CredentialStorePlace, replacing: Bool, environment: [String: String],
        observedBy observer: some WorkObserver, report: (String) -> Void
    ) throws(CredentialStoreError) -> StoreMigration {
        if case .sqlite(let path) = database, isMissing { throw .missing(path: path) }
        let key = try sealingKey(environment)
        let source = try connected(environment)
        // Only now is anything made there.
        if case .sqlite(let path) = destination.database {
            do throws(IOError) {
                try DurableFile.makeDirectory(StoreKeyFile.folder(of: path))
            } catch { throw .unwritable("\(error)") }
            if let made = try destination.generatedKey?.makeIfMissing() { report(made) }
        }
        let destinationKey = try destination.sealingKey(environment)
        return try StoreMigration.run(
            from: source, key, to: try destination.connected(environment), destinationKey, replacing: replacing,
            observedBy: observer)
    }

    private func connected(
        _ environment: [String: String]
    ) throws(CredentialStoreError) -> any CredentialDatabase {
        switch database {
        case .sqlite(let path):
            return try CredentialStoreError.asking { () throws(DatabaseError) in
                try SQLiteCredentialDatabase(path: path)
            }
        case .postgresql(let info):
            let text = try Self.text(of: info, environment)
            return try CredentialStoreError.asking { () throws(DatabaseError) in
                try PostgreSQLCredentialDatabase(text, name: "migrate")
            }
        }
    }

    private func sealingKey(_ environment: [String: String]) throws(CredentialStoreError) -> SealingKey {
        try SealingKey(
            reading: key, environment: environment, forbidding: namedKey == nil ? 0o077 : StoreKeyFile.strangers)
    }

    private static func text(
        of info: ValueSource, _ environment: [String: String]
    ) throws(CredentialStoreError) -> String {
        do throws(CredentialError) {
            return try ValueReader(environment: environment).text(of: info, for: "(the store's connection string)")
        } catch { throw .connectionString(error) }
    }
}

extension CredentialStorePlace: CustomStringConvertible {
    /// As the rule file would say it, without what may be secret in it.
    public var description: String {
        switch database {
        case .sqlite(let path): "sqlite \(path)"
        case .postgresql: "postgresql"
        }
    }
}
