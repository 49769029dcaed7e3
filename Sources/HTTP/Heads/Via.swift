import Bytes

/// The proxy's entry in the Via field (RFC 9110 section 7.6.3). It is added to messages, and searched in requests,
/// since a request that already contains it is in a loop.
public struct Via: Sendable {
    private let pseudonym: [UInt8]
    private let line10: [UInt8]
    private let line11: [UInt8]
    private let line2: [UInt8]

    /// Nil unless `pseudonym` is a token.
    public init?(pseudonym: String) {
        self.pseudonym = pseudonym.utf8.map(\.asciiLowercased)
        guard !pseudonym.isEmpty, self.pseudonym.allSatisfy(\.isTokenByte) else { return nil }
        line10 = Array("Via: 1.0 \(pseudonym)\r\n".utf8)
        line11 = Array("Via: 1.1 \(pseudonym)\r\n".utf8)
        line2 = Array("Via: 2 \(pseudonym)\r\n".utf8)
    }

    /// Appends our line, with the version of the received message.
    func append(received version: Version, to buffer: ByteBuffer) {
        switch version {
        case .http11: buffer.append(line11)
        case .http10: buffer.append(line10)
        case .http2: buffer.append(line2)
        }
    }

    /// Whether any element of any Via line has our name.
    public func occurs(in fields: FieldTable, of bytes: Span<UInt8>) -> Bool {
        guard fields.present.contains(.via) else { return false }
        for field in fields where field.known == .via {
            if occurs(in: bytes.extracting(field.value)) { return true }
        }
        return false
    }

    /// Searches `protocol RWS received-by [RWS comment]`, separated by commas; a comment may contain commas, and other
    /// comments.
    private func occurs(in value: Span<UInt8>) -> Bool {
        var word = 0
        var wordStart: Int?
        var depth = 0
        var offset = 0
        while offset < value.count {
            let byte = value[offset]
            if depth > 0 {
                if byte == .backslash { offset += 1 }
                if byte == UInt8(ascii: "(") { depth += 1 }
                if byte == UInt8(ascii: ")") { depth -= 1 }
            } else if byte == .comma || byte.isBlank || byte == UInt8(ascii: "(") {
                if let start = wordStart {
                    if word == 1, isOurs(value, start..<offset) { return true }
                    word += 1
                    wordStart = nil
                }
                if byte == .comma { word = 0 }
                if byte == UInt8(ascii: "(") { depth = 1 }
            } else if wordStart == nil {
                wordStart = offset
            }
            offset += 1
        }
        return word == 1 && wordStart.map { isOurs(value, $0..<value.count) } ?? false
    }

    private func isOurs(_ value: Span<UInt8>, _ range: Range<Int>) -> Bool {
        value.extracting(range).equalsIgnoringCase(pseudonym.span)
    }
}
