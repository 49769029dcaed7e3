import Bytes
import CNghttp2
import HTTP
import Testing

@testable import HTTP2

typealias Fields = [(String, String)]

/// The frames of a client, written by hand, and what a `ServerConnection` answers.
final class TestClient {
    struct Frame: Equatable {
        let type: UInt8
        let flags: UInt8
        let stream: UInt32
        var payload: [UInt8]
        /// The fields of HEADERS, as `name: value`.
        var fields: [String] = []

        var endsStream: Bool { flags & 1 != 0 && type < 2 }
        /// The code of RST_STREAM, or of GOAWAY.
        var code: UInt32 {
            let bytes = type == 7 ? payload.dropFirst(4) : payload[...]
            return bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    let server: ServerConnection
    private(set) var frames: [Frame] = []
    private let output = ByteBuffer(capacity: 1024)
    private var inflater: OpaquePointer?
    var now: UInt64 = 1_000_000_000

    init(_ form: RequestForm = .absolute, change: (inout ServerConnection.Settings) -> Void = { _ in }) throws {
        var settings = ServerConnection.Settings(form: form)
        change(&settings)
        server = try ServerConnection(settings)
        try #require(nghttp2_hd_inflate_new(&inflater) == 0)
        send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Self.frame(4, 0, 0, []))
    }

    deinit { nghttp2_hd_inflate_del(inflater) }

    // MARK: - What it sends

    static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        let count = UInt32(payload.count)
        return [UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF), type, flags]
            + number(stream) + payload
    }

    static func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xFF) } }

    /// Literals without Huffman codes and without an index (RFC 7541 section 6.2.2).
    static func block(_ fields: Fields) -> [UInt8] {
        fields.flatMap { [0] + string($0.0) + string($0.1) }
    }

    private static func string(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var (rest, length) = (bytes.count - 127, [UInt8(127)])
        while rest >= 128 {
            length.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }

    static let get: Fields = [
        (":method", "GET"), (":scheme", "http"), (":authority", "a.test"), (":path", "/"),
    ]

    func headers(_ stream: UInt32, _ fields: Fields = TestClient.get, ends: Bool = true) {
        let block = Self.block(fields)
        let pieces = stride(from: 0, to: max(block.count, 1), by: 16_000).map {
            Array(block[$0..<min($0 + 16_000, block.count)])
        }
        for (index, piece) in pieces.enumerated() {
            let flags: UInt8 = (index == 0 && ends ? 1 : 0) | (index == pieces.count - 1 ? 4 : 0)
            send(Self.frame(index == 0 ? 1 : 9, flags, stream, piece))
        }
    }

    func data(_ stream: UInt32, _ text: String, ends: Bool = false) {
        send(Self.frame(0, ends ? 1 : 0, stream, Array(text.utf8)))
    }

    func reset(_ stream: UInt32, _ code: UInt32 = 8) { send(Self.frame(3, 0, stream, Self.number(code))) }

    func grant(_ stream: UInt32, _ count: UInt32) { send(Self.frame(8, 0, stream, Self.number(count))) }

    func send(_ bytes: [UInt8]) {
        server.receive(bytes.span, at: now)
        take()
    }

    // MARK: - What it gets

    /// Takes what the server has to send.
    func take() {
        let output = output
        server.produce(into: output, limit: .max, at: now)
        while output.count >= 9 {
            let bytes = output.readable
            let length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
            guard bytes.count >= 9 + length else { return }
            let stream = (5..<9).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[$1]) }
            let payload = (9..<9 + length).map { bytes[$0] }
            var frame = Frame(type: bytes[3], flags: bytes[4], stream: stream, payload: payload)
            if frame.type == 1 { frame.fields = inflate(frame.payload) }
            frames.append(frame)
            output.consume(9 + length)
        }
    }

    private func inflate(_ block: [UInt8]) -> [String] {
        var fields: [String] = []
        var offset = 0
        var block = block
        while offset <= block.count {
            var (pair, flags) = (nghttp2_nv(), Int32(0))
            let count = block.count
            let read = block.withUnsafeMutableBufferPointer {
                nghttp2_hd_inflate_hd2(inflater, &pair, &flags, $0.baseAddress.map { $0 + offset }, count - offset, 1)
            }
            guard read >= 0 else { return fields + ["error \(read)"] }
            offset += read
            if UInt32(flags) & NGHTTP2_HD_INFLATE_EMIT.rawValue != 0 {
                let name = String(decoding: UnsafeBufferPointer(start: pair.name, count: pair.namelen), as: UTF8.self)
                let value = String(
                    decoding: UnsafeBufferPointer(start: pair.value, count: pair.valuelen), as: UTF8.self)
                fields.append("\(name): \(value)")
            }
            if UInt32(flags) & NGHTTP2_HD_INFLATE_FINAL.rawValue != 0 { break }
        }
        nghttp2_hd_inflate_end_headers(inflater)
        return fields
    }

    func frames(of stream: UInt32) -> [Frame] { frames.filter { $0.stream == stream } }

    /// The content of a stream's DATA.
    func content(of stream: UInt32) -> String {
        String(decoding: frames(of: stream).filter { $0.type == 0 }.flatMap(\.payload), as: UTF8.self)
    }

    /// The error with which a stream was reset.
    func resetCode(of stream: UInt32) -> UInt32? { frames(of: stream).first { $0.type == 3 }?.code }
}

extension RequestStream {
    /// The text that can be read now.
    func readAll() -> String {
        let buffer = ByteBuffer(capacity: 256 * 1024)
        while case .moved = read(into: buffer, limit: .max) {}
        return String(decoding: Array(copying: buffer.readable), as: UTF8.self)
    }

    @discardableResult
    func writeAll(_ text: String) -> Movement {
        let buffer = ByteBuffer(capacity: text.utf8.count)
        buffer.append(text)
        return write(from: buffer, limit: .max)
    }
}
