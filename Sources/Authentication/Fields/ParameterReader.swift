import Bytes

/// Reads the tokens of comma-separated authentication fields, each byte once.
///
/// It refuses what two readers could understand differently: an open quote, a control character, text behind a closed
/// quote. It is tolerant where there is one reading only: blanks around `=`, and unquoted values of any visible bytes,
/// which devices send for nonces and realms.
struct ParameterReader {
    private let bytes: [UInt8]
    private(set) var offset = 0

    init(_ bytes: Span<UInt8>) { self.bytes = bytes.array }

    var isAtEnd: Bool { offset >= bytes.count }

    /// Whether the list element ends here.
    var isAtElementEnd: Bool { isAtEnd || bytes[offset] == .comma }

    mutating func skipBlanks() {
        while !isAtEnd, bytes[offset].isBlank { offset += 1 }
    }

    mutating func skipCommasAndBlanks() {
        while !isAtEnd, bytes[offset].isBlank || bytes[offset] == .comma { offset += 1 }
    }

    /// Passes over the rest of a broken element, quoted strings as a whole. All behind an open quote is lost.
    mutating func skipElement() {
        while !isAtElementEnd {
            if bytes[offset] == .quote { _ = quotedString() } else { offset += 1 }
        }
    }

    /// A token in lower case; nil when there is none.
    mutating func token() -> String? {
        let start = offset
        while !isAtEnd, bytes[offset].isTokenByte { offset += 1 }
        guard offset > start else { return nil }
        return bytes.span.extracting(start..<offset).lowercasedText
    }

    /// `BWS "=" BWS ( token / quoted-string )`; nil, with the offset where it was, when no such thing follows.
    mutating func value() -> [UInt8]? {
        let start = offset
        skipBlanks()
        guard !isAtEnd, bytes[offset] == .equals else {
            offset = start
            return nil
        }
        offset += 1
        skipBlanks()
        let value = !isAtEnd && bytes[offset] == .quote ? quotedString() : visibleBytes()
        skipBlanks()
        guard let value, isAtElementEnd else {
            offset = start
            return nil
        }
        return value
    }

    /// `token68` up to the element's end (RFC 9110 section 11.2); nil, with the offset where it was, when it is none.
    mutating func token68() -> String? {
        let start = offset
        while !isAtEnd, isToken68Byte(bytes[offset]) { offset += 1 }
        let isEmpty = offset == start
        while !isAtEnd, bytes[offset] == .equals { offset += 1 }
        let end = offset
        skipBlanks()
        guard !isEmpty, isAtElementEnd else {
            offset = start
            return nil
        }
        return bytes.span.extracting(start..<end).text
    }

    /// RFC 9110 section 5.6.4. Nil for a control character, and for an open quote, which takes the rest with it.
    private mutating func quotedString() -> [UInt8]? {
        offset += 1
        let start = offset
        while !isAtEnd, bytes[offset].isPlainInQuotes { offset += 1 }
        // Most hold nothing that has to be looked at.
        var value = Array(bytes[start..<offset])
        var isClean = true
        while !isAtEnd {
            var byte = bytes[offset]
            offset += 1
            if byte == .quote { return isClean ? value : nil }
            if byte == .backslash {
                guard !isAtEnd else { return nil }
                byte = bytes[offset]
                offset += 1
            }
            if byte != .tab, byte < .space || byte == .delete { isClean = false }
            value.append(byte)
        }
        return nil
    }

    private mutating func visibleBytes() -> [UInt8]? {
        let start = offset
        while !isAtElementEnd, bytes[offset] > .space, bytes[offset] != .delete, bytes[offset] != .quote {
            offset += 1
        }
        return offset > start ? Array(bytes[start..<offset]) : nil
    }

    private func isToken68Byte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "+"), .slash:
            true
        default: false
        }
    }
}

extension UInt8 {
    /// Whether it stands for itself in a quoted string, and does not end it.
    fileprivate var isPlainInQuotes: Bool {
        (self >= .space || self == .tab) && self != .quote && self != .backslash && self != .delete
    }
}
