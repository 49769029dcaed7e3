import Bytes
import Model

/// Writes values from outside so that none can end its line, its string or its field.
extension ByteBuffer {
    /// Appends the content of a JSON string (RFC 8259 section 7). Control characters are escaped, also those of C1,
    /// which some terminals obey. Invisible characters that change the direction of text or end a line are escaped too.
    /// Each byte that is not UTF-8 becomes U+FFFD.
    func append(json bytes: Span<UInt8>) {
        var start = 0
        var offset = 0
        while true {
            offset = Self.plainEnd(bytes, from: offset)
            guard offset < bytes.count else { break }
            let scalar = bytes.scalar(at: offset)
            if let scalar, scalar.value >= 0x80, !scalar.isInvisible {
                offset += scalar.utf8Length
                continue
            }
            append(bytes.extracting(start..<offset))
            append(jsonEscape: scalar)
            offset += scalar?.utf8Length ?? 1
            start = offset
        }
        append(bytes.extracting(start..<bytes.count))
    }

    /// Appends a text that may be as long as a head, such as a realm, as the content of a JSON string; truncated if it
    /// is too long for a line.
    func append(json text: String) {
        let scalars = text.unicodeScalars
        // A text never has more scalars than bytes.
        guard text.utf8.count > Self.longestText,
            let end = scalars.index(scalars.startIndex, offsetBy: Self.longestText, limitedBy: scalars.endIndex),
            end != scalars.endIndex
        else { return append(json: text.utf8Span.span) }
        append(json: String(text[..<end]).utf8Span.span)
        append("…")
    }

    private func append(jsonEscape scalar: Unicode.Scalar?) {
        guard let scalar else { return append("\\ufffd") }
        if scalar == "\"" || scalar == "\\" {
            append(.backslash)
            return append(UInt8(truncatingIfNeeded: scalar.value))
        }
        // A scalar beyond sixteen bits needs two escapes.
        for unit in String(Character(scalar)).utf16 {
            append("\\u")
            append(hexadecimal: Int(unit), digits: 4)
        }
    }

    /// The limit of one text in a line, in scalars.
    private static let longestText = 1024

    /// Appends a value in the form of Apache's logs (`ap_escape_logitem`). Quotes and backslashes get a backslash,
    /// control characters their C escape, and all else that is not printable ASCII `\xHH`. In `unquoted` values blanks
    /// are escaped too.
    func append(apache bytes: Span<UInt8>, unquoted: Bool = false) {
        var start = 0
        while start < bytes.count {
            var end = Self.plainEnd(bytes, from: start)
            if unquoted, let blank = bytes.firstIndex(of: .space, in: start..<end) { end = blank }
            append(bytes.extracting(start..<end))
            if end < bytes.count { append(apacheEscape: bytes[end]) }
            start = end + 1
        }
    }

    private func append(apacheEscape byte: UInt8) {
        switch byte {
        case .quote, .backslash:
            append(.backslash)
            append(byte)
        case 0x08: append("\\b")
        case .lineFeed: append("\\n")
        case 0x0D: append("\\r")
        case 0x09: append("\\t")
        case 0x0B: append("\\v")
        default:
            append("\\x")
            append(hexadecimal: Int(byte), digits: 2)
        }
    }

    /// Appends a part of a URL for squid's log: a blank, and everything that is not printable ASCII, as `%HH`.
    func append(percent bytes: Span<UInt8>) {
        for offset in 0..<bytes.count {
            let byte = bytes[offset]
            if byte > .space && byte < .delete {
                append(byte)
            } else {
                append(UInt8(ascii: "%"))
                append(digit: byte >> 4)
                append(digit: byte & 0xF)
            }
        }
    }

    /// Appends a user for squid's log: brackets and `%` are encoded too, in lower case.
    func append(percentUser bytes: Span<UInt8>) {
        for offset in 0..<bytes.count {
            let byte = bytes[offset]
            switch byte {
            case 0x25, 0x5B, 0x5D, 0...0x20, 0x7F...:
                append(UInt8(ascii: "%"))
                append(hexadecimal: Int(byte), digits: 2)
            default: append(byte)
            }
        }
    }

    /// A hexadecimal digit in upper case.
    private func append(digit: UInt8) {
        append(digit < 10 ? 0x30 + digit : 0x41 - 10 + digit)
    }

