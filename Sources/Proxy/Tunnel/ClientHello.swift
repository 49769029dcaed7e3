import Bytes

/// The first message of a TLS client (RFC 8446 section 4.1.2), as far as its first record has it.
struct ClientHello {
    /// The host that the client asks for (RFC 6066 section 3), in lower case and without a trailing dot. Nil if it names
    /// none, if it writes something that is no host name, or if its hello is not complete in one record.
    let serverName: String?

    private static let recordHeader = 5
    private static let longestName = 253
    private static let namesServer = 0

    init(_ bytes: Span<UInt8>) { serverName = Self.name(in: bytes) }

    private static func name(in bytes: Span<UInt8>) -> String? {
        guard SpokenProtocol.told(by: bytes) == .tls, SpokenProtocol.hasFirstRecord(bytes) else { return nil }
        var record = Reader(place: 3, end: bytes.count)
        guard let length = record.number(of: 2, in: bytes), var message = record.part(length),
            message.number(of: 1, in: bytes) == 1, let size = message.number(of: 3, in: bytes),
            var hello = message.part(size)
        else { return nil }
        // The version and the random bytes, then the session, the ciphers and the compressions.
        guard hello.part(34) != nil else { return nil }
        for width in [1, 2, 1] {
            guard let length = hello.number(of: width, in: bytes), hello.part(length) != nil else { return nil }
        }
        guard let total = hello.number(of: 2, in: bytes), var extensions = hello.part(total) else { return nil }
        var found: String?
        while !extensions.isAtEnd {
            guard let kind = extensions.number(of: 2, in: bytes), let length = extensions.number(of: 2, in: bytes),
                let content = extensions.part(length)
            else { return nil }
            guard kind == namesServer else { continue }
            // Two names could be read differently by the server.
            guard found == nil, let name = host(in: content, of: bytes) else { return nil }
            found = name
        }
        return found
    }

    /// The only name in the content of the extension.
    private static func host(in content: Reader, of bytes: Span<UInt8>) -> String? {
        var content = content
        guard let length = content.number(of: 2, in: bytes), var list = content.part(length), content.isAtEnd,
            list.number(of: 1, in: bytes) == 0, let size = list.number(of: 2, in: bytes), let name = list.part(size),
            list.isAtEnd
        else { return nil }
        let written = bytes.extracting(name.rest)
        let host = written.extracting(written.bareHost)
        guard (1...longestName).contains(host.count) else { return nil }
        for index in host.indices where !host[index].isOfHostName { return nil }
        return IPAddress(host) == nil ? host.text.lowercased() : nil
    }

    /// A part of the bytes that is read from its front.
    private struct Reader {
        var place: Int
        let end: Int

        var isAtEnd: Bool { place >= end }
        var rest: Range<Int> { place..<max(place, end) }

        /// Reads a number of one to three bytes; nil if fewer are left.
        mutating func number(of width: Int, in bytes: Span<UInt8>) -> Int? {
            guard end - place >= width else { return nil }
            defer { place += width }
            return Int(truncatingIfNeeded: bytes.number(in: place..<place + width))
        }

        /// Takes the next bytes as a part of their own; nil if fewer are left.
        mutating func part(_ length: Int) -> Reader? {
            guard length <= end - place else { return nil }
            defer { place += length }
            return Reader(place: place, end: place + length)
        }
    }
}
