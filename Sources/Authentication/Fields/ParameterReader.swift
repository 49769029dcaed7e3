import Bytes

/// Reads the tokens of comma-separated authentication fields, each byte once.
///
/// It refuses control characters and text after a closed quote. It accepts what servers send and curl reads: blanks
/// around `=`, an unquoted value of any other characters up to the comma, an empty value, a missing comma between a
/// quoted value and the next parameter, and a missing quote at the end of the field.
struct ParameterReader {
    /// The text after a parameter's name.
    enum Value: Equatable {
        case value([UInt8])
        /// There is no `=`, so the name is not a parameter's. The reader's offset is unchanged.
        case none
        /// There is a `=` with an unreadable value. The reader's offset is within the value.
        case unreadable
    }

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

    /// Skips the rest of a malformed element, quoted strings as a whole. Everything after an open quote is lost.
    mutating func skipElement() {
        while !isAtElementEnd {
            if bytes[offset] == .quote { _ = quotedString() } else { offset += 1 }
        }
    }

    /// Reads a token in lower case; nil if there is no token.
    mutating func token() -> String? {
        let start = offset
        while !isAtEnd, bytes[offset].isTokenByte { offset += 1 }
        guard offset > start else { return nil }
        return bytes.span.extracting(start..<offset).lowercasedText
    }

    /// Reads `BWS "=" BWS ( token / quoted-string )`, up to the element's end or to the next parameter.
    ///
    /// - Parameter mayBeMissing: whether a missing value counts as an empty one.
    mutating func value(mayBeMissing: Bool = true) -> Value {
        let start = offset
        skipBlanks()
        guard !isAtEnd, bytes[offset] == .equals else {
            offset = start
            return .none
        }
        offset += 1
        skipBlanks()
        if isAtElementEnd, !mayBeMissing { return .unreadable }
        guard !isAtEnd, bytes[offset] == .quote else { return unquotedValue().map { .value($0) } ?? .unreadable }
        guard let value = quotedString() else { return .unreadable }
        let end = offset
        skipBlanks()
        return isAtElementEnd || offset > end && isAtParameter ? .value(value) : .unreadable
    }

    /// Reads a `token68` up to the element's end (RFC 9110 section 11.2). Nil, with the offset unchanged, for other
    /// text.
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

    /// Reads a quoted string (RFC 9110 section 5.6.4). If it is not closed it ends with the field. Nil for a control
    /// character, and for a backslash at the end.
    private mutating func quotedString() -> [UInt8]? {
        offset += 1
        let start = offset
        while !isAtEnd, bytes[offset].isPlainInQuotes { offset += 1 }
        // Most strings contain no byte that needs a closer look.
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
        return isClean ? value : nil
    }

    /// Reads up to the comma, without the blanks before it. Nil for a control character or a quote.
    private mutating func unquotedValue() -> [UInt8]? {
        let start = offset
        while !isAtElementEnd {
            let byte = bytes[offset]
            guard byte >= .space || byte == .tab, byte != .delete, byte != .quote else { return nil }
            offset += 1
        }
        var end = offset
        while end > start, bytes[end - 1].isBlank { end -= 1 }
        return Array(bytes[start..<end])
    }

    /// Whether a name and `=` follow.
    private var isAtParameter: Bool {
        var end = offset
        while end < bytes.count, bytes[end].isTokenByte { end += 1 }
        guard end > offset else { return false }
        while end < bytes.count, bytes[end].isBlank { end += 1 }
        return end < bytes.count && bytes[end] == .equals
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
    /// Whether the byte is literal in a quoted string, and does not end it.
    fileprivate var isPlainInQuotes: Bool {
        (self >= .space || self == .tab) && self != .quote && self != .backslash && self != .delete
    }
}
