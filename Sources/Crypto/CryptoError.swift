/// A failure of the libraries, or a box that cannot be opened.
public enum CryptoError: Error, Equatable, Sendable, CustomStringConvertible {
    case noRandomness
    case unusablePasswordHash
    /// OpenSSL has MD4 in a separate module, which a small image may lack.
    case noMD4
    case sealingFailed
    /// The box was sealed with another key or for another context, or was changed.
    case notOurs

    public var description: String {
        switch self {
        case .noRandomness: "the system gave no random bytes"
        case .unusablePasswordHash: "libcrypt cannot make a password hash of this method here"
        case .noMD4: "OpenSSL has no MD4 here: its legacy provider (legacy.so) is not installed"
        case .sealingFailed: "OpenSSL cannot encrypt with AES-256-GCM here"
        case .notOurs: "the sealed data cannot be opened with this key"
        }
    }
}
