import Bytes

/// A block of addresses in CIDR notation (RFC 4632 section 3.1, RFC 4291 section 2.3); a single address is the
/// block of full length.
public struct AddressPrefix: Hashable, Sendable, CustomStringConvertible {
    /// Why a text is no prefix.
    public enum Fault: Error, Equatable, Sendable {
        case notAnAddress
        case badLength
        /// The address has bits behind its prefix; the payload is the block that holds it.
        case hostBits(AddressPrefix)
    }

    public let address: IPAddress
    /// Bits: 0…32 or 0…128.
    public let length: Int
    private let highMask: UInt64
    private let lowMask: UInt64

    /// The block of `length` bits that holds `address`. A block inside `::ffff:0:0/96` becomes the IPv4 block that
    /// it is.
    public init?(holding address: IPAddress, length: Int) {
        guard (0...(address.family == .v4 ? 32 : 128)).contains(length) else { return nil }
        if address.family == .v6, address.unmapped.family == .v4, length >= 96 {
            self.init(address.unmapped, length - 96)
        } else {
            self.init(address, length)
        }
    }

    private init(_ address: IPAddress, _ length: Int) {
        self.length = length
        switch address.family {
        case .v4:
            highMask = 0
            lowMask = Self.mask(length + 32) & 0xFFFF_FFFF
            self.address = IPAddress(v4: UInt32(truncatingIfNeeded: address.low & lowMask))
        case .v6:
            highMask = Self.mask(length)
            lowMask = Self.mask(length - 64)
            self.address = IPAddress(v6High: address.high & highMask, low: address.low & lowMask)
        }
    }

    /// `ADDRESS` or `ADDRESS/LENGTH`, without brackets.
    public init(_ text: String) throws(Fault) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress($0) }) else { throw .notAnAddress }
        let full = address.family == .v4 ? 32 : 128
        var length = full
        if parts.count == 2 {
            let digits = parts[1].utf8
            guard (1...3).contains(digits.count), digits.allSatisfy(\.isDigit), let number = Int(parts[1]) else {
                throw .badLength
            }
            length = number
        }
        guard let prefix = AddressPrefix(holding: address, length: length) else { throw .badLength }
        guard prefix.address == (prefix.address.family == .v4 ? address.unmapped : address) else {
            throw .hostBits(prefix)
        }
        self = prefix
    }

    /// Whether the address lies in the block. The caller unmaps first (`IPAddress.unmapped`).
    public func contains(_ address: IPAddress) -> Bool {
        address.family == self.address.family && address.high & highMask == self.address.high
            && address.low & lowMask == self.address.low
    }

    /// Whether every address of `other` lies in this block.
    public func covers(_ other: AddressPrefix) -> Bool {
        other.length >= length && contains(other.address)
    }

    public var description: String {
        isSingle ? "\(address)" : "\(address)/\(length)"
    }

    /// Whether it is one address.
    var isSingle: Bool { length == (address.family == .v4 ? 32 : 128) }

    /// The first `bits` of 64 set.
    private static func mask(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : ~0 << UInt64(64 - min(bits, 64)) }
}
