import Bytes
import IO
import Transport

/// One kept-alive connection of the load generator.
final class Client {
    private let stream: ByteStream
    /// Small, since thousands of clients are held idle.
    private let buffer = ByteBuffer(capacity: 4096)
    /// Milliseconds for one answer; enough for a contestant under valgrind, which is fifty times slower.
    private static let patience: Milliseconds = 15_000

    private init(_ stream: ByteStream) { self.stream = stream }

    /// Connects, and opens the tunnel and TLS where the route has them.
    /// - Parameter security: what TLS is spoken with.
    static func connect(
        _ route: Route, origin: UInt16, security: LoadSecurity?, on loop: EventLoop
    ) async throws(BenchError) -> Client {
        let wakeup = Wakeup()
        let stream: ByteStream
        do {
            stream = try await Connector.connect(
                to: [.loopback(route.port)], within: patience, on: loop, wakeup: wakeup)
        } catch {
            throw .connection(error)
        }
        stream.wakeup = wakeup
        let client = Client(stream)
        if route.opensTunnel {
            do throws(IOError) {
                let length = try await client.ask(Route.connectRequest(origin: origin))
                guard length ?? 0 == 0 else { throw .endOfStream }
            } catch {
                client.close()
                throw .contestant("CONNECT was not answered with 200: \(error)")
            }
        }
        if route.isSecure, let security {
            do {
                try await security.secure(stream, within: patience)
            } catch {
                client.close()
                throw .contestant("no TLS: \(error)")
            }
        }
        return client
    }

    /// Sends a request and receives its answer, whose body is dropped.
    /// - Returns: the size of the body.
    func exchange(_ request: [UInt8]) async throws(BenchError) -> Int {
        do throws(IOError) {
            guard let length = try await ask(request) else { throw .endOfStream }
            try await discard(length)
            return length
        } catch {
            throw .contestant("a request was not answered with 200 but with `\(firstLine)` (\(error))")
        }
    }

    func close() { stream.close() }

    /// Sends a request and reads the head of the answer.
    /// - Returns: its Content-Length.
    /// - Throws: `endOfStream` also if the response is not a 200, which is then in the buffer.
    private func ask(_ request: [UInt8]) async throws(IOError) -> Int? {
        stream.setDeadline(after: Self.patience)
        buffer.append(request)
        try await stream.write(from: buffer)
        while true {
            switch takeHead() {
            case .incomplete:
                guard buffer.writableCount > 0, try await stream.read(into: buffer) > 0 else { throw .endOfStream }
            case .other: throw .endOfStream
            case .success(let length): return length
            }
        }
    }

    private enum Answer {
        case incomplete
        case success(length: Int?)
        /// Any status but 200.
        case other
    }

    /// Takes the head off the buffer if it is there and says 200.
    private func takeHead() -> Answer {
        let buffer = buffer
        let bytes = buffer.readable
        guard let head = Head(bytes) else { return .incomplete }
        guard bytes.extracting(head.word(1, of: bytes)).equals("200") else { return .other }
        let length = head.value(of: "content-length", in: bytes).flatMap { Head.number(in: $0, of: bytes) }
        buffer.consume(head.length)
        return .success(length: length)
    }

    /// The start of what the buffer holds, for a message.
    private var firstLine: String {
        let buffer = buffer
        let bytes = buffer.readable
        let end = bytes.firstIndex(of: .carriageReturn) ?? bytes.count
        return bytes.extracting(0..<min(80, end)).text
    }

    private func discard(_ length: Int) async throws(IOError) {
        let held = min(buffer.count, length)
        buffer.consume(held)
        var rest = length - held
        while rest > 0, !stream.isPlain {
            let count = try await stream.read(into: buffer)
            guard count > 0 else { throw .endOfStream }
            rest -= count
            buffer.consume(count)
        }
        while rest > 0 {
            switch stream.socket?.tryDiscard(limit: rest) ?? .endOfStream {
            case .moved(let count): rest -= count
            case .endOfStream: throw .endOfStream
            case .failed(let errno): throw .system(errno: errno, operation: "cannot read")
            case .wouldBlock:
                stream.setDeadline(after: Self.patience)
                await stream.channel.waitForEvent()
                try stream.check()
            }
        }
    }
}
