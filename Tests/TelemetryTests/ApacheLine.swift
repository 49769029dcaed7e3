import Bytes

/// A line of Apache's `common` or `combined`, read back as its analysers do.
struct ApacheLine {
    let client: [UInt8]
    let user: [UInt8]
    let time: [UInt8]
    let request: [UInt8]
    let status: [UInt8]
    let bytes: [UInt8]
    /// The fields of `combined`.
    let referer: [UInt8]?
    let agent: [UInt8]?

    /// - Returns: nil if the text is not exactly one line of this kind.
    init?(_ line: String) {
        var rest = Array(line.utf8)[...]
        guard rest.popLast() == .lineFeed, !rest.contains(.lineFeed) else { return nil }
        var fields: [[UInt8]] = []
        while let first = rest.first {
            let end: UInt8 = first == .quote ? .quote : first == UInt8(ascii: "[") ? UInt8(ascii: "]") : .space
            if end != .space { rest.removeFirst() }
            var field: [UInt8] = []
            while let byte = rest.popFirst(), byte != end {
                guard byte == .backslash else {
                    field.append(byte)
                    continue
                }
                guard let escaped = Self.escaped(&rest) else { return nil }
                field.append(escaped)
            }
            if end != .space, let blank = rest.popFirst(), blank != .space { return nil }
            fields.append(field)
        }
        guard fields.count == 7 || fields.count == 9, fields[1] == [UInt8(ascii: "-")] else { return nil }
        (client, user, time, request) = (fields[0], fields[2], fields[3], fields[4])
        (status, bytes) = (fields[5], fields[6])
        referer = fields.count == 9 ? fields[7] : nil
        agent = fields.count == 9 ? fields[8] : nil
    }

    private static func escaped(_ rest: inout ArraySlice<UInt8>) -> UInt8? {
        switch rest.popFirst() {
        case UInt8(ascii: "x")?:
            guard rest.count >= 2 else { return nil }
            defer { rest = rest.dropFirst(2) }
            return UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
        case UInt8(ascii: "b")?: return 0x08
        case UInt8(ascii: "n")?: return 0x0A
        case UInt8(ascii: "r")?: return 0x0D
        case UInt8(ascii: "t")?: return 0x09
        case UInt8(ascii: "v")?: return 0x0B
        case let byte? where byte == .quote || byte == .backslash: return byte
        default: return nil
        }
    }
}
