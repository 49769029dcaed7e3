import Authentication
import Crypto
import Foundation
import TestSupport
import Testing

@testable import Credentials

/// The storages there are, each empty.
enum StorageKind: CaseIterable {
    case memory
    case sqlite
    case postgresql
    /// In memory at first, and then in a store.
    case late

    func make() throws -> any CredentialStorage {
        switch self {
        case .memory: return MemoryCredentialStorage()
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
        Wait.until { writer.settled != nil }
    }
}
