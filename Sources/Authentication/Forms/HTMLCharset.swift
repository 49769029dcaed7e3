/// The character encoding of a page and of its form's content (WHATWG Encoding section 4.2). Every encoding but UTF-8
/// is treated as windows-1252, which loses no byte.
enum HTMLCharset: Equatable, Sendable {
    case utf8
    case windows1252

    /// Nil for an empty label.
    init?(label: String) {
        let label = label.lowercased().filter { !$0.isWhitespace && $0 != "\"" && $0 != "'" }
        if label.isEmpty { return nil }
        self = label == "utf-8" || label == "utf8" || label.hasPrefix("unicode") ? .utf8 : .windows1252
    }

    /// Reads the `charset` of a media type, from `Content-Type` or `meta`.
    init?(mediaType: String) {
        guard let name = mediaType.lowercased().firstRange(of: "charset=") else { return nil }
        self.init(label: String(mediaType.lowercased()[name.upperBound...].prefix { $0 != ";" }))
    }

    /// The value of a field named `_charset_`.
    var name: String {
        switch self {
        case .utf8: "UTF-8"
        case .windows1252: "windows-1252"
        }
    }

    func decode(_ bytes: some Sequence<UInt8>) -> String {
        switch self {
        case .utf8: String(decoding: Array(bytes), as: UTF8.self)
        case .windows1252: String(String.UnicodeScalarView(bytes.map(Self.scalar)))
        }
    }

    /// Encodes text as a form sends it. A character that the encoding lacks becomes a character reference.
    func encode(_ text: String) -> [UInt8] {
        switch self {
        case .utf8: return Array(text.utf8)
        case .windows1252:
            return text.unicodeScalars.flatMap { scalar -> [UInt8] in
                if scalar.value < 0x80 || (0xA0...0xFF).contains(scalar.value) {
                    return [UInt8(truncatingIfNeeded: scalar.value)]
                }
                if let index = Self.upper.firstIndex(of: scalar.value) { return [0x80 + UInt8(index)] }
                return Array("&#\(scalar.value);".utf8)
            }
        }
    }

    /// The character of a byte, and of a character reference with its number.
    static func scalar(_ byte: UInt8) -> Unicode.Scalar {
        let value = (0x80...0x9F).contains(byte) ? upper[Int(byte) - 0x80] : UInt32(byte)
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    /// The characters for 0x80 to 0x9F.
    private static let upper: [UInt32] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
        0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x9D, 0x017E, 0x0178,
    ]
}
