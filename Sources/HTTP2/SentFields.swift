import Bytes
import CNghttp2

/// The field section that is handed to the library next. One object serves a connection's whole life, so that a further
/// section allocates little.
struct SentFields {
    private let bytes = ByteBuffer(capacity: 1024)
    private var pairs: [(name: Range<Int>, value: Range<Int>, isSecret: Bool)] = []
    /// The pairs as the library wants them, while they are lent.
    private var vectors: [nghttp2_nv] = []

    mutating func removeAll() {
        bytes.clear()
        pairs.removeAll(keepingCapacity: true)
    }

    /// Adds a field, its name in lower case. No table of the connection keeps a secret one.
    mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>, isSecret: Bool = false) {
        let start = bytes.count
        bytes.reserve(name.count)
        _ = bytes.withWritable { room in
            for place in name.indices { room[place] = name[place].asciiLowercased }
            return name.count
        }
        let middle = bytes.count
        bytes.append(value)
        pairs.append((start..<middle, middle..<bytes.count, isSecret || Self.isAlwaysSecret(name)))
    }

    mutating func add(_ name: StaticString, _ value: Span<UInt8>) { add(name) { $0.append(value) } }

    mutating func add(_ name: StaticString, decimal number: Int) { add(name) { $0.append(decimal: number) } }

    /// Adds a field whose value `write` appends to the buffer.
    mutating func add(_ name: StaticString, write: (ByteBuffer) -> Void) {
        let start = bytes.count
        bytes.append(name)
        let middle = bytes.count
        write(bytes)
        pairs.append((start..<middle, middle..<bytes.count, false))
    }

    /// Adds the lines of a trailer section.
    mutating func add(lines: ByteBuffer) {
        let bytes = lines.readable
        var start = 0
        while let end = bytes.firstIndex(of: .carriageReturn, from: start) {
            if let colon = bytes.firstIndex(of: .colon, in: start..<end) {
                add(bytes.extracting(start..<colon), bytes.extracting(bytes.trimmingBlanks(colon + 1..<end)))
            }
            start = min(end + 2, bytes.count)
        }
    }

    /// Lends the section as the library wants it.
    mutating func withPairs(_ body: (UnsafeBufferPointer<nghttp2_nv>) -> Int32) -> Int32 {
        defer { vectors.removeAll(keepingCapacity: true) }
        let result = bytes.withReadable { bytes in
            guard let start = bytes.baseAddress else { return Int(NGHTTP2_ERR_NOMEM.rawValue) }
            // The library copies the text, and changes nothing.
            let base = UnsafeMutablePointer(mutating: start.assumingMemoryBound(to: UInt8.self))
            for pair in pairs {
                vectors.append(
                    nghttp2_nv(
                        name: base + pair.name.lowerBound, value: base + pair.value.lowerBound,
                        namelen: pair.name.count, valuelen: pair.value.count,
                        flags: UInt8((pair.isSecret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE).rawValue)))
            }
            return Int(vectors.withUnsafeBufferPointer(body))
        }
        return Int32(clamping: result)
    }

    private static func isAlwaysSecret(_ name: Span<UInt8>) -> Bool {
        switch name.count {
        case 6: name.equalsIgnoringCase("cookie")
        case 10: name.equalsIgnoringCase("set-cookie")
        case 13: name.equalsIgnoringCase("authorization")
        case 19: name.equalsIgnoringCase("proxy-authorization")
        default: false
        }
    }

    /// Whether the field belongs to a connection of HTTP/1.1 (RFC 9113 section 8.2.2).
    static func belongsToConnection(_ name: Span<UInt8>) -> Bool {
        switch name.count {
        case 7: name.equalsIgnoringCase("upgrade")
        case 10: name.equalsIgnoringCase("connection") || name.equalsIgnoringCase("keep-alive")
        case 16: name.equalsIgnoringCase("proxy-connection")
        case 17: name.equalsIgnoringCase("transfer-encoding")
        default: false
        }
    }
}
