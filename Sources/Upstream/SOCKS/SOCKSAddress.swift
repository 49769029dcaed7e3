import Bytes

/// Hosts and ports as SOCKS writes them (RFC 1928 section 5).
enum SOCKSAddress {
    static let four: UInt8 = 1
    static let name: UInt8 = 3
    static let six: UInt8 = 4

    /// The bytes of a host: its type, for a name its length, and the address or name.
    static func bytes(of host: String) throws(SOCKSError) -> [UInt8] {
        if let address = IPAddress(host) {
            return address.family == .v4
                ? [four] + bigEndian(UInt32(truncatingIfNeeded: address.low))
                : [six] + bigEndian(address.high) + bigEndian(address.low)
        }
        let count = host.utf8.count
        guard (1...255).contains(count) else { throw .hostTooLong }
        return [name, UInt8(truncatingIfNeeded: count)] + Array(host.utf8)
    }

    static func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        stride(from: Number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
