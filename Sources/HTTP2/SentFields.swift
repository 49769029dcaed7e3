import Bytes
import CNghttp2

/// The field section that is handed to the library next. One object serves a connection's whole life, so that a further
/// section allocates little.
struct SentFields {
    private var bytes: [UInt8] = []
    private var pairs: [(name: Range<Int>, value: Range<Int>, isSecret: Bool)] = []

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        pairs.removeAll(keepingCapacity: true)
    }

    /// Adds a field, its name in lower case. No table of the connection keeps a secret one.
    mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>, isSecret: Bool = false) {
        let start = bytes.count
        for place in name.indices { bytes.append(name[place].asciiLowercased) }
        let middle = bytes.count
        for place in value.indices { bytes.append(value[place]) }
        pairs.append((start..<middle, middle..<bytes.count, isSecret || Self.isAlwaysSecret(name)))
    }

    mutating func add(_ name: StaticString, _ value: Span<UInt8>) {
        let start = bytes.count
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        let middle = bytes.count
        for place in value.indices { bytes.append(value[place]) }
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
        let pairs = pairs
        return bytes.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return Int32(NGHTTP2_ERR_NOMEM.rawValue) }
            let fields = pairs.map { pair in
                nghttp2_nv(
                    name: base + pair.name.lowerBound, value: base + pair.value.lowerBound, namelen: pair.name.count,
                    valuelen: pair.value.count,
                    flags: UInt8((pair.isSecret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE).rawValue))
            }
            return fields.withUnsafeBufferPointer(body)
        }
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
