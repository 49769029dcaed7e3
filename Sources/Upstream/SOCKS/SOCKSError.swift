/// Why a SOCKS server opens no way to an origin.
public enum SOCKSError: Error, Equatable {
    /// It takes none of the ways to log in that it was offered.
    case noAcceptableMethod
    case passwordRefused
    /// Its answer to the request: a code of RFC 1928 section 6, or of SOCKS 4.
    case refused(code: UInt8)
    /// It does not speak this version of SOCKS.
    case malformed
    /// RFC 1928 has room for 255 bytes.
    case hostTooLong
}
