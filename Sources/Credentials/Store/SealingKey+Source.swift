import Bytes
import Crypto
import IO
import Model

extension SealingKey {
    /// Reads the key of a credential store: 32 bytes as 64 hexadecimal digits or 44 characters of base64. Blocks.
    ///
    /// - Parameters:
    ///   - source: a file or a variable.
    ///   - environment: the process's environment.
    ///   - mask: the permissions that the file must not have.
    public init(
        reading source: ValueSource, environment: [String: String], forbidding mask: UInt32 = 0o007
    ) throws(CredentialStore.Failure) {
        if case .file(let path) = source, SmallFile.permissions(of: path, among: mask) != 0 {
            throw .exposedKey(path: path)
        }
        let text: Secret
        do throws(CredentialError) {
            text = try ValueReader(environment: environment).secret(of: source, for: "(the store's key)")
        } catch { throw .unreadableKey(error) }
        guard let key = SealingKey(text: text) else { throw .unusableKey(source.words) }
        self = key
    }

    init?(text: Secret) {
        let (hex, base64) = (2 * Self.count, 44)
        let decoded = text.withBytes { text -> [UInt8]? in
            switch text.count {
            case hex: Hex.decode(text)
            case base64: Base64.decode(text)
            default: nil
            }
        }
        guard var bytes = decoded else { return nil }
        self.init(Secret(wiping: &bytes))
    }
}
