/// What the libraries below could not do. Never caused by what a peer sends.
public enum CryptoError: Error, Equatable, Sendable, CustomStringConvertible {
    case noRandomness
    case unusablePasswordHash
    /// OpenSSL keeps MD4 in a module of its own, which a small image may lack.
    case noMD4

    public var description: String {
        switch self {
        case .noRandomness: "the system gave no random bytes"
        case .unusablePasswordHash: "libcrypt cannot make a password hash of this method here"
        case .noMD4: "OpenSSL has no MD4 here: its legacy provider (legacy.so) is not installed"
        }
    }
}
