import Bytes

/// A block of addresses in CIDR notation (RFC 4632 section 3.1, RFC 4291 section 2.3). A single address is the block of
/// full length.
public struct AddressPrefix: Hashable, Sendable, CustomStringConvertible {
    /// The reason why a text is not a prefix.
    public enum Fault: Error, Equatable, Sendable {
        case notAnAddress
        case badLength
        /// The address has bits beyond its prefix; the payload is the block that contains it.
        case hostBits(AddressPrefix)
    }

    public let address: IPAddress
    /// The length in bits: 0…32 or 0…128.
    public let length: Int
    private let highMask: UInt64
    private let lowMask: UInt64

    /// Creates the block of `length` bits that contains `address`. A block inside `::ffff:0:0/96` becomes the IPv4
    /// block.
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

    /// Parses `ADDRESS` or `ADDRESS/LENGTH`, without brackets.
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

    /// Whether the block contains the address. The caller unmaps first (`IPAddress.unmapped`).
    public func contains(_ address: IPAddress) -> Bool {
        address.family == self.address.family && address.high & highMask == self.address.high
            && address.low & lowMask == self.address.low
    }

    /// Whether this block contains every address of `other`.
    public func covers(_ other: AddressPrefix) -> Bool {
        other.length >= length && contains(other.address)
    }

    public var description: String {
        isSingle ? "\(address)" : "\(address)/\(length)"
    }

    /// Whether the block is a single address.
    var isSingle: Bool { length == (address.family == .v4 ? 32 : 128) }

    /// Returns 64 bits of which the first `bits` are set.
    private static func mask(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : ~0 << UInt64(64 - min(bits, 64)) }
}