    /// Appends the port of a target, if it is not the usual one.
    func append(portOf record: ExchangeRecord) {
        guard record.facts.port != record.usualPort else { return }
        append(.colon)
        append(decimal: record.facts.port)
    }

    // Members of a JSON object: the key with what comes before the value; none without a value.

    func append(key: StaticString, number: Int) {
        append(key)
        append(decimal: number)
    }

    func append(key: StaticString, string: String?) {
        guard let string else { return }
        append(key)
        append(json: string)
        append(.quote)
    }

    func append(key: StaticString, rule: RuleReference?) {
        guard let rule else { return }
        append(key)
        append(rule.json)
    }

    func append(key: StaticString, token: StaticString?) {
        guard let token else { return }
        append(key)
        append(token)
        append(.quote)
    }

    /// Appends a time in the form of RFC 3339, with milliseconds.
    func append(time: WallTime) {
        let date = CivilTime(time)
        append(date: date)
        append(clock: date)
        append(UInt8(ascii: "."))
        append(threeDigits: time.milliseconds % 1000)
        append(UInt8(ascii: "Z"))
    }

    /// Appends a date in the form of RFC 3339, up to the `T`.
    func append(date time: CivilTime) {
        append(decimal: time.year)
        append(UInt8(ascii: "-"))
        append(twoDigits: time.month)
        append(UInt8(ascii: "-"))
        append(twoDigits: time.day)
        append(UInt8(ascii: "T"))
    }

    func append(clock time: CivilTime) {
        append(twoDigits: time.hour)
        append(.colon)
        append(twoDigits: time.minute)
        append(.colon)
        append(twoDigits: time.second)
    }

    func append(twoDigits number: Int) {
        append(0x30 + UInt8(truncatingIfNeeded: number / 10))
        append(0x30 + UInt8(truncatingIfNeeded: number % 10))
    }

    func append(threeDigits number: Int) {
        append(0x30 + UInt8(truncatingIfNeeded: number / 100 % 10))
        append(twoDigits: number % 100)
    }

    func append(address: IPAddress) {
        guard address.family == .v4 else { return append(address.description) }
        for shift in stride(from: UInt64(24), through: 0, by: -8) {
            append(decimal: Int(address.low >> shift & 0xFF))
            if shift > 0 { append(UInt8(ascii: ".")) }
        }
    }

    /// The end of the run of printable ASCII without quote and backslash that starts at `offset`. It takes eight bytes
    /// a step, since each byte of a URL passes here.
    private static func plainEnd(_ bytes: Span<UInt8>, from offset: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var end = offset
        while end + 8 <= bytes.count {
            // Bounds are checked, and every bit pattern is a valid `UInt64`.
            let word = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: end, as: UInt64.self)
            let quotes = word ^ (ones &* UInt64(UInt8.quote))
            let backslashes = word ^ (ones &* UInt64(UInt8.backslash))
            // The top bit of each byte is set for: control, quote, backslash; then delete or beyond ASCII.
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
}

extension Span<UInt8> {
    /// The scalar whose UTF-8 starts at `offset`; nil for invalid bytes (Unicode 16 table 3-7).
    func scalar(at offset: Int) -> Unicode.Scalar? {
        let lead = self[offset]
        if lead < 0x80 { return Unicode.Scalar(lead) }
        guard offset + 1 < count else { return nil }
        let allowed: ClosedRange<UInt8>
        let length: Int
        switch lead {
        case 0xC2...0xDF: (allowed, length) = (0x80...0xBF, 2)
        case 0xE0: (allowed, length) = (0xA0...0xBF, 3)
        case 0xED: (allowed, length) = (0x80...0x9F, 3)
        case 0xE1...0xEF: (allowed, length) = (0x80...0xBF, 3)
        case 0xF0: (allowed, length) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (allowed, length) = (0x80...0xBF, 4)
        case 0xF4: (allowed, length) = (0x80...0x8F, 4)
        default: return nil
        }
        guard count - offset >= length, allowed.contains(self[offset + 1]) else { return nil }
        var value = UInt32(lead & (0x7F >> UInt8(length)))
        for place in offset + 1..<offset + length {
            guard self[place] & 0xC0 == 0x80 else { return nil }
            value = value << 6 | UInt32(self[place] & 0x3F)
        }
        return Unicode.Scalar(value)
    }
}

extension Unicode.Scalar {
    var utf8Length: Int { UTF8.width(self) }
}
