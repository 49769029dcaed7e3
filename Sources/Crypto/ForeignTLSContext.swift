/// A TLS context of OpenSSL (`SSL_CTX`) that another library owns. Lent for one call.
public struct ForeignTLSContext {
    public let pointer: UnsafeMutableRawPointer

    public init(borrowing pointer: UnsafeMutableRawPointer) { self.pointer = pointer }
}
