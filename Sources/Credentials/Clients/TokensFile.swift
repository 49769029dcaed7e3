import Bytes
import Crypto

/// The tokens of the proxy's own users: `user:SHA-256` lines. A token is long and random, so a plain hash does not
/// reveal it. A user may have several, for instance while one replaces another.
public final class TokensFile: Sendable {
    private struct Entry {
        let user: String
        let digest: MessageDigest.Value
    }

    /// The entries by a keyed code of the token's digest.
    private let file: ListFile<[UInt128: Entry]>

    /// Creates the object without reading the file: call `refresh` first.
    public init(path: String) throws(CryptoError) { file = try ListFile(path: path, [:]) }

    /// Reads the file and applies the changes. An invalid line is a problem of that line only. If the file cannot be
    /// read, the former content stays valid. Blocks: do not call it on a loop.
    public func refresh() -> [UsersFile.Problem] {
        file.refresh { lines in
            var entries: [UInt128: Entry] = [:]
            lines.scan { line in
                guard let colon = line.firstIndex(of: ":"), colon != line.startIndex,
                    let bytes = Hex.decode(line[line.index(after: colon)...]),
                    bytes.count == DigestAlgorithm.sha256.length, let digest = MessageDigest.Value(bytes)
                else { return .noToken }
                let user = String(line[..<colon])
                if user.first?.isListBlank == true || user.last?.isListBlank == true { return .blank }
                let key = key(of: digest)
                if entries[key] != nil { return .duplicateToken }
                entries[key] = Entry(user: user, digest: digest)
                return nil
            }
            return entries
        }
    }

    /// A number that changes whenever the file has changed.
    public var version: Int { file.version }

    /// The user of this token; nil if unknown. Neither blocks nor allocates.
    public func user(of token: Span<UInt8>) -> String? {
        let digest = MessageDigest.digest(.sha256, of: token)
        let key = key(of: digest)
        guard let entry = file.withContent({ $0[key] }) else { return nil }
        let isSame = entry.digest.withHexadecimal { known in digest.withHexadecimal { ConstantTime.equal(known, $0) } }
        return isSame ? entry.user : nil
    }

    /// Whether the user has any token.
    public func contains(_ user: String) -> Bool {
        file.withContent { $0.values.contains { $0.user.utf8.elementsEqual(user.utf8) } }
    }

    private func key(of digest: MessageDigest.Value) -> UInt128 {
        var message = file.code.begin()
        message.update(digest)
        return file.code.code(of: message).prefix128
    }
}
