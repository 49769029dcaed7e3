/// The parts of a ClientHello that the tests check (RFC 8446 section 4.1.2).
struct ClientHello: Sendable {
    /// The extensions by type number.
    private var extensions: [Int: [UInt8]] = [:]

    /// - Parameter record: the first record of a connection, its header included.
    init?(record: [UInt8]) {
        var reader = Reader(bytes: record[...])
        guard reader.number(1) == 22, reader.skip(4), reader.number(1) == 1, reader.skip(3 + 2 + 32),
            reader.vector(1) != nil, reader.vector(2) != nil, reader.vector(1) != nil, let list = reader.vector(2)
        else { return nil }
        var rest = Reader(bytes: list)
        while let type = rest.number(2), let content = rest.vector(2) { extensions[type] = Array(content) }
    }

    var serverName: String? {
        guard let bytes = extensions[0] else { return nil }
        var reader = Reader(bytes: bytes[...])
        guard reader.skip(3), let name = reader.vector(2) else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

    var protocols: [String] {
        var found: [String] = []
        var reader = Reader(bytes: (extensions[16] ?? []).dropFirst(2))
        while let name = reader.vector(1) { found.append(String(decoding: name, as: UTF8.self)) }
        return found
    }

    /// Whether a session of TLS 1.3 is offered.
    var offersSession: Bool { extensions[41] != nil }
    var asksForStaple: Bool { extensions[5] != nil }
    var allowsPostHandshakeAuthentication: Bool { extensions[49] != nil }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        mutating func skip(_ count: Int) -> Bool {
            guard bytes.count >= count else { return false }
            bytes = bytes.dropFirst(count)
            return true
        }

        mutating func number(_ size: Int) -> Int? {
            guard bytes.count >= size else { return nil }
            defer { bytes = bytes.dropFirst(size) }
            return bytes.prefix(size).reduce(0) { $0 << 8 | Int($1) }
        }

        /// A vector whose length is a number of that size.
        mutating func vector(_ size: Int) -> ArraySlice<UInt8>? {
            guard let count = number(size), bytes.count >= count else { return nil }
            defer { bytes = bytes.dropFirst(count) }
            return bytes.prefix(count)
        }
    }
}
