import Bytes
import IO
import TLS
import TestSupport
import Transport

/// A client's connection of HTTP/2 with TLS, whose frames the bench writes and reads itself.
final class FrameClient {
    private let stream: ByteStream
    /// Small, since hundreds of clients are held idle.
    private let received = ByteBuffer(capacity: 4096)
    private let inflater = FieldInflater()
    /// The number of the next request's stream.
    private var nextStream: UInt32 = 1
    private static let patience: Milliseconds = 15_000

    private init(_ stream: ByteStream) { self.stream = stream }

    /// Connects to a listener with TLS, and sends what a connection begins with.
    /// - Parameter security: it offers HTTP/2.
    static func connect(
        to port: UInt16, _ security: LoadSecurity, on loop: EventLoop
    ) async throws(BenchError) -> FrameClient {
        let wakeup = Wakeup()
        let stream: ByteStream
        do {
            stream = try await Connector.connect(to: [.loopback(port)], within: patience, on: loop, wakeup: wakeup)
        } catch {
            throw .connection(error)
        }
        stream.wakeup = wakeup
        let client = FrameClient(stream)
        do {
            try await security.secure(stream, within: patience)
            guard stream.tls?.speaksHTTP2 == true else { throw BenchError.contestant("the server chose HTTP/1.1") }
            try await client.send(Frame.preface + Frame.bytes(4, 0, 0, []) + Frame.bytes(4, 1, 0, []))
        } catch {
            client.close()
            throw .contestant("no HTTP/2 with TLS: \(error)")
        }
        return client
    }

    func send(_ bytes: [UInt8]) async throws(IOError) {
        stream.setDeadline(after: Self.patience)
        let buffer = ByteBuffer(capacity: bytes.count)
        buffer.append(bytes)
        try await stream.write(from: buffer)
    }

    /// Sends a GET, whose response is not read.
    /// - Returns: the number of its stream.
    @discardableResult
    func request(_ path: String, origin: UInt16) async throws(BenchError) -> UInt32 {
        let number = nextStream
        nextStream += 2
        do {
            try await send(Frame.headers(number, Route.streamHead(path, origin: origin)))
        } catch {
            throw .connection(error)
        }
        return number
    }

    /// Sends a GET, and reads its response to the end.
    func get(_ path: String, origin: UInt16) async throws(BenchError) {
        let number = try await request(path, origin: origin)
        do throws(IOError) {
            var isSuccess = false
            while let frame = try await next() {
                guard frame.stream == number else { continue }
                if frame.fields.contains(":status: 200") { isSuccess = true }
                guard frame.endsStream else { continue }
                if isSuccess { return }
                break
            }
        } catch {
            throw .contestant("a request on a stream got no response: \(error)")
        }
        throw .contestant("a request on a stream was not answered with 200")
    }

    /// Reads to the end of the connection.
    /// - Returns: the code of GOAWAY, if one came.
    /// - Throws: `timedOut` if the proxy does not end it.
    func readToEnd() async throws(IOError) -> UInt32? {
        var code: UInt32?
        do throws(IOError) {
            while let frame = try await next() {
                if frame.type == 7 { code = frame.code }
            }
        } catch .timedOut {
            throw .timedOut
        } catch {
            // A reset of the TCP connection, which may overtake the frames.
        }
        return code
    }

    func close() { stream.close() }

    /// The next frame; nil at the end of the connection.
    private func next() async throws(IOError) -> Frame? {
        guard let header = try await take(Frame.headerLength),
            let payload = try await take(Frame.payloadLength(header))
        else { return nil }
        return Frame(header: header, payload: payload, inflater: inflater)
    }

    private func take(_ count: Int) async throws(IOError) -> [UInt8]? {
        let received = received
        while received.count < count {
            received.reserve(count - received.count)
            guard try await stream.read(into: received) > 0 else { return nil }
        }
        let bytes = received.readable.extracting(first: count).array
        received.consume(count)
        return bytes
    }
}
