import Bytes
import IO

/// Moves a counted number of bytes from one stream to another, through the kernel where there are many and neither side
/// has TLS.
///
/// One step at a time: it reads only when all that was read has been written, which is the back-pressure. Between two
/// steps it may rest for as long as its owner likes, and keeps what it has in hand.
public final class BodyRelay {
    public enum Step {
        /// Bytes moved: try again.
        case moved
        /// Nothing to do until an event of the source.
        case awaitsSource
        /// The same of the target.
        case awaitsTarget
        /// The target has all bytes.
        case finished
    }

    private enum Passage {
        case memory(ByteBuffer)
        case kernel(Pipe)
    }

    private let source: ByteStream
    private let target: ByteStream
    private let loop: EventLoop
    private let passage: Passage
    /// Bytes that the source is still to give.
    public private(set) var unread: Int

    /// From this size on, pipes pay for their set-up.
    public static let spliceThreshold = 256 * 1024

    public init(_ count: Int, from source: ByteStream, to target: ByteStream, on loop: EventLoop) {
        self.source = source
        self.target = target
        self.loop = loop
        unread = count
        if count >= Self.spliceThreshold, source.isPlain, target.isPlain, let pipe = loop.pipes.take() {
            passage = .kernel(pipe)
        } else {
            passage = .memory(count > BufferPool.regular ? loop.buffers.takeLarge() : loop.buffers.take())
        }
    }

    deinit {
        switch passage {
        case .memory(let buffer): loop.buffers.give(buffer)
        case .kernel(let pipe): loop.pipes.give(pipe)
        }
    }

    /// Bytes that the target is still to be given, those in hand included.
    public var unwritten: Int {
        switch passage {
        case .memory(let buffer): unread + buffer.count
        case .kernel(let pipe): unread + pipe.held
        }
    }

    /// Moves what can be moved in one call, without waiting.
    /// - Throws: `source(.endOfStream)` when the source ends too early.
    public func advance() throws(RelayError) -> Step {
        switch passage {
        case .memory(let buffer):
            if !buffer.isEmpty { return try written(target.tryWrite(from: buffer)) }
            return unread == 0 ? .finished : try read(source.tryRead(into: buffer, limit: unread))
        case .kernel(let pipe):
            if pipe.held > 0 { return try written(target.socket.trySplice(from: pipe)) }
            return unread == 0 ? .finished : try read(source.socket.trySplice(into: pipe, limit: unread))
        }
    }

    private func written(_ transfer: Transfer) throws(RelayError) -> Step {
        switch transfer {
        case .moved, .endOfStream: return .moved
        case .wouldBlock: return .awaitsTarget
        case .failed(let errno): throw .target(target.failure(errno, "cannot write"))
        }
    }

    private func read(_ transfer: Transfer) throws(RelayError) -> Step {
        switch transfer {
        case .moved(let count):
            unread -= count
            return .moved
        case .endOfStream: throw .source(.endOfStream)
        case .wouldBlock: return .awaitsSource
        case .failed(let errno): throw .source(source.failure(errno, "cannot read"))
        }
    }

    /// Moves all bytes.
    /// - Parameter idle: milliseconds without a byte after which a side has failed.
    public func run(idle: Int) async throws(RelayError) {
        while true {
            switch try advance() {
            case .moved: continue
            case .finished: return
            case .awaitsSource: try await wait(for: source, idle, side: RelayError.source)
            case .awaitsTarget: try await wait(for: target, idle, side: RelayError.target)
            }
        }
    }

    private func wait(for stream: ByteStream, _ idle: Int, side: (IOError) -> RelayError) async throws(RelayError) {
        stream.setDeadline(after: idle)
        await stream.socket.waitForEvent()
        do throws(IOError) { try stream.check() } catch { throw side(error) }
    }
}

/// Which side of a relay failed: the one the bytes come from, or the one they go to.
public enum RelayError: Error, Equatable, Sendable {
    case source(IOError)
    case target(IOError)
}
