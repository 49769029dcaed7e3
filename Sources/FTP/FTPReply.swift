import Bytes

/// What a server said last: a code of three digits and a text (RFC 959 section 4.2).
public struct FTPReply: Sendable, Equatable, CustomStringConvertible {
    public let code: Int
    /// Printable ASCII.
    public let text: String

    private static let longest = 200

    public init(code: Int, text: String) {
        self.code = code
        self.text = text
    }

    /// Of a line that ends a reply; nil for any other.
    init?(line: Span<UInt8>) {
        guard line.count >= 4, line[3] == .space, line[0] >= 0x31, line[0] <= 0x35 else { return nil }
        var code = 0
        for offset in 0..<3 {
            guard line[offset].isDigit else { return nil }
            code = code * 10 + Int(line[offset] - 0x30)
        }
        self.code = code
        var text: [UInt8] = []
        for offset in 4..<line.count where line[offset] != .carriageReturn && line[offset] != .lineFeed {
            guard text.count < Self.longest else { break }
            text.append(line[offset] >= 0x20 && line[offset] < 0x7F ? line[offset] : UInt8(ascii: "?"))
        }
        self.text = String(decoding: text, as: UTF8.self)
    }

    public var description: String { text.isEmpty ? "\(code)" : "\(code) \(text)" }
}
