import Bytes
import Crypto
import Synchronization

/// One value of a credential. Authenticators and refusals belong to a version. So a changed password counts as a new
/// credential, and an answer is never made with another value.
///
/// A class, since each answer and each logged-in connection holds one.
public final class CredentialVersion: Sendable, Hashable {
    /// The name, for comparisons. Versions with equal keys are values of the same credential.
    public let key: ExactText
    /// A keyed hash of the value, equal for equal values, or the number by which a storage distinguishes values. It
    /// reveals nothing of the value.
    public let fingerprint: UInt128
    /// Whether it is a grant, which its token endpoint judges. The tokens that the grant yields have its name and
    /// versions of their own.
    public let isGrant: Bool
    /// Whether the grant is for the tokens that servers announce.
    let isAnnounced: Bool
    /// Whether the grant is for the tokens of registries.
    let isRegistry: Bool

    public init(
        name: String, fingerprint: UInt128, isGrant: Bool = false, isAnnounced: Bool = false, isRegistry: Bool = false
    ) {
        self.isAnnounced = isAnnounced
        self.isRegistry = isRegistry
        key = ExactText(name)
        self.fingerprint = fingerprint
        self.isGrant = isGrant
    }

    /// The name in the rule file or the store; fit for logs.
    public var name: String { key.text }

    /// Whether it is a version of the credential with that name.
    public func isNamed(_ name: String) -> Bool { key.text.hasSameBytes(as: name) }

    /// Compares the fingerprint first. It mostly decides, and the comparison costs two instructions.
    public static func == (left: CredentialVersion, right: CredentialVersion) -> Bool {
        left === right || left.fingerprint == right.fingerprint && left.key == right.key
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(fingerprint)
        hasher.combine(key)
    }

    /// Fingerprints of credentials' values, with a key of this process, or of the store that several processes share.
    public enum Fingerprint {
        /// Sets the key for fingerprints. Processes with equal keys have equal fingerprints for equal values.
        /// Fingerprints made before do not match later ones: call it before any credential is read.
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

        /// The fingerprint of any other credential. `words[0]` is its kind.
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
}
