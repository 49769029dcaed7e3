/// A TLS context of OpenSSL's (`SSL_CTX`) that another library has made and goes on to use. Lent for one call.
public struct ForeignTLSContext {
    public let pointer: UnsafeMutableRawPointer

    public init(borrowing pointer: UnsafeMutableRawPointer) { self.pointer = pointer }
}
