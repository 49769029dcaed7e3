import Authentication
import Bytes
import Crypto
import Foundation
import IO
import Model
import TestSupport
import Testing

@testable import Credentials

/// The storages there are, each empty.
enum StorageKind: CaseIterable {
    case memory
    case sqlite
    case postgresql
    /// First in memory, later in a store.
    case late

    func make() throws -> StoredCredentials {
        switch self {
        case .memory: return StoredCredentials()
        case .sqlite: return try StoreFile.open(StoreFile.temporary()).storage
        case .late:
            let memory = CredentialMemory()
            _ = try CredentialStore(
                sqlite: StoreFile.temporary(), key: StoreFile.key(1), memory: memory, fingerprintKey: { _ in },
                report: { Issue.record("\($0)") })
            return memory.storage
        case .postgresql: return try PostgreSQLServer.shared.open(PostgreSQLServer.shared.newDatabase()).storage
        }
    }
}

enum StoreFile {
    /// A path in a new folder, which the system's own cleaning takes away.
    static func temporary() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "attache-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appending(path: "credentials.db").path
    }

    static func open(_ path: String, _ key: SealingKey? = nil) throws -> CredentialStore {
        // Other tests make fingerprints meanwhile.
        try CredentialStore(
            sqlite: path, key: key ?? self.key(1), fingerprintKey: { _ in },
            report: { Issue.record("\($0)") })
    }

    static func key(_ byte: UInt8) throws -> SealingKey {
        var bytes = [UInt8](repeating: byte, count: SealingKey.count)
        return try #require(SealingKey(Secret(wiping: &bytes)))
    }
}

extension CredentialStore {
    /// Waits for what is written after the fact.
    func settles() -> Bool {
        Wait.until { writer.isSettled }
    }
}

/// Shorter ways to open a store, and to what it keeps.
extension CredentialStore {
    convenience init(
        sqlite path: String, key: SealingKey, memory: CredentialMemory = CredentialMemory(),
        fingerprintKey: (Secret) -> Void, report: @escaping @Sendable (String) -> Void
    ) throws(Failure) {
        try self.init(
            try StoreBackend.sqlite.open(path), key: key, memory: memory, fingerprintKey: fingerprintKey, report: report
        )
    }

    convenience init(
        postgresql info: String, key: SealingKey, memory: CredentialMemory = CredentialMemory(),
        fingerprintKey: (Secret) -> Void, report: @escaping @Sendable (String) -> Void
    ) throws(Failure) {
        try self.init(
            try StoreBackend.postgresql.open(info), key: key, memory: memory, fingerprintKey: fingerprintKey,
            report: report)
    }

    static func rewrap(
        _ backend: StoreBackend, _ place: String, from former: SealingKey, to new: SealingKey,
        audit: AuditTrail = AuditTrail()
    ) throws(Failure) {
        try Key.rewrap(try backend.open(place), from: former, to: new, audit: audit)
    }

    func dataKey() throws -> SealingKey { try #require(storage.dataKey) }

    var entries: [StoredCredentials.Entry] { storage.entries }
    var credentials: [Entry] { storage.all }

    func credential(of user: String, for space: ProtectionSpace) -> Credential? {
        storage.credential(of: user, for: space)
    }

    func holds(_ user: String, for space: ProtectionSpace) -> Bool { storage.holds(user, for: space) }
    func defaultUser(for space: ProtectionSpace) -> String? { storage.defaultUser(for: space) }
    func apply(_ edits: [StoredCredentials.Edit]) throws(StoredCredentials.Failure) { try storage.apply(edits) }

    func put(
        _ batch: [Entry], observedBy observer: some WorkObserver
    ) throws(StoredCredentials.Failure) { try storage.put(batch, observedBy: observer) }

    func put(
        _ credential: Credential, for space: ProtectionSpace, asDefault: Bool
    ) throws(StoredCredentials.Failure) {
        try storage.apply([.set(credential, for: space, asDefault: asDefault)])
    }

    func remove(user: String, for space: ProtectionSpace) throws(StoredCredentials.Failure) {
        try storage.apply([.remove(user: user, for: space)])
    }
}

extension StoredCredentials {
    func allCredentials() -> [ProtectionSpace: [ExactText: Credential]] {
        credentials(of: Set(CredentialKind.allCases))
    }
}

extension StoreJournal {
    convenience init(_ store: CredentialStore) {
        self.init(store.storage)
        attach(store.writer)
    }
}
