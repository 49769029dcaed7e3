import Bytes

/// The header by which a load balancer says whose connection it passes on: the PROXY protocol, versions 1 and 2.
enum BalancerHeader: Equatable {
    /// The bytes are the beginning of a header.
    case incomplete
    /// - Parameters:
    ///   - length: the number of bytes of the header.
    ///   - client: the client's address; nil if the connection is the balancer's own, or it does not know the client.
    case complete(length: Int, client: IPAddress?)
    case malformed

    /// The limit of a header's bytes: that of version 2, whose extensions are passed over.
    static let longest = Self.fixedLength + Self.longestRest
    private static let longestRest = 4096
    private static let fixedLength = 16
    /// The longest header of version 1, with its line end.
    private static let longestLine = 107
    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
    private static let word = Array("PROXY ".utf8)

    /// - Parameter bytes: all that has come.
    init(_ bytes: Span<UInt8>) {
        if bytes.isEmpty {
            self = .incomplete
        } else if bytes[0] == Self.signature[0] {
            self = Self.binary(bytes)
        } else {
            self = Self.line(bytes)
        }
    }

    private static func begins(_ bytes: Span<UInt8>, with expected: [UInt8]) -> Bool {
        for place in 0..<min(bytes.count, expected.count) where bytes[place] != expected[place] { return false }
        return true
    }

    // MARK: - Version 1

    private static func line(_ bytes: Span<UInt8>) -> Self {
        guard begins(bytes, with: word) else { return .malformed }
        guard let feed = bytes.extracting(first: min(bytes.count, longestLine)).firstIndex(of: .lineFeed) else {
            return bytes.count >= longestLine ? .malformed : .incomplete
        }
        guard feed > word.count, bytes[feed - 1] == .carriageReturn else { return .malformed }
        let words = bytes.extracting(word.count..<feed - 1).text.split(separator: " ", omittingEmptySubsequences: false)
        // What follows this word is to be ignored.
        if words.first == "UNKNOWN" { return .complete(length: feed + 1, client: nil) }
        guard words.count == 5, let family = family(words[0]), let client = address(words[1], family),
            address(words[2], family) != nil, isPort(words[3]), isPort(words[4])
        else { return .malformed }
        return .complete(length: feed + 1, client: client)
    }

    private static func family(_ word: Substring) -> IPAddress.Family? {
        switch word {
        case "TCP4": .v4
        case "TCP6": .v6
        default: nil
        }
    }

    private static func address(_ text: Substring, _ family: IPAddress.Family) -> IPAddress? {
        IPAddress(text).flatMap { $0.family == family ? $0 : nil }
    }

    private static func isPort(_ text: Substring) -> Bool {
        (1...5).contains(text.utf8.count) && text.utf8.allSatisfy(\.isDigit) && UInt16(text) != nil
            && (text == "0" || text.utf8.first != UInt8(ascii: "0"))
    }

    // MARK: - Version 2

    private static func binary(_ bytes: Span<UInt8>) -> Self {
        guard begins(bytes, with: signature) else { return .malformed }
        guard bytes.count >= fixedLength else { return .incomplete }
        let (command, family) = (bytes[12], bytes[13])
        let rest = Int(bytes[14]) << 8 | Int(bytes[15])
        guard command == 0x20 || command == 0x21, rest <= longestRest else { return .malformed }
        let length = fixedLength + rest
        guard bytes.count >= length else { return .incomplete }
        // LOCAL: the balancer's own connection, such as a health check.
        if command == 0x20 { return .complete(length: length, client: nil) }
        let addresses = bytes.extracting(fixedLength..<length)
        switch family {
        case 0x11 where rest >= 12:
            return .complete(
                length: length, client: IPAddress(v4: UInt32(truncatingIfNeeded: addresses.number(in: 0..<4))))
        case 0x21 where rest >= 36:
            let client = IPAddress(v6High: addresses.number(in: 0..<8), low: addresses.number(in: 8..<16))
            return .complete(length: length, client: client)
        // Unspecified, and a unix socket: the client has no address.
        case 0x00, 0x31: return .complete(length: length, client: nil)
        default: return .malformed
        }
    }
}
