/// An IPv4 or IPv6 address as a value: parsed strictly, printed in the form of RFC 5952.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    public enum Family: Sendable { case v4, v6 }

    public let family: Family
    /// The upper 64 bits of the address in network order; `low` has the lower ones. An IPv4 address is in the lower
    /// half of `low`.
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

    /// Parses a dotted quad with four decimal parts and no leading zeros, or the text of RFC 4291 without brackets or
    /// zone. Allocates nothing.
    public init?(_ text: Span<UInt8>) {
        if let bits = Self.quad(text, from: 0) {
            self.init(v4: bits)
        } else if text.firstIndex(of: .colon) != nil, let bits = Self.groups(text) {
            self.init(v6High: UInt64(truncatingIfNeeded: bits >> 64), low: UInt64(truncatingIfNeeded: bits))
        } else {
            return nil
        }
    }

    /// Parses the text of an address.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        self.init(text.utf8Span.span)
    }

    /// The IPv4 address inside `::ffff:0:0/96`; any other address unchanged. Two spellings of one destination must not
    /// be judged by two rules.
    public var unmapped: IPAddress {
        family == .v6 && high == 0 && low >> 32 == 0xFFFF ? IPAddress(v4: UInt32(truncatingIfNeeded: low)) : self
    }

    /// Whether it is in 127.0.0.0/8, or ::1.
    public var isLoopback: Bool { family == .v4 ? low >> 24 == 127 : high == 0 && low == 1 }

    /// The range that one peer controls: an IPv4 address, or an IPv6 network of 64 bits.
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

    /// The form of RFC 5952 section 4: the longest run of two or more zero groups becomes `::`, the first of equal
    /// ones.
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

    /// Parses a dotted quad. Every dialled host is tried; most names fail at their first byte.
    private static func quad(_ text: Span<UInt8>, from start: Int) -> UInt32? {
        var (bits, part, digits, dots) = (UInt32(0), UInt32(0), 0, 0)
        for offset in start..<text.count {
            let unit = text[offset]
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

    /// The 128 bits of an IPv6 address, from the groups before and after the gap `::`.
    private static func groups(_ text: Span<UInt8>) -> UInt128? {
        guard text.count <= 45 else { return nil }
        var bits: UInt128 = 0
        var count = 0
        var gap: Int?
        var offset = 0
        if text.count >= 2, text[0] == .colon, text[1] == .colon {
            gap = 0
            offset = 2
        }
        while offset < text.count {
            guard count < 8 else { return nil }
            let end = text.firstIndex(of: .colon, from: offset) ?? text.count
            if end == text.count, text.firstIndex(of: UInt8(ascii: "."), from: offset) != nil {
                guard let quad = quad(text, from: offset), count <= 6 else { return nil }
                bits = bits << 32 | UInt128(quad)
                count += 2
                break
            }
            guard let group = group(text, in: offset..<end) else { return nil }
            bits = bits << 16 | UInt128(group)
            count += 1
            offset = end
            if offset == text.count { break }
            offset += 1
            if offset < text.count, text[offset] == .colon {
                guard gap == nil else { return nil }
                gap = count
                offset += 1
            } else if offset == text.count {
                return nil
            }
        }
        guard let gap else { return count == 8 ? bits : nil }
        guard count < 8 else { return nil }
        let behind = UInt128((count - gap) * 16)
        let tail = bits & ((1 << behind) - 1)
        return (bits >> behind) << UInt128((8 - gap) * 16) | tail
    }

    private static func group(_ text: Span<UInt8>, in range: Range<Int>) -> UInt16? {
        guard (1...4).contains(range.count) else { return nil }
        var value: UInt16 = 0
        for offset in range {
            guard let digit = text[offset].hexValue else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }
}
