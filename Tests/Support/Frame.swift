import CNghttp2

/// The fields of a section, in their order.
public typealias FieldList = [(String, String)]

/// A frame of HTTP/2 (RFC 9113 section 4.1), for peers whose frames a test writes and reads itself.
public struct Frame: Equatable {
    public let type: UInt8
    public let flags: UInt8
    public let stream: UInt32
    public let payload: [UInt8]
    /// The fields of HEADERS, as `name: value`.
    public internal(set) var fields: [String] = []
    /// The names of the fields that no table may keep (RFC 7541 section 6.2.3).
    public internal(set) var neverIndexed: [String] = []

    public var endsStream: Bool { flags & 1 != 0 && type < 2 }

    /// The code of RST_STREAM, or of GOAWAY.
    public var code: UInt32 {
        let bytes = type == 7 ? payload.dropFirst(4) : payload[...]
        return bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The bytes that a WINDOW_UPDATE grants.
    public var increment: UInt32 { payload.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF }

    public static let headerLength = 9

    /// The length of the payload that follows the header.
    public static func payloadLength(_ header: [UInt8]) -> Int {
        header.prefix(3).reduce(0) { $0 << 8 | Int($1) }
    }

    /// - Parameters:
    ///   - header: the nine bytes before the payload.
    ///   - inflater: that of the connection, for the fields of HEADERS.
    public init(header: [UInt8], payload: [UInt8], inflater: FieldInflater) {
        type = header[3]
        flags = header[4]
        stream = header[5...].reduce(0) { $0 << 8 | UInt32($1) }
        self.payload = payload
        if type == 1 { (fields, neverIndexed) = inflater.inflate(payload) }
    }

    // MARK: - Frames to send

    /// The bytes with which a client begins, before its SETTINGS (RFC 9113 section 3.4).
    public static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    public static func bytes(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        number(UInt32(payload.count)).dropFirst() + [type, flags] + number(stream) + payload
    }

    public static func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xFF) } }

    /// Literals without Huffman codes and without an index (RFC 7541 section 6.2.2).
    public static func block(_ fields: FieldList) -> [UInt8] {
        fields.flatMap { [0] + string($0.0) + string($0.1) }
    }

    /// A string of HPACK (RFC 7541 section 5.2).
    public static func string(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var (rest, length) = (bytes.count - 127, [UInt8(127)])
        while rest >= 128 {
            length.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }

    /// HEADERS, with CONTINUATION where the section does not fit into a frame.
    public static func headers(_ stream: UInt32, _ fields: FieldList, ends: Bool = true) -> [UInt8] {
        let block = block(fields)
        let starts = Array(stride(from: 0, to: max(block.count, 1), by: 16_000))
        return starts.flatMap { start in
            let flags: UInt8 = (start == 0 && ends ? 1 : 0) | (start == starts.last ? 4 : 0)
            return bytes(start == 0 ? 1 : 9, flags, stream, Array(block[start..<min(start + 16_000, block.count)]))
        }
    }

    public static func data(_ stream: UInt32, _ text: String, ends: Bool = false) -> [UInt8] {
        bytes(0, ends ? 1 : 0, stream, Array(text.utf8))
    }

    /// RST_STREAM, with CANCEL unless another code is given.
    public static func reset(_ stream: UInt32, _ code: UInt32 = 8) -> [UInt8] { bytes(3, 0, stream, number(code)) }

    /// WINDOW_UPDATE.
    public static func grant(_ stream: UInt32, _ count: UInt32) -> [UInt8] { bytes(8, 0, stream, number(count)) }
}

/// Decodes the field sections of one connection's peer.
public final class FieldInflater {
    private var inflater: OpaquePointer?

    public init() {
        guard nghttp2_hd_inflate_new(&inflater) == 0 else { fatalError("no memory") }
    }

    deinit { nghttp2_hd_inflate_del(inflater) }

    /// The fields of a section, as `name: value`, and the names of those that no table may keep.
    func inflate(_ block: [UInt8]) -> (fields: [String], neverIndexed: [String]) {
        var (fields, neverIndexed): ([String], [String]) = ([], [])
        var offset = 0
        var block = block
        while offset <= block.count {
            var (pair, flags) = (nghttp2_nv(), Int32(0))
            let count = block.count
            let read = block.withUnsafeMutableBufferPointer {
                nghttp2_hd_inflate_hd2(inflater, &pair, &flags, $0.baseAddress.map { $0 + offset }, count - offset, 1)
            }
            guard read >= 0 else { return (fields + ["error \(read)"], neverIndexed) }
            offset += read
            if UInt32(flags) & NGHTTP2_HD_INFLATE_EMIT.rawValue != 0 {
                let name = String(decoding: UnsafeBufferPointer(start: pair.name, count: pair.namelen), as: UTF8.self)
                let value = String(
                    decoding: UnsafeBufferPointer(start: pair.value, count: pair.valuelen), as: UTF8.self)
                fields.append("\(name): \(value)")
                if UInt32(pair.flags) & NGHTTP2_NV_FLAG_NO_INDEX.rawValue != 0 { neverIndexed.append(name) }
            }
            if UInt32(flags) & NGHTTP2_HD_INFLATE_FINAL.rawValue != 0 { break }
        }
        nghttp2_hd_inflate_end_headers(inflater)
        return (fields, neverIndexed)
    }
}
