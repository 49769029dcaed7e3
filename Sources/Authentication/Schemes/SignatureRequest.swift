import Bytes

/// A signature that a server asks for in `Accept-Signature` (RFC 9421 section 5.1), if `MessageSignature` can make it.
public struct SignatureRequest: Sendable, Equatable {
    /// The label that the signature gets.
    public let label: String
    /// The names of the components that the signature covers at least. None has parameters.
    public let components: [String]
    /// The nonce that the signature gets; nil for one of the proxy's.
    public let nonce: String?

    public enum Limits {
        /// The bytes of all lines of the field.
        public static let bytes = 4096
        /// The signatures that one response asks for.
        public static let signatures = 8
        /// The components of one signature.
        public static let components = 16
        /// The bytes of a label.
        public static let label = 64
    }

    /// The first signature of the field that this key can make; nil without one, or if the field is malformed or beyond
    /// the limits.
    ///
    /// - Parameters:
    ///   - field: the values of all lines, separated by commas.
    ///   - keyID: the name of the key.
    public init?(_ field: Span<UInt8>, keyID: String) {
        guard field.count <= Limits.bytes, let members = Self.members(field),
            let found = members.compactMap({ Self(label: $0.key, $0.list, keyID: keyID) }).first
        else { return nil }
        self = found
    }

    private init?(label: String, _ list: StructuredFieldReader.InnerList, keyID: String) {
        guard label.utf8.count <= Limits.label else { return nil }
        var nonce: String?
        for parameter in list.parameters {
            switch (parameter.key, parameter.value) {
            case ("created", .boolean(true)), ("expires", .boolean(true)): break
            case ("nonce", .string(let text)): nonce = text
            case ("alg", .string(MessageSignature.algorithm)), ("tag", .string(MessageSignature.tag)): break
            case ("keyid", .string(let id)) where id.hasSameBytes(as: keyID): break
            default: return nil
            }
        }
        var components: [String] = []
        for item in list.items {
            guard case .string(let name) = item.value else { return nil }
            let ofAgent = name == "signature-agent" && item.parameters.count == 1
            if ofAgent, item.parameters[0].key == "key", item.parameters[0].value == .string(label) { continue }
            guard item.parameters.isEmpty, Self.isComponent(name), !components.contains(name) else { return nil }
            components.append(name)
        }
        self.label = label
        self.components = components
        self.nonce = nonce
    }

    private static let derived = [
        "@method", "@authority", "@scheme", "@target-uri", "@request-target", "@path", "@query",
    ]

    /// Whether it is a component that can be signed: a part of the request, or a field whose value the proxy does not
    /// change behind the signature.
    private static func isComponent(_ name: String) -> Bool {
        if name.hasPrefix("@") { return derived.contains(name) }
        let isName = !name.isEmpty && name.utf8.allSatisfy { $0.isTokenByte && $0 == $0.asciiLowercased }
        return isName && !["signature", "signature-input", "traceparent", "proxy-authorization"].contains(name)
    }

    /// The members of the dictionary that are lists, in order. Nil if the field is malformed.
    private static func members(_ field: Span<UInt8>) -> [(key: String, list: StructuredFieldReader.InnerList)]? {
        var reader = StructuredFieldReader(field)
        var members: [(key: String, list: StructuredFieldReader.InnerList)] = []
        reader.skipBlanks()
        while !reader.isAtEnd {
            guard members.count < Limits.signatures, let key = reader.key(), reader.skip(.equals),
                let list = reader.innerList(most: Limits.components)
            else { return nil }
            // A repeated key replaces the earlier one (RFC 8941 section 4.2.2).
            members.removeAll { $0.key == key }
            members.append((key, list))
            reader.skipBlanks()
            if reader.isAtEnd { break }
            guard reader.skip(.comma) else { return nil }
            reader.skipBlanks()
            if reader.isAtEnd { return nil }
        }
        return members
    }

