import Bytes
import IO

/// Moves a counted number of bytes from one stream to another, through the kernel where there are many and neither side
/// has TLS.
///
/// One step at a time: it reads only when all that was read has been written, which is the back-pressure.
public struct BodyRelay {
    private let source: ByteStream
    private let target: ByteStream
    /// Milliseconds without a byte after which a side has failed.
    private let idle: Int
    private let loop: EventLoop

    /// From this size on, pipes pay for their set-up.
    public static let spliceThreshold = 256 * 1024

    public init(from source: ByteStream, to target: ByteStream, idle: Int, on loop: EventLoop) {
        self.source = source
        self.target = target
        self.idle = idle
        self.loop = loop
    }

    /// Moves `count` bytes.
    ///
    /// - Parameter interruption: a stream whose being readable ends the relay early, such as the upstream that answers
    ///   before it has read the whole request.
    /// - Returns: the bytes moved; fewer than `count` only after an interruption.
    /// - Throws: `source(.endOfStream)` when the source ends too early.
    public func move(_ count: Int, unless interruption: ByteStream? = nil) async throws(RelayError) -> Int {
        if count >= Self.spliceThreshold, source.isPlain, target.isPlain, let pipe = loop.pipes.take() {
            defer { loop.pipes.give(pipe) }
            return try await splice(count, through: pipe, unless: interruption)
        }
        let buffer = count > BufferPool.regular ? loop.buffers.takeLarge() : loop.buffers.take()
        defer { loop.buffers.give(buffer) }
        return try await copy(count, through: buffer, unless: interruption)
    }

    private func copy(
        _ count: Int, through buffer: ByteBuffer, unless interruption: ByteStream?
    ) async throws(RelayError) -> Int {
        var unread = count
        while unread > 0 {
            if let interruption, interruption.isReadable { break }
            switch source.tryRead(into: buffer, limit: unread) {
            case .moved(let moved):
                unread -= moved
                try await flush(buffer)
            case .endOfStream: throw .source(.endOfStream)
            case .failed(let errno): throw .source(source.failure(errno, "cannot read"))
            case .wouldBlock: try await wait(for: source, side: RelayError.source)
            }
        }
        return count - unread
    }

    private func flush(_ buffer: ByteBuffer) async throws(RelayError) {
        if case .moved = target.tryWrite(from: buffer), buffer.isEmpty { return }
        target.setDeadline(after: idle)
        do throws(IOError) { try await target.write(from: buffer) } catch { throw .target(error) }
    }

    private func splice(
        _ count: Int, through pipe: Pipe, unless interruption: ByteStream?
    ) async throws(RelayError) -> Int {
        var unread = count
        while unread > 0 || pipe.held > 0 {
            if pipe.held > 0 {
                switch target.socket.trySplice(from: pipe) {
                case .failed(let errno): throw .target(.system(errno: errno, operation: "cannot write"))
                case .wouldBlock: try await wait(for: target, side: RelayError.target)
                case .moved, .endOfStream: break
                }
                continue
            }
            if let interruption, interruption.isReadable { break }
            switch source.socket.trySplice(into: pipe, limit: unread) {
            case .moved(let moved): unread -= moved
            case .endOfStream: throw .source(.endOfStream)
            case .failed(let errno): throw .source(.system(errno: errno, operation: "cannot read"))
            case .wouldBlock: try await wait(for: source, side: RelayError.source)
            }
        }
        return count - unread
    }

    private func wait(for stream: ByteStream, side: (IOError) -> RelayError) async throws(RelayError) {
        stream.setDeadline(after: idle)
        await stream.socket.waitForEvent()
        do throws(IOError) { try stream.check() } catch { throw side(error) }
    }
}
