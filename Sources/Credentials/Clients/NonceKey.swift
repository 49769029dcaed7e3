import Crypto
import IO
import Model

/// The key that nonces are made with, where several processes share it: 32 bytes as 64 hexadecimal digits or 44
/// characters of base64, as the key of a store.
public struct NonceKey: Sendable {
    private let source: ValueSource
    private let values: ValueReader

    /// Nothing is read yet.
    /// - Parameter environment: the process's.
    public init(_ source: ValueSource, environment: [String: String]) {
        self.source = source
        values = ValueReader(environment: environment)
    }

    /// Reads it. Blocks.
    /// - Returns: the key that is derived of it for nonces.
    public func read() throws(NonceKeyError) -> Secret {
        // A holder of it can make nonces, which is not much; but the key may have other uses.
        if case .file(let path) = source, SmallFile.permissions(of: path, among: 0o007) != 0 {
            throw .exposed(path: path)
        }
        let text: Secret
        do throws(CredentialError) {
            text = try values.secret(of: source, for: "(nonce-key)")
        } catch { throw .unreadable(error) }
        guard let key = SealingKey(text: text) else { throw .unusable(source.words) }
        return key.derived(for: "client nonces")
    }
}

/// Why there is no key for nonces.
public enum NonceKeyError: Error, Sendable, Hashable, CustomStringConvertible {
    case exposed(path: String)
    case unreadable(CredentialError)
    case unusable(String)

    public var description: String {
        switch self {
        case .exposed(let path): "others can read the nonce-key; run: chmod 600 \(path)"
        case .unreadable(let error): "\(error)"
        case .unusable(let source):
            "nonce-key needs 32 bytes, as 64 hexadecimal digits or 44 characters of base64, but \(source) has none; "
                + "make one with: openssl rand -base64 32"
        }
    }
}
