import Crypto
import Synchronization

/// Fingerprints of credentials' values, under a key of this process, or of the store that several processes share.
public enum CredentialFingerprint {
    /// From now on fingerprints are made under this key, so that all who have it mean the same value by the same
    /// fingerprint. Earlier ones match none that is made now: call it before any credential is read.
    public static func use(_ key: Secret) {
        keyed.withLock { $0 = MessageAuthenticationCode(key: key) }
    }

    static func of(user: String, password: Secret) -> UInt128 {
        let keyed = keyed.withLock { $0 }
        var message = keyed.begin()
        message.update(utf8: user)
        message.update("\0")
        password.withBytes { message.update($0) }
        return keyed.code(of: message).prefix128
    }

    /// Of what is more than a user and a password; the first word tells the kinds apart.
    public static func of(_ words: [String], secrets: [Secret]) -> UInt128 {
        let keyed = keyed.withLock { $0 }
        var message = keyed.begin()
        for word in words {
            message.update(utf8: word)
            message.update("\0")
        }
        for secret in secrets {
            message.update(utf8: "\(secret.count)")
            message.update("\0")
            secret.withBytes { message.update($0) }
        }
        return keyed.code(of: message).prefix128
    }

    private static let keyed: Mutex<MessageAuthenticationCode> = {
        do {
            return Mutex(try .withRandomKey())
        } catch {
            fatalError("the system gave no random bytes: nothing secret can be made here")
        }
    }()
}
