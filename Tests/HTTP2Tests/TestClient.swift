import Bytes
import HTTP
import TestSupport
import Testing

@testable import HTTP2

/// The frames of a client, written by hand, and what a `ServerConnection` answers.
final class TestClient {
    let server: ServerConnection
    private(set) var frames: [Frame] = []
    private let output = ByteBuffer(capacity: 1024)
    private let inflater = FieldInflater()
    var now: UInt64 = 1_000_000_000

    init(_ form: RequestForm = .absolute, change: (inout ServerConnection.Settings) -> Void = { _ in }) throws {
        var settings = ServerConnection.Settings(form: form)
        change(&settings)
        server = try ServerConnection(settings)
        send(Frame.preface + Frame.bytes(4, 0, 0, []))
    }

    // MARK: - What it sends

    static let get: FieldList = [
        (":method", "GET"), (":scheme", "http"), (":authority", "a.test"), (":path", "/"),
    ]

    func headers(_ stream: UInt32, _ fields: FieldList = TestClient.get, ends: Bool = true) {
        send(Frame.headers(stream, fields, ends: ends))
    }

    func data(_ stream: UInt32, _ text: String, ends: Bool = false) {
        send(Frame.data(stream, text, ends: ends))
    }

    func reset(_ stream: UInt32, _ code: UInt32 = 8) { send(Frame.reset(stream, code)) }

    func grant(_ stream: UInt32, _ count: UInt32) { send(Frame.grant(stream, count)) }

    func send(_ bytes: [UInt8]) {
        server.receive(bytes.span, at: now)
        take()
    }

    // MARK: - What it gets

    /// Takes what the server has to send.
    func take() {
        let output = output
        server.produce(into: output, limit: .max, at: now)
        while output.count >= Frame.headerLength {
            let header = Array(copying: output.readable.extracting(first: Frame.headerLength))
            let end = Frame.headerLength + Frame.payloadLength(header)
            guard output.count >= end else { return }
            let payload = (Frame.headerLength..<end).map { output.readable[$0] }
            frames.append(Frame(header: header, payload: payload, inflater: inflater))
            output.consume(end)
        }
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
