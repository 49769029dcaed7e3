import Crypto
import IO
import Model

/// The key for nonces that several processes share: 32 bytes as 64 hexadecimal digits or 44 characters of base64, like
/// the key of a store.
public struct NonceKey: Sendable {
    private let source: ValueSource
    private let values: ValueReader

    /// Creates the key without reading it.
    /// - Parameter environment: the process's environment.
    public init(_ source: ValueSource, environment: [String: String]) {
        self.source = source
        values = ValueReader(environment: environment)
    }

    /// Reads the key. Blocks.
    /// - Returns: the key derived from it for nonces.
    public func read() throws(Failure) -> Secret {
        // With the key one can make nonces, which is harmless, but the key may have other uses.
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

    /// The reason why there is no key for nonces.
    public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
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
}
