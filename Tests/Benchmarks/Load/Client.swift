import Bytes
import IO
import Transport

/// One kept-alive connection of the load generator.
final class Client {
    private let stream: ByteStream
    /// Small, since thousands of clients are held idle.
    private let buffer = ByteBuffer(capacity: 4096)
    /// Milliseconds for one answer; generous, since a contestant under valgrind is fifty times slower.
    private static let patience = 60_000

    private init(_ stream: ByteStream) { self.stream = stream }

    /// Connects, and opens the tunnel where the route has one.
    static func connect(_ route: Route, origin: UInt16, on loop: EventLoop) async throws(BenchError) -> Client {
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
        if case .tunnel = route {
            do throws(IOError) {
                let length = try await client.ask(Route.connectRequest(origin: origin))
                guard length ?? 0 == 0 else { throw .endOfStream }
            } catch {
                client.close()
                throw .contestant("CONNECT was not answered with 200: \(error)")
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
            let shown = buffer.readable.extracting(0..<min(60, buffer.count)).text.split(separator: "\r\n").first ?? ""
            throw .contestant("a request was not answered with 200: \(error) \(shown)")
        }
    }

    func close() { stream.close() }

    /// Sends a request and reads the head of the answer.
    /// - Returns: its Content-Length.
    /// - Throws: `endOfStream` as well when the answer is no 200, which then stands in the buffer.
    private func ask(_ request: [UInt8]) async throws(IOError) -> Int? {
        stream.setDeadline(after: Self.patience)
        buffer.append(request)
        try await stream.write(from: buffer)
        while true {
            if let head = Head(buffer.readable) {
                let bytes = buffer.readable
                guard bytes.extracting(head.word(1, of: bytes)).equals("200") else { throw .endOfStream }
                let length = head.value(of: "content-length", in: bytes).flatMap { Head.number(in: $0, of: bytes) }
                buffer.consume(head.length)
                return length
            }
            guard buffer.writableCount > 0, try await stream.read(into: buffer) > 0 else { throw .endOfStream }
        }
    }

    private func discard(_ length: Int) async throws(IOError) {
        let held = min(buffer.count, length)
        buffer.consume(held)
        var rest = length - held
        while rest > 0 {
            switch stream.socket.tryDiscard(limit: rest) {
            case .moved(let count): rest -= count
            case .endOfStream: throw .endOfStream
            case .failed(let errno): throw .system(errno: errno, operation: "cannot read")
            case .wouldBlock:
                stream.setDeadline(after: Self.patience)
                await stream.socket.waitForEvent()
                try stream.check()
            }
        }
    }
}
