/// The reason why a SOCKS server does not connect to an origin.
public enum SOCKSError: Error, Equatable {
    /// The server accepts none of the offered login methods.
    case noAcceptableMethod
    case passwordRefused
    /// The server refused the request with a code of RFC 1928 section 6, or of SOCKS 4.
    case refused(code: UInt8)
    /// The server does not speak this version of SOCKS.
    case malformed
    /// The host's name is longer than the 255 bytes of RFC 1928.
    case hostTooLong
}
