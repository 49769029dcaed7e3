import Bytes
import HTTP
import TestSupport
import Testing

@testable import HTTP2

extension ServerConnection {
    /// The streams that have changed since the last call.
    func takeChanged() -> [RequestStream] { Array(sequence(state: self) { $0.nextChanged() }) }
}

extension ClientConnection {
    /// The streams that have changed since the last call.
    func takeChanged() -> [ResponseStream] { Array(sequence(state: self) { $0.nextChanged() }) }
}

/// The peer of a connection under test. Its frames are written by hand, and those that it gets are kept.
class TestPeer {
    private let connection: MultiplexedConnection
    private(set) var frames: [Frame] = []
    private let output = ByteBuffer(capacity: 1024)
    private let inflater = FieldInflater()
    var now: UInt64 = 1_000_000_000

    init(of connection: MultiplexedConnection) { self.connection = connection }

    // MARK: - What it sends

    func data(_ stream: UInt32, _ text: String, ends: Bool = false) {
        send(Frame.data(stream, text, ends: ends))
    }

    func reset(_ stream: UInt32, _ code: UInt32 = 8) { send(Frame.reset(stream, code)) }

    func grant(_ stream: UInt32, _ count: UInt32) { send(Frame.grant(stream, count)) }

    func send(_ bytes: [UInt8]) {
        connection.receive(bytes.span, at: now)
        take()
    }

    // MARK: - What it gets

    /// Takes what the connection has to send.
    func take() {
        let output = output
        connection.produce(into: output, limit: .max, at: now)
        if output.count >= Frame.preface.count, output.readable.extracting(first: 3).equals("PRI" as StaticString) {
            output.consume(Frame.preface.count)
        }
        while output.count >= Frame.headerLength {
            let header = output.readable.extracting(first: Frame.headerLength).array
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

    /// The bytes that WINDOW_UPDATE has granted to a stream, or with 0 to the connection.
    func granted(to stream: UInt32) -> UInt32 {
        frames(of: stream).filter { $0.type == 8 }.reduce(0) { $0 + $1.increment }
    }
}

/// The frames of a client, and what a `ServerConnection` answers.
final class TestClient: TestPeer {
    let server: ServerConnection

    init(_ form: RequestForm = .absolute, change: (inout ServerConnection.Settings) -> Void = { _ in }) throws {
        var settings = ServerConnection.Settings(form: form)
        change(&settings)
        server = try ServerConnection(settings)
        super.init(of: server)
        send(Frame.preface + Frame.bytes(4, 0, 0, []))
    }

    static let get: FieldList = [
        (":method", "GET"), (":scheme", "http"), (":authority", "a.test"), (":path", "/"),
    ]

    func headers(_ stream: UInt32, _ fields: FieldList = TestClient.get, ends: Bool = true) {
        send(Frame.headers(stream, fields, ends: ends))
    }
}

/// The frames of a server, and what a `ClientConnection` sends.
final class TestServer: TestPeer {
    let client: ClientConnection

    /// - Parameter settings: the names and values in the server's SETTINGS; nil if it sends none.
    init(
        settings: [(UInt8, UInt32)]? = [], windows: WindowBudget = WindowBudget(),
        change: (inout ClientConnection.Settings) -> Void = { _ in }
    ) throws {
        var own = ClientConnection.Settings()
        change(&own)
        client = try ClientConnection(own, windows: windows)
        super.init(of: client)
        take()
        if let settings { send(Frame.bytes(4, 0, 0, settings.flatMap { [0, $0.0] + Frame.number($0.1) })) }
    }

    static let ok: FieldList = [(":status", "200")]
    static let get = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"
    static let post = "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// Opens a stream and sends a request's text on it.
    func request(_ text: String = TestServer.get, scheme: Scheme = .https) -> ResponseStream {
        let stream = client.open(scheme: scheme)
        stream.writeAll(text)
        take()
        return stream
    }

    func headers(_ stream: UInt32, _ fields: FieldList = TestServer.ok, ends: Bool = true) {
        send(Frame.headers(stream, fields, ends: ends))
    }

    /// GOAWAY.
    func goAway(_ last: UInt32, _ code: UInt32 = 0) {
        send(Frame.bytes(7, 0, 0, Frame.number(last) + Frame.number(code)))
    }
}

extension MultiplexedStream {
    /// The text that can be read now.
    func readAll() -> String {
        let buffer = ByteBuffer(capacity: 512 * 1024)
        while buffer.writableCount > 0, case .moved = read(into: buffer, limit: .max) {}
        return String(decoding: buffer.readable.array, as: UTF8.self)
    }

    @discardableResult
    func writeAll(_ text: String) -> Movement {
        let buffer = ByteBuffer(capacity: text.utf8.count)
        buffer.append(text)
        return write(from: buffer, limit: .max)
    }

    /// The movement of a read.
    func readMovement() -> Movement { read(into: ByteBuffer(capacity: 64), limit: 64) }
}
