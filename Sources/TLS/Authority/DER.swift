/// Writes the few shapes of DER (X.690) that the extensions of a certificate are made of.
enum DER {
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag] + length(content.count) + content }

    static func sequence(_ elements: [[UInt8]]) -> [UInt8] { element(0x30, Array(elements.joined())) }

    static func boolean(_ value: Bool) -> [UInt8] { element(0x01, [value ? 0xFF : 0]) }

    /// A number below 128.
    static func integer(_ value: UInt8) -> [UInt8] { element(0x02, [value & 0x7F]) }

    static func octets(_ bytes: [UInt8]) -> [UInt8] { element(0x04, bytes) }

    /// A named-bit list without its trailing zeros; bit 0 is the highest of the first byte.
    static func bits(_ set: [Int]) -> [UInt8] {
        var byte: UInt8 = 0
        for bit in set where (0..<8).contains(bit) { byte |= 0x80 >> UInt8(bit) }
        return element(0x03, [UInt8(byte.trailingZeroBitCount & 7), byte])
    }

    /// `[number] IMPLICIT` of something primitive.
    static func primitive(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { element(0x80 | number, content) }

    /// `[number] IMPLICIT` of something with elements.
    static func constructed(_ number: UInt8, _ elements: [[UInt8]]) -> [UInt8] {
        element(0xA0 | number, Array(elements.joined()))
    }

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        var bytes: [UInt8] = []
        var rest = count
        while rest > 0 {
            bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(bytes.count)] + bytes
    }
}
