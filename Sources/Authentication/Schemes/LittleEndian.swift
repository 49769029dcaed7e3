import Bytes

// NTLM's messages are read and written by offset, all numbers little-endian ([MS-NLMP] section 2.2).

extension Span<UInt8> {
    /// Two bytes as a number; nil beyond the end.
    func littleEndian16(at offset: Int) -> Int? {
        guard offset >= 0, offset <= count - 2 else { return nil }
        return Int(self[offset]) | Int(self[offset + 1]) << 8
    }

    /// Four bytes as a number; nil beyond the end.
    func littleEndian32(at offset: Int) -> UInt32? {
        guard offset >= 0, offset <= count - 4 else { return nil }
        return (0..<4).reduce(0) { $0 | UInt32(self[offset + $1]) << UInt32($1 * 8) }
    }
}

extension [UInt8] {
    mutating func append(littleEndian number: some FixedWidthInteger & UnsignedInteger) {
        for place in 0..<number.bitWidth / 8 { append(UInt8(truncatingIfNeeded: number >> (place * 8))) }
    }

    /// The text in UTF-16.
    init(utf16 text: String) {
        self = []
        for unit in text.utf16 { append(littleEndian: unit) }
    }
}
