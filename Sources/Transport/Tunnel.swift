import Bytes
import IO

/// A blind relay between two streams: it moves bytes in both directions, and passes each end on as a half-close. It is
/// a machine that advances at each event of the two. Between events it holds a buffer only for unwritten bytes.
///
/// Belongs to its loop. The owner closes the streams.
public final class Tunnel {
    /// The result of a step.
    public enum Progress {
        /// No bytes can be moved. Wait for an event of either stream.
        case awaitsEvent
        /// Both directions have ended, one side has failed, or neither sent anything for too long.
        case ended
    }

    /// The number of relayed bytes.
    public struct Totals: Sendable {
        public var up = 0
        public var down = 0
        /// The error; nil if both sides closed in order.
        public var error: IOError?
    }

    private let client: ByteStream
    private let upstream: ByteStream
    private let idle: Milliseconds
    private var up: Tunnel.Direction
    private var down: Tunnel.Direction
    private var error: IOError?

    /// - Parameters:
    ///   - idle: the time for which both sides may be silent.
    ///   - sent: bytes that the client has already sent.
    ///   - early: bytes that the upstream has already sent.
    public init(
        client: ByteStream, upstream: ByteStream, idle: Milliseconds, on loop: EventLoop, sent: ByteBuffer? = nil,
        early: ByteBuffer? = nil
    ) {
        self.client = client
        self.upstream = upstream
        self.idle = idle
        up = Tunnel.Direction(from: client, to: upstream, on: loop, beginningWith: sent)
        down = Tunnel.Direction(from: upstream, to: client, on: loop, beginningWith: early)
        client.setDeadline(after: nil)
        upstream.setDeadline(after: idle)
    }

    public var totals: Totals { Totals(up: up.moved, down: down.moved, error: error) }

    /// Moves the bytes that can be moved without waiting.
    public func advance() -> Progress {
        do throws(IOError) {
            try upstream.check()
            try client.check()
            var hasMoved = false
            while true {
                switch (try up.advance(), try down.advance()) {
                case (.finished, .finished): return .ended
                case (.advanced, _), (_, .advanced): hasMoved = true
                case (.blocked, _), (_, .blocked):
                    if hasMoved { upstream.setDeadline(after: idle) }
                    return .awaitsEvent
                }
            }
        } catch {
            self.error = error
            return .ended
        }
    }

    /// Relays to the end, in a task. Both streams must have the wake-up on which the task waits.
    public func run() async -> Totals {
        while case .awaitsEvent = advance() { await client.channel.waitForEvent() }
        return totals
    }

    /// One direction of a tunnel, with its unwritten bytes and the state of its end.
    ///
    /// The first bytes pass through memory, since most tunnels are short. Later ones stay in the kernel, unless a side has
    /// TLS.
    fileprivate struct Direction: ~Copyable {
        enum Progress {
            /// Bytes moved, or an end was passed on: try again.
            case advanced
            /// No bytes can be moved until an event.
            case blocked
            /// The end of the source has been passed on.
            case finished
        }

        private enum Passage {
            /// The direction holds no bytes.
            case none
            case memory(ByteBuffer)
            case kernel(Pipe)
        }

        private let source: ByteStream
        private let target: ByteStream
        private let loop: EventLoop
        private var passage: Passage
        private var sourceHasEnded = false
        private var isFinished = false
        private(set) var moved = 0

        /// The number of bytes after which a pipe is worth its descriptors.
        private static let widenAfter = 64 * 1024

        /// - Parameter bytes: bytes that were already read.
        init(from source: ByteStream, to target: ByteStream, on loop: EventLoop, beginningWith bytes: ByteBuffer?) {
            self.source = source
            self.target = target
            self.loop = loop
            passage = .none
            guard let bytes, !bytes.isEmpty else { return }
            let buffer = loop.buffers.take()
            buffer.append(bytes.readable)
            moved = bytes.count
            passage = .memory(buffer)
        }

        deinit {
            switch passage {
            case .none: break
            case .memory(let buffer): loop.buffers.give(buffer)
            case .kernel(let pipe): loop.pipes.give(pipe)
            }
        }

        private var isEmpty: Bool {
            switch passage {
            case .none: true
            case .memory(let buffer): buffer.isEmpty
            case .kernel(let pipe): pipe.held == 0
            }
        }

        /// Moves the bytes that can be moved without waiting.
        /// - Throws: the error of either socket.
        mutating func advance() throws(IOError) -> Progress {
            if isFinished { return .finished }
            if !isEmpty { return try write() }
            if sourceHasEnded {
                target.shutdownWrite()
                isFinished = true
                return .advanced
            }
            return try read()
        }

        private mutating func write() throws(IOError) -> Progress {
            let transfer: Transfer =
                switch passage {
                case .none: .wouldBlock
                case .memory(let buffer): target.tryWrite(from: buffer)
                case .kernel(let pipe): target.socket?.trySplice(from: pipe) ?? .endOfStream
                }
            switch transfer {
            case .wouldBlock: return .blocked
            case .failed(let errno): throw target.failure(errno, "cannot write")
            case .moved, .endOfStream: return .advanced
            }
        }

        private mutating func read() throws(IOError) -> Progress {
            // While the source is silent no buffer is needed.
            guard source.isReadable || source.isClosed else { return rest() }
            choosePassage()
            let transfer: Transfer =
                switch passage {
                case .none: .wouldBlock
                case .memory(let buffer): source.tryRead(into: buffer)
                case .kernel(let pipe): source.socket?.trySplice(into: pipe, limit: pipe.capacity) ?? .endOfStream
                }
            switch transfer {
            case .wouldBlock: return rest()
            case .failed(let errno): throw source.failure(errno, "cannot read")
            case .endOfStream: sourceHasEnded = true
            case .moved(let count): moved += count
            }
            return .advanced
        }

        /// Releases the memory or the pipe.
        private mutating func rest() -> Progress {
            switch passage {
            case .none: break
            case .memory(let buffer): loop.buffers.give(buffer)
            case .kernel(let pipe): loop.pipes.give(pipe)
            }
            passage = .none
            return .blocked
        }

        private mutating func choosePassage() {
            switch passage {
            case .kernel: return
            case .memory where moved < Self.widenAfter || !source.isPlain || !target.isPlain: return
            case .memory(let buffer): loop.buffers.give(buffer)
            case .none: break
            }
            if moved < Self.widenAfter || !source.isPlain || !target.isPlain {
                // With TLS it moves one record at a time.
                passage = .memory(loop.buffers.take())
            } else {
                passage = loop.pipes.take().map { .kernel($0) } ?? .memory(loop.buffers.take())
            }
        }
    }
}
