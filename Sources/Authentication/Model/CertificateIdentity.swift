/// A certificate chain with its private key: what a session-level challenge for a client certificate is answered with.
/// Whoever speaks TLS knows what stands behind it; here it is only told from others.
public protocol CertificateIdentity: AnyObject, Sendable {
    /// Equal for equal chains, within this process.
    var fingerprint: UInt128 { get }
}