    /// Reads parts of a structured field (RFC 8941 section 4.2), each byte once and without recursion.
    struct StructuredFieldReader {
        enum Item: Equatable {
            case boolean(Bool)
            case string(String)
            /// A number, a token or a byte sequence, whose value nothing here needs.
            case other
        }

        typealias Parameters = [(key: String, value: Item)]

        struct InnerList {
            var items: [(value: Item, parameters: Parameters)] = []
            var parameters: Parameters = []
        }

        private let bytes: [UInt8]
        private var offset = 0
        /// The limit of parameters of one item or list.
        private static let mostParameters = 16

        init(_ bytes: Span<UInt8>) { self.bytes = bytes.array }

        var isAtEnd: Bool { offset >= bytes.count }
        private var next: UInt8? { isAtEnd ? nil : bytes[offset] }

        mutating func skipBlanks() { while let byte = next, byte.isBlank { offset += 1 } }

        /// Skips this byte; false if another one follows.
        mutating func skip(_ byte: UInt8) -> Bool {
            guard next == byte else { return false }
            offset += 1
            return true
        }

        mutating func key() -> String? {
            let isFirst = { (byte: UInt8) in (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "*") }
            guard let first = next, isFirst(first) else { return nil }
            return text { isFirst($0) || $0.isDigit || "_-.".utf8.contains($0) }
        }

        private mutating func text(where belongs: (UInt8) -> Bool) -> String {
            let start = offset
            while let byte = next, belongs(byte) { offset += 1 }
            return String(decoding: bytes[start..<offset], as: UTF8.self)
        }

        mutating func innerList(most: Int) -> InnerList? {
            guard skip(UInt8(ascii: "(")) else { return nil }
            var list = InnerList()
            while true {
                while skip(.space) {}
                if skip(UInt8(ascii: ")")) { break }
                guard list.items.count < most, let item = item(), let parameters = parameters(),
                    next == .space || next == UInt8(ascii: ")")
                else { return nil }
                list.items.append((item, parameters))
            }
            guard let parameters = parameters() else { return nil }
            list.parameters = parameters
            return list
        }

        /// A repeated parameter replaces the earlier one.
        private mutating func parameters() -> Parameters? {
            var parameters: Parameters = []
            while skip(.semicolon) {
                while skip(.space) {}
                guard parameters.count < Self.mostParameters, let key = key() else { return nil }
                var value = Item.boolean(true)
                if skip(.equals) {
                    guard let item = item() else { return nil }
                    value = item
                }
                parameters.removeAll { $0.key == key }
                parameters.append((key, value))
            }
            return parameters
        }

        private mutating func item() -> Item? {
            guard let first = next else { return nil }
            switch first {
            case .quote: return string()
            case UInt8(ascii: "?"):
                offset += 1
                if skip(UInt8(ascii: "1")) { return .boolean(true) }
                return skip(UInt8(ascii: "0")) ? .boolean(false) : nil
            case .colon:
                offset += 1
                _ = text { $0.isLetter || $0.isDigit || "+/=".utf8.contains($0) }
                return skip(.colon) ? .other : nil
            case UInt8(ascii: "-"), 0x30...0x39:
                offset += 1
                _ = text { $0.isDigit || $0 == UInt8(ascii: ".") }
                return .other
            default:
                guard first.isLetter || first == UInt8(ascii: "*") else { return nil }
                _ = text { $0.isTokenByte || $0 == .colon || $0 == .slash }
                return .other
            }
        }

        private mutating func string() -> Item? {
            offset += 1
            var value: [UInt8] = []
            while let byte = next {
                offset += 1
                switch byte {
                case .quote: return .string(String(decoding: value, as: UTF8.self))
                case .backslash:
                    guard let escaped = next, escaped == .quote || escaped == .backslash else { return nil }
                    offset += 1
                    value.append(escaped)
                case 0x20...0x7E: value.append(byte)
                default: return nil
                }
            }
            return nil
        }
    }
}
