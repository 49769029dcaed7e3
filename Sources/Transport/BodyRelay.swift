import Bytes
import IO

/// Moves a given number of bytes from one stream to another. If they are many and neither side has TLS, the kernel
/// moves them.
///
/// It works in steps. It reads only when everything read before was written, which gives back-pressure. Between two
/// steps it may rest as long as its owner likes, and keeps the bytes that it has read.
public final class BodyRelay {
    public enum Step {
        /// Bytes moved: try again.
        case moved
        /// No bytes can be moved. Wait for an event of the source.
        case awaitsSource
        /// No bytes can be moved. Wait for an event of the target.
        case awaitsTarget
        /// The target has all bytes.
        case finished
    }

    /// The memory or pipe that a relay holds between two steps.
    enum Holding: Equatable {
        case nothing
        case memory(bytes: Int)
        case pipe
    }

    private enum Passage {
        /// The relay has no unwritten bytes and holds no memory or pipe.
        case none
        case memory(ByteBuffer)
        case kernel(Pipe)
        /// The target's TLS has made a record of this many bytes, and has not sent all of it.
        case sealed(Int)
    }

    private let source: ByteStream
    private let target: ByteStream
    private let loop: EventLoop
    private var passage = Passage.none
    /// The bytes that the source must still deliver.
    public private(set) var unread: Int

    /// The number of bytes from which two calls of `splice(2)` cost less than copying.
    private static let spliceThreshold = 32 * 1024

    /// - Parameters:
    ///   - count: the bytes that the source must still deliver.
    ///   - first: bytes that precede them; removed from this buffer.
    public init(
        _ count: Int, from source: ByteStream, to target: ByteStream, on loop: EventLoop,
        beginningWith first: ByteBuffer? = nil
    ) {
        self.source = source
        self.target = target
        self.loop = loop
        unread = count
        source.readsAhead(false)
        guard let first, !first.isEmpty else { return }
        let buffer = loop.buffers.take()
        buffer.swapContents(with: first)
        passage = .memory(buffer)
    }

    deinit {
        source.readsAhead(true)
        release()
    }

    /// The bytes that the target must still get, including those already read.
    public var unwritten: Int {
        switch passage {
        case .none: unread
        case .memory(let buffer): unread + buffer.count
        case .kernel(let pipe): unread + pipe.held
        case .sealed(let count): unread + count
        }
    }

    var holding: Holding {
        switch passage {
        case .none, .sealed: .nothing
        case .memory(let buffer): .memory(bytes: buffer.capacity)
        case .kernel: .pipe
        }
    }

    /// Moves the bytes that one call can move, without waiting.
    /// - Throws: `source(.endOfStream)` if the source ends too early.
    public func advance() throws(RelayError) -> Step {
        switch passage {
        case .none: break
        case .memory(let buffer):
            if !buffer.isEmpty { return try write(buffer) }
        case .kernel(let pipe):
            if pipe.held > 0 { return try written(target.socket?.trySplice(from: pipe) ?? .endOfStream) }
        case .sealed:
            let step = try written(target.tryWriteOwed())
            if case .awaitsTarget = step { return step }
            passage = .none
            return step
        }
        if unread == 0 { return .finished }
        // While the source is silent no buffer is needed.
        if source.isPlain, !source.isReadable, !source.isClosed { return rest() }
        return try read()
    }

    /// Releases the memory or the pipe, so that a connection that waits for its source holds nothing.
    private func rest() -> Step {
        release()
        passage = .none
        return .awaitsSource
    }

    private func release() {
        switch passage {
        case .memory(let buffer): loop.buffers.give(buffer)
        case .kernel(let pipe): loop.pipes.give(pipe)
        case .none, .sealed: break
        }
    }

    private func choosePassage() -> Passage {
        if unread >= Self.spliceThreshold, source.isPlain, target.isPlain, let pipe = loop.pipes.take() {
            return .kernel(pipe)
        }
        // A TLS record has no more than 16 KiB (RFC 8446 section 5.1), and is read and written separately.
        let isLarge = unread > BufferPool.regular && source.isPlain && target.isPlain
        return .memory(isLarge ? loop.buffers.takeLarge() : loop.buffers.take())
    }

    /// Writes the buffer, and releases it once all was written. If the target's TLS has the rest in a record, the relay
    /// waits without the buffer.
    private func write(_ buffer: ByteBuffer) throws(RelayError) -> Step {
        let step = try written(target.tryWrite(from: buffer))
        if buffer.isEmpty {
            passage = .none
        } else if case .awaitsTarget = step, target.owed == buffer.count {
            passage = .sealed(buffer.count)
        } else {
            return step
        }
        loop.buffers.give(buffer)
        return step
    }

    private func written(_ transfer: Transfer) throws(RelayError) -> Step {
        switch transfer {
        case .moved, .endOfStream: return .moved
        case .wouldBlock: return .awaitsTarget
        case .failed(let errno): throw .target(target.failure(errno, "cannot write"))
        }
    }

    private func read() throws(RelayError) -> Step {
        if case .none = passage { passage = choosePassage() }
        let transfer: Transfer =
            switch passage {
            case .none, .sealed: .wouldBlock
            case .memory(let buffer): source.tryRead(into: buffer, limit: unread)
            case .kernel(let pipe): source.socket?.trySplice(into: pipe, limit: unread) ?? .endOfStream
            }
        switch transfer {
        case .moved(let count):
            unread -= count
            return .moved
        case .endOfStream: throw .source(.endOfStream)
        case .wouldBlock: return rest()
        case .failed(let errno): throw .source(source.failure(errno, "cannot read"))
        }
    }

    /// Moves all bytes.
    /// - Parameter idle: the time without a byte after which a side counts as failed.
    public func run(idle: Milliseconds) async throws(RelayError) {
        while true {
            switch try advance() {
            case .moved: continue
            case .finished: return
            case .awaitsSource: try await wait(for: source, idle, side: RelayError.source)
            case .awaitsTarget: try await wait(for: target, idle, side: RelayError.target)
            }
        }
    }

    private func wait(for stream: ByteStream, _ idle: Milliseconds, side: (IOError) -> RelayError)
        async throws(RelayError)
    {
        stream.setDeadline(after: idle)
        await stream.channel.waitForEvent()
        do throws(IOError) { try stream.check() } catch { throw side(error) }
    }
}

/// The side of a relay that failed: the source or the target of the bytes.
public enum RelayError: Error, Equatable, Sendable {
    case source(IOError)
    case target(IOError)
}
