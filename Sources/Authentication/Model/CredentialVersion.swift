import Bytes
import Crypto
import Synchronization

/// One value of a credential. Authenticators and refusals belong to a version, so that a changed password is a new credential,
/// and an answer is made with no other value.
///
/// A reference, since each answer and each connection that is logged in carries one.
public final class CredentialVersion: Sendable, Hashable {
    /// The name, for comparisons: another version with this key is another value of the same credential.
    public let key: ExactText
    /// A keyed hash of the value, equal for equal values, or what a storage tells its values apart by. Of no use to anyone
    /// who reads it.
    public let fingerprint: UInt128
    /// Whether it is a grant, which its token endpoint judges. The tokens that it is exchanged for have its name and versions
    /// of their own.
    public let isGrant: Bool

    public init(name: String, fingerprint: UInt128, isGrant: Bool = false) {
        key = ExactText(name)
        self.fingerprint = fingerprint
        self.isGrant = isGrant
    }

    /// The name in the rule file or the store; fit for logs.
    public var name: String { key.text }

    /// Whether it is a value of the credential of that name.
    public func isNamed(_ name: String) -> Bool { key.text.hasSameBytes(as: name) }

    /// The fingerprint first: it differs where it matters, and comparing it costs two instructions.
    public static func == (left: CredentialVersion, right: CredentialVersion) -> Bool {
        left === right || left.fingerprint == right.fingerprint && left.key == right.key
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(fingerprint)
        hasher.combine(key)
    }
}

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
