import CScan

extension UInt8 {
    public static let tab: UInt8 = 0x09
    public static let lineFeed: UInt8 = 0x0A
    public static let carriageReturn: UInt8 = 0x0D
    public static let space: UInt8 = 0x20
    public static let quote: UInt8 = 0x22
    public static let percent: UInt8 = 0x25
    public static let ampersand: UInt8 = 0x26
    public static let comma: UInt8 = 0x2C
    public static let slash: UInt8 = 0x2F
    public static let colon: UInt8 = 0x3A
    public static let semicolon: UInt8 = 0x3B
    public static let equals: UInt8 = 0x3D
    public static let question: UInt8 = 0x3F
    public static let backslash: UInt8 = 0x5C
    public static let delete: UInt8 = 0x7F

    /// A byte of a token (RFC 9110 section 5.6.2).
    public var isTokenByte: Bool { scan_is_token(self) }

    /// ASCII lower case; bytes outside A–Z stay as they are.
    public var asciiLowercased: UInt8 { scan_lower(self) }

    public var isDigit: Bool { self &- 0x30 < 10 }

    /// An ASCII letter or digit.
    public var isAlphanumeric: Bool { (self | 0x20) &- 0x61 < 26 || isDigit }

    /// A letter, a digit, or one of `-`, `.` and `_`: a byte of a host's name.
    public var isOfHostName: Bool { isAlphanumeric || "-._".utf8.contains(self) }

    /// Space or horizontal tab: RFC 9110 calls it OWS.
    public var isBlank: Bool { self == .space || self == .tab }

    /// The value of an ASCII hexadecimal digit, or nil.
    public var hexValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}

extension Collection<UInt8> where Index == Int {
    /// The index of the first `word`, ignoring ASCII case. `word` is lower case and not empty. The standard library's
    /// search would link the regular-expression engine.
    public func firstIndex(ofWord word: String) -> Int? {
        let word = Array(word.utf8)
        guard let first = word.first, count >= word.count else { return nil }
        for start in startIndex...endIndex - word.count where self[start].asciiLowercased == first {
            var offset = 1
            while offset < word.count, self[start + offset].asciiLowercased == word[offset] { offset += 1 }
            if offset == word.count { return start }
        }
        return nil
    }
}
