/// The elements of a DER value one after the other, without a copy: as much as it takes to find a field before anybody
/// decodes it.
struct DERElements {
    struct Element {
        let tag: UInt8
        /// With tag and length.
        let whole: ArraySlice<UInt8>
        let content: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Nil at the end, and where no element with a short tag and a definite length begins.
    mutating func next() -> Element? {
        guard rest.count >= 2, let tag = rest.first, tag & 0x1F != 0x1F else { return nil }
        var start = rest.startIndex + 2
        var length = Int(rest[rest.startIndex + 1])
        if length >= 0x80 {
            let octets = length & 0x7F
            guard (1...4).contains(octets), rest.endIndex - start >= octets else { return nil }
            length = rest[start..<start + octets].reduce(0) { $0 << 8 | Int($1) }
            start += octets
        }
        guard rest.endIndex - start >= length else { return nil }
        let end = start + length
        let element = Element(tag: tag, whole: rest[rest.startIndex..<end], content: rest[start..<end])
        rest = rest[end...]
        return element
    }
}
