import Bytes

/// The members of a JSON object (RFC 8259) that are strings, numbers, objects or arrays. The contents of objects and
/// arrays are skipped, without recursion. Of members with one name the first counts.
public struct JSONMembers {
    public enum Value: Equatable {
        case text([UInt8])
        case number(Double)
        /// The object's text, unparsed.
        case object([UInt8])
        /// The array's text, unparsed.
        case array([UInt8])
    }

    /// The members by name: an endpoint may send any number.
    private var members: [[UInt8]: Value] = [:]
    private let bytes: [UInt8]
    private var offset = 0

    private static let depthLimit = 64

    /// Nil if the text is not an object, or is truncated.
    public init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        // RFC 8259 section 8.1: a byte-order mark may be ignored.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
        guard take(UInt8(ascii: "{")) else { return nil }
        if take(UInt8(ascii: "}")) { return }
        repeat {
            skipBlanks()
            guard let name = text(), take(.colon) else { return nil }
            skipBlanks()
            guard let value = value() else { return nil }
            if let value, members[name] == nil { members[name] = value }
        } while take(.comma)
        guard take(UInt8(ascii: "}")) else { return nil }
    }

    /// The names of the members, in no order.
    public var names: [[UInt8]] { Array(members.keys) }

    public subscript(name: String) -> Value? { members[Array(name.utf8)] }

    public func text(_ name: String) -> [UInt8]? {
        if case .text(let text)? = self[name] { text } else { nil }
    }

    public func object(_ name: String) -> JSONMembers? {
        if case .object(let object)? = self[name] { JSONMembers(object) } else { nil }
    }

    /// The strings of an array; its other elements are left out. Nil if the member is no array.
    public func texts(_ name: String) -> [[UInt8]]? {
        guard case .array(let array)? = self[name] else { return nil }
        var reader = JSONMembers(reading: array)
        return reader.elements()?.compactMap { if case .text(let text) = $0 { text } else { nil } }
    }

    /// The objects of an array; its other elements are left out. Nil if the member is no array.
    public func objects(_ name: String) -> [JSONMembers]? {
        guard case .array(let array)? = self[name] else { return nil }
        var reader = JSONMembers(reading: array)
        return reader.elements()?.compactMap { if case .object(let text) = $0 { JSONMembers(text) } else { nil } }
    }

    private init(reading bytes: [UInt8]) { self.bytes = bytes }

    private mutating func elements() -> [Value]? {
        guard take(UInt8(ascii: "[")) else { return nil }
        var elements: [Value] = []
        if take(UInt8(ascii: "]")) { return elements }
        repeat {
            skipBlanks()
            guard let value = value() else { return nil }
            if let value { elements.append(value) }
        } while take(.comma)
        return take(UInt8(ascii: "]")) ? elements : nil
    }

    private mutating func skipBlanks() {
        while offset < bytes.count, bytes[offset].isBlank || [.lineFeed, .carriageReturn].contains(bytes[offset]) {
            offset += 1
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipBlanks()
        guard offset < bytes.count, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    /// The value at the offset; an inner nil for other kinds, an outer nil if it is missing or malformed.
    private mutating func value() -> Value?? {
        guard offset < bytes.count else { return nil }
        switch bytes[offset] {
        case .quote: return text().map { .some(.text($0)) }
        case UInt8(ascii: "{"):
            let start = offset
            return skipNested() ? .some(.object(Array(bytes[start..<offset]))) : nil
        case UInt8(ascii: "["):
            let start = offset
            return skipNested() ? .some(.array(Array(bytes[start..<offset]))) : nil
        default:
            let start = offset
            while offset < bytes.count, !", ]}\t\r\n".utf8.contains(bytes[offset]) { offset += 1 }
            let word = String(decoding: bytes[start..<offset], as: UTF8.self)
            if ["true", "false", "null"].contains(word) { return .some(nil) }
            return Double(word).flatMap { $0.isFinite ? .some(.number($0)) : nil }
        }
    }

    private mutating func skipNested() -> Bool {
        var depth = 0
        while offset < bytes.count {
            switch bytes[offset] {
            case .quote:
                guard text() != nil else { return false }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            offset += 1
            if depth == 0 { return true }
            if depth > Self.depthLimit { return false }
        }
        return false
    }

    private mutating func text() -> [UInt8]? {
        guard offset < bytes.count, bytes[offset] == .quote else { return nil }
        offset += 1
        var text: [UInt8] = []
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            switch byte {
            case .quote: return text
            case .backslash:
                guard let escaped = escaped() else { return nil }
                text += escaped
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func escaped() -> [UInt8]? {
        guard offset < bytes.count else { return nil }
        let byte = bytes[offset]
        offset += 1
        switch byte {
        case .quote, .backslash, .slash: return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [.lineFeed]
        case UInt8(ascii: "r"): return [.carriageReturn]
        case UInt8(ascii: "t"): return [.tab]
        case UInt8(ascii: "u"):
            guard let first = unit() else { return nil }
            var units = [first]
            if UTF16.isLeadSurrogate(first), offset + 1 < bytes.count, bytes[offset] == .backslash,
                bytes[offset + 1] == UInt8(ascii: "u")
            {
                offset += 2
                guard let second = unit() else { return nil }
                units.append(second)
            }
            return Array(String(decoding: units, as: UTF16.self).utf8)
        default: return nil
        }
    }

    private mutating func unit() -> UInt16? {
        guard offset + 4 <= bytes.count else { return nil }
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = bytes[offset].hexValue else { return nil }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }
}
