import Authentication
import TLS

/// A private key by which a client shows at a token endpoint who it is.
final class SigningPrivateKey: AssertionSigner {
    let algorithm: String
    let fingerprint: UInt128
    private let key: PrivateKey

    /// Nil for a key whose signatures no token endpoint knows.
    init?(_ key: PrivateKey) {
        guard let algorithm = key.assertionAlgorithm, let fingerprint = try? key.publicFingerprint() else { return nil }
        self.algorithm = algorithm
        self.fingerprint = fingerprint
        self.key = key
    }

    func signature(of bytes: [UInt8]) -> [UInt8]? { key.assertionSignature(of: bytes) }
}
