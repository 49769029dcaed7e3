import Bytes

/// How values from outside are written, so that none can end its line, its string or its field.
extension ByteBuffer {
    /// The content of a JSON string (RFC 8259 section 7). Control characters, also those of C1 that a terminal may
    /// obey, are escaped; each byte that is not part of UTF-8 becomes U+FFFD.
    func append(json bytes: Span<UInt8>) {
        var start = 0
        var offset = 0
        while true {
            offset = Self.plainEnd(bytes, from: offset)
            guard offset < bytes.count else { break }
            let byte = bytes[offset]
            let length = byte < 0x80 ? 0 : Self.sequenceLength(bytes, at: offset)
            if length > 0 {
                offset += length
                continue
            }
            append(bytes.extracting(start..<offset))
            if byte == .quote || byte == .backslash {
                append(.backslash)
                append(byte)
            } else if byte < 0x80 {
                append("\\u")
                append(hexadecimal: Int(byte), digits: 4)
            } else if byte == 0xC2, offset + 1 < bytes.count, (0x80..<0xA0).contains(bytes[offset + 1]) {
                append("\\u")
                append(hexadecimal: Int(bytes[offset + 1]), digits: 4)
                offset += 1
            } else {
                append("\\ufffd")
            }
            offset += 1
            start = offset
        }
        append(bytes.extracting(start..<bytes.count))
    }

    /// A value of the common log: what is not printable ASCII, and quotes and backslashes, as `\xHH`; `unquoted`
    /// values cannot hold a blank either.
    func append(common bytes: Span<UInt8>, unquoted: Bool = false) {
        var start = 0
        while start < bytes.count {
            var end = Self.plainEnd(bytes, from: start)
            if unquoted, let blank = bytes.firstIndex(of: .space, in: start..<end) { end = blank }
            append(bytes.extracting(start..<end))
            if end < bytes.count {
                append("\\x")
                append(hexadecimal: Int(bytes[end]), digits: 2)
            }
            start = end + 1
        }
    }

    /// RFC 3339, with milliseconds.
    func append(time epochMilliseconds: Int) {
        let time = CivilTime(epochSeconds: epochMilliseconds / 1000)
        append(date: time)
        append(twoDigits: time.hour)
        append(.colon)
        append(twoDigits: time.minute)
        append(.colon)
        append(twoDigits: time.second)
        append(UInt8(ascii: "."))
        append(threeDigits: epochMilliseconds % 1000)
        append(UInt8(ascii: "Z"))
    }

    /// RFC 3339, up to the `T`.
    func append(date time: CivilTime) {
        append(decimal: time.year)
        append(UInt8(ascii: "-"))
        append(twoDigits: time.month)
        append(UInt8(ascii: "-"))
        append(twoDigits: time.day)
        append(UInt8(ascii: "T"))
    }

    func append(twoDigits number: Int) {
        append(0x30 + UInt8(truncatingIfNeeded: number / 10))
        append(0x30 + UInt8(truncatingIfNeeded: number % 10))
    }

    func append(threeDigits number: Int) {
        append(0x30 + UInt8(truncatingIfNeeded: number / 100))
        append(twoDigits: number % 100)
    }

    func append(address: IPAddress) {
        guard address.family == .v4 else { return append(address.description) }
        for shift in stride(from: UInt64(24), through: 0, by: -8) {
            append(decimal: Int(address.low >> shift & 0xFF))
            if shift > 0 { append(UInt8(ascii: ".")) }
        }
    }

    /// The end of the run of printable ASCII without quote and backslash that starts at `offset`: eight bytes a step,
    /// because each byte of a URL passes here.
    private static func plainEnd(_ bytes: Span<UInt8>, from offset: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var end = offset
        while end + 8 <= bytes.count {
            // Bounds are checked, and every pattern of bits is a `UInt64`.
            let word = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: end, as: UInt64.self)
            let quotes = word ^ (ones &* UInt64(UInt8.quote))
            let backslashes = word ^ (ones &* UInt64(UInt8.backslash))
            // The top bit of a byte tells: control, quote, backslash; then delete or beyond ASCII.
            let special =
                (word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
                | (word &+ ones) | word
            guard special & (ones &* 0x80) == 0 else { break }
            end += 8
        }
        while end < bytes.count {
            let byte = bytes[end]
            guard byte >= .space && byte < .delete && byte != .quote && byte != .backslash else { break }
            end += 1
        }
        return end
    }

    /// The length of the UTF-8 sequence that starts at `offset` and is neither ASCII nor a C1 control; 0 if there is
    /// none (Unicode 16 table 3-7).
    private static func sequenceLength(_ bytes: Span<UInt8>, at offset: Int) -> Int {
        let left = bytes.count - offset
        guard left >= 2 else { return 0 }
        let lead = bytes[offset]
        let second = bytes[offset + 1]
        let allowed: ClosedRange<UInt8>
        let length: Int
        switch lead {
        case 0xC2: (allowed, length) = (0xA0...0xBF, 2)
        case 0xC3...0xDF: (allowed, length) = (0x80...0xBF, 2)
        case 0xE0: (allowed, length) = (0xA0...0xBF, 3)
        case 0xED: (allowed, length) = (0x80...0x9F, 3)
        case 0xE1...0xEF: (allowed, length) = (0x80...0xBF, 3)
        case 0xF0: (allowed, length) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (allowed, length) = (0x80...0xBF, 4)
        case 0xF4: (allowed, length) = (0x80...0x8F, 4)
        default: return 0
        }
        guard left >= length, allowed.contains(second) else { return 0 }
        for place in offset + 2..<offset + max(length, 2) where bytes[place] & 0xC0 != 0x80 { return 0 }
        return length
    }
}
