import Bytes
import CNghttp2

/// The field section that is handed to the library next. The library copies it, and writes its names in lower case. One object
/// serves a connection's whole life, so that a further section allocates little.
final class SentFields {
    /// Memory for the fields as the library wants them. A value without an address is the next part of `values`.
    private var list = UnsafeMutableBufferPointer<nghttp2_nv>.allocate(capacity: 32)
    private var count = 0
    /// The values that `add` was not lent, one behind the other.
    private let values = ByteBuffer(capacity: 64)

    deinit { list.deallocate() }

    /// Adds a field. No table of the connection keeps a secret one. The name and the value must stay where they are until the
    /// section is handed over.
    func add(_ name: Span<UInt8>, _ value: Span<UInt8>, isSecret: Bool = false) {
        let isHidden = isSecret || Self.isAlwaysSecret(name)
        let flags = isHidden ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
        name.withUnsafeBufferPointer { name in
            value.withUnsafeBufferPointer { add(name, $0.baseAddress, $0.count, flags) }
        }
    }

    /// Adds a field whose value `write` appends to the buffer. The name is in lower case, since the library does not copy it.
    func add(_ name: StaticString, write: (ByteBuffer) -> Void) {
        let start = values.count
        write(values)
        let name = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        add(name, nil, values.count - start, NGHTTP2_NV_FLAG_NO_COPY_NAME)
    }

    private func add(
        _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafePointer<UInt8>?, _ length: Int, _ flags: nghttp2_nv_flag
    ) {
        if count == list.count { grow() }
        // The library changes nothing.
        list[count] = nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.baseAddress), value: UnsafeMutablePointer(mutating: value),
            namelen: name.count, valuelen: length, flags: UInt8(flags.rawValue))
        count += 1
    }

    private func grow() {
        let larger = UnsafeMutableBufferPointer<nghttp2_nv>.allocate(capacity: 2 * list.count)
        _ = larger.initialize(fromContentsOf: list)
        list.deallocate()
        list = larger
    }

    /// Adds the lines of a trailer section.
    func add(lines: ByteBuffer) {
        let bytes = lines.readable
        var start = 0
        while let end = bytes.firstIndex(of: .carriageReturn, from: start) {
            if let colon = bytes.firstIndex(of: .colon, in: start..<end) {
                add(bytes.extracting(start..<colon), bytes.extracting(bytes.trimmingBlanks(colon + 1..<end)))
            }
            start = min(end + 2, bytes.count)
        }
    }

    /// Lends the section as the library wants it, and empties it.
    func handOver(_ body: (UnsafeBufferPointer<nghttp2_nv>) -> Int32) -> Int32 {
        defer {
            count = 0
            values.clear()
        }
        let result = values.withReadable { bytes in
            var next = UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(to: UInt8.self)
            for place in 0..<count where list[place].value == nil {
                list[place].value = next
                next? += list[place].valuelen
            }
            return Int(body(UnsafeBufferPointer(rebasing: list[..<count])))
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
