import GSSAPI

/// A Kerberos principal as the rule file states it: where its proof is to be found.
public struct ConfiguredKerberos: Sendable, Hashable {
    public enum Proof: Sendable, Hashable {
        /// A path.
        case keytab(String)
        /// The path of a cache that somebody else keeps current.
        case cache(String)
        case password(ValueSource)
    }

    public let principal: String
    public let proof: Proof

    public init(principal: String, proof: Proof) {
        self.principal = principal
        self.proof = proof
    }

    /// Whether the library is installed that principals need.
    public static var isSupported: Bool { GSSAPILibrary.isInstalled }
}
