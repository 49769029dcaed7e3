import Crypto

/// Fingerprints under a key that this process makes once and keeps to itself.
enum CredentialFingerprint {
    static func of(user: String, password: Secret) -> UInt128 {
        var text = Array(user.utf8)
        text.append(0)
        password.withBytes { bytes in
            for offset in 0..<bytes.count { text.append(bytes[offset]) }
        }
        let secret = Secret(wiping: &text)
        let code = secret.withBytes { bytes in keyed.code(of: bytes) }
        return code.array.prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
    }

    private static let keyed: MessageAuthenticationCode = {
        do {
            return try .withRandomKey()
        } catch {
            fatalError("the system gave no random bytes: nothing secret can be made here")
        }
    }()
}
