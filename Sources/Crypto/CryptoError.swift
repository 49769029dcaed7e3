/// What the libraries below could not do. Never caused by what a peer sends.
public enum CryptoError: Error, Equatable, Sendable, CustomStringConvertible {
    case noRandomness
    case unusablePasswordHash

    public var description: String {
        switch self {
        case .noRandomness: "the system gave no random bytes"
        case .unusablePasswordHash: "libcrypt cannot make a password hash of this method here"
        }
    }
}
