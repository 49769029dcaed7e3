/// A Kerberos principal, and what proves it to the key distribution centre.
public struct KerberosSource: Sendable, Equatable {
    public enum Proof: Sendable, Equatable {
        /// A keytab file, read again when it changes.
        case keytab(String)
        /// A credential cache that somebody else keeps current.
        case cache(String)
        case password(ValueSource)
    }

    /// `NAME@REALM`, `NAME/INSTANCE@REALM`, or without a realm for the default one.
    public let principal: String
    public let proof: Proof
}
