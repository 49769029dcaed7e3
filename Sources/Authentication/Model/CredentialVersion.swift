import Crypto

/// Which credential, and which value of it: what authenticators and refusals are filed under, so that a changed
/// password is a new credential and nobody's answer is ever made with somebody else's.
public struct CredentialVersion: Sendable, Hashable {
    /// The name in the rule file or the store; fit for logs.
    public let name: String
    /// A keyed hash of the value, equal for equal values, or what a storage tells its values apart by. Of no use to anyone
    /// who reads it.
    public let fingerprint: UInt128

    public init(name: String, fingerprint: UInt128) {
        self.name = name
        self.fingerprint = fingerprint
    }

    /// The fingerprint first: it differs where it matters, and comparing it costs two instructions.
    public static func == (left: CredentialVersion, right: CredentialVersion) -> Bool {
        left.fingerprint == right.fingerprint && left.name == right.name
    }
}
