import Crypto

/// What stands for a password in Digest (RFC 7616 section 3.4.2, `A1` without `-sess`): whoever has it can log in.
public enum DigestKey {
    public static func make(
        _ algorithm: DigestAlgorithm, user: String, realm: String, password: Secret
    ) -> DigestValue {
        var digest = MessageDigest(algorithm)
        digest.update(utf8: user)
        digest.update(":")
        digest.update(utf8: realm)
        digest.update(":")
        password.withBytes { digest.update($0) }
        return digest.finish()
    }
}
