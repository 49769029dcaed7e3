import Bytes
import Crypto
import IO

/// The key that is made beside a store's file where the rules name none.
struct StoreKeyFile {
    static let name = "credentials.key"
    /// Who may never read a key: a mounted secret is often readable by the container's group.
    static let strangers: UInt32 = 0o007

    /// Of the store.
    let database: String

    var path: String { "\(Self.folder(of: database))/\(Self.name)" }

    /// - Returns: what an operator has to know of a key that was made.
    func makeIfMissing() throws(CredentialStoreError) -> String? {
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
            // A new key would not open what is there.
            if !SmallFile.exists(database) {
                try secret.withBytes { bytes throws(IOError) in try DurableFile.write(bytes, to: path, mode: 0o600) }
            }
        } catch { throw .unwritable("\(error)") }
        guard SmallFile.exists(path) else { throw .missingKey(path: path) }
        return "the credential store has a new key, \(path): whoever has both can read the passwords, and without the "
            + "key nobody can; 'store … { key … }' in the rule file keeps it elsewhere"
    }

    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
