/// What the libraries below could not do, or what a box is not.
public enum CryptoError: Error, Equatable, Sendable, CustomStringConvertible {
    case noRandomness
    case unusablePasswordHash
    case sealingFailed
    /// Sealed under another key or for another context, or changed since.
    case notOurs

    public var description: String {
        switch self {
        case .noRandomness: "the system gave no random bytes"
        case .unusablePasswordHash: "libcrypt cannot make a password hash of this method here"
        case .sealingFailed: "OpenSSL cannot encrypt with AES-256-GCM here"
        case .notOurs: "what was sealed cannot be opened with this key"
        }
    }
}
