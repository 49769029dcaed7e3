import Bytes

/// SOCKS 4a: one request with the host's name in it, and one reply. It has no password.
public enum SOCKS4Request {
    /// The request's bytes. An IPv4 address is written as in SOCKS 4. Every other host is written as a name behind an
    /// invalid address.
    public static func bytes(host: String, port: UInt16) throws(SOCKSError) -> [UInt8] {
        let front: [UInt8] = [4, 1] + SOCKSAddress.bigEndian(port)
        if let address = IPAddress(host), address.family == .v4 {
            return front + SOCKSAddress.bigEndian(UInt32(truncatingIfNeeded: address.low)) + [0]
        }
        guard (1...255).contains(host.utf8.count), !host.utf8.contains(0) else { throw .hostTooLong }
        return front + [0, 0, 0, 1, 0] + Array(host.utf8) + [0]
    }

    private static let granted: UInt8 = 90
    private static let replyLength = 8

    /// - Returns: the length of the reply that granted the request; nil when more bytes are needed.
    public static func reply(_ bytes: Span<UInt8>) throws(SOCKSError) -> Int? {
        guard bytes.count >= 2 else { return nil }
        // Some servers send their version here.
        guard bytes[0] == 0 || bytes[0] == 4 else { throw .malformed }
        guard bytes[1] == granted else { throw .refused(code: bytes[1]) }
        return bytes.count < replyLength ? nil : replyLength
    }
}
