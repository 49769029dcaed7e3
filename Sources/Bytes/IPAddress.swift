/// An IPv4 or IPv6 address as a value: parsed strictly, printed as RFC 5952 wants it.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    public enum Family: Sendable { case v4, v6 }

    public let family: Family
    /// The address in network order, 64 bits each; an IPv4 address stands in the low 32 bits of `low`.
    public let high: UInt64
    public let low: UInt64

    public init(v4 bits: UInt32) {
        family = .v4
        high = 0
        low = UInt64(bits)
    }

    public init(v6High high: UInt64, low: UInt64) {
        family = .v6
        self.high = high
        self.low = low
    }

    /// Dotted quad with four decimal parts and no leading zeros, or RFC 4291 text without brackets or zone.
    public init?(_ text: some StringProtocol) {
        if let bits = Self.quad(text.utf8) {
            self.init(v4: bits)
            return
        }
        guard text.utf8.contains(.colon), let groups = Self.groups(Array(text.utf8)) else { return nil }
        self.init(
            v6High: groups[0..<4].reduce(0) { $0 << 16 | UInt64($1) },
            low: groups[4..<8].reduce(0) { $0 << 16 | UInt64($1) })
    }

    /// The IPv4 address inside `::ffff:0:0/96`; any other address as it is. Two spellings of one destination must
    /// not be judged by two rules.
    public var unmapped: IPAddress {
        family == .v6 && high == 0 && low >> 32 == 0xFFFF ? IPAddress(v4: UInt32(truncatingIfNeeded: low)) : self
    }

    /// The range that one peer has at its disposal: an IPv4 address, of IPv6 the network of 64 bits.
    public var network: IPAddress { family == .v6 ? IPAddress(v6High: high, low: 0) : self }

    /// The bytes in network order: 4 or 16.
    public var bytes: [UInt8] {
        let all = [high, low].flatMap { word in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
        }
        return family == .v4 ? Array(all[12...]) : all
    }

    public var description: String {
        switch family {
        case .v4:
            return stride(from: 24, through: 0, by: -8).map { String(low >> UInt64($0) & 0xFF) }
                .joined(separator: ".")
        case .v6:
            let groups = [high, low].flatMap { word in
                stride(from: 48, through: 0, by: -16).map { UInt16(truncatingIfNeeded: word >> UInt64($0)) }
            }
            if high == 0, low >> 32 == 0xFFFF { return "::ffff:\(unmapped)" }
            return Self.compressed(groups)
        }
    }

    /// RFC 5952 section 4: the longest run of two or more zero groups becomes `::`, the first of equals.
    private static func compressed(_ groups: [UInt16]) -> String {
        var best = 0..<0
        var start = 0
        for end in 0...groups.count where end == groups.count || groups[end] != 0 {
            if end - start > max(1, best.count) { best = start..<end }
            start = end + 1
        }
        let text = { (part: ArraySlice<UInt16>) in part.map { String($0, radix: 16) }.joined(separator: ":") }
        if best.isEmpty { return text(groups[...]) }
        return text(groups[..<best.lowerBound]) + "::" + text(groups[best.upperBound...])
    }

    /// Every host that is dialled is tried for an address: most names end at their first byte.
    private static func quad(_ units: some Sequence<UInt8>) -> UInt32? {
        var (bits, part, digits, dots) = (UInt32(0), UInt32(0), 0, 0)
        for unit in units {
            if unit == UInt8(ascii: ".") {
                guard digits > 0, dots < 3 else { return nil }
                bits = bits << 8 | part
                (part, digits, dots) = (0, 0, dots + 1)
            } else {
                guard unit.isDigit, digits == 0 || part > 0 else { return nil }
                part = part * 10 + UInt32(unit - 0x30)
                digits += 1
                guard part <= 255 else { return nil }
            }
        }
        return dots == 3 && digits > 0 ? bits << 8 | part : nil
    }

    private static func groups(_ units: [UInt8]) -> [UInt16]? {
        guard units.count <= 45 else { return nil }
        var gap: Int?
        var offset = 0
        var groups: [UInt16] = []
        if units.starts(with: [.colon, .colon]) {
            gap = 0
            offset = 2
        }
        while offset < units.count {
            guard groups.count < 8 else { return nil }
            let end = units[offset...].firstIndex(of: .colon) ?? units.count
            let part = units[offset..<end]
            if end == units.count, part.contains(UInt8(ascii: ".")) {
                guard let bits = quad(part), groups.count <= 6 else { return nil }
                groups += [UInt16(bits >> 16), UInt16(truncatingIfNeeded: bits)]
                break
            }
            guard (1...4).contains(part.count) else { return nil }
            var value: UInt16 = 0
            for unit in part {
                guard let digit = unit.hexValue else { return nil }
                value = value << 4 | UInt16(digit)
            }
            groups.append(value)
            offset = end
            if offset == units.count { break }
            offset += 1
            if offset < units.count, units[offset] == .colon {
                guard gap == nil else { return nil }
                gap = groups.count
                offset += 1
            } else if offset == units.count {
                return nil
            }
        }
        guard let gap else { return groups.count == 8 ? groups : nil }
        guard groups.count < 8 else { return nil }
        groups.insert(contentsOf: [UInt16](repeating: 0, count: 8 - groups.count), at: gap)
        return groups
    }
}
