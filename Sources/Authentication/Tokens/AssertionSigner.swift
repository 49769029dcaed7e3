/// A private key that signs assertions (RFC 7515). Whoever holds keys knows what stands behind it.
public protocol AssertionSigner: AnyObject, Sendable {
    /// The name of the signature in RFC 7518 section 3.1, such as `ES256`.
    var algorithm: String { get }
    /// Equal for equal keys, within this process.
    var fingerprint: UInt128 { get }

    /// The signature as RFC 7518 writes it; nil when the key cannot be used.
    func signature(of bytes: [UInt8]) -> [UInt8]?
}
