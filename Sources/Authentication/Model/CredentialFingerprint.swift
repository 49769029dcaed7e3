import Crypto

/// Fingerprints under a key that this process makes once and keeps to itself.
enum CredentialFingerprint {
    static func of(user: String, password: Secret) -> UInt128 {
        var message = keyed.begin()
        message.update(utf8: user)
        message.update("\0")
        password.withBytes { message.update($0) }
        return keyed.code(of: message).prefix128
    }

    private static let keyed: MessageAuthenticationCode = {
        do {
            return try .withRandomKey()
        } catch {
            fatalError("the system gave no random bytes: nothing secret can be made here")
        }
    }()
}
