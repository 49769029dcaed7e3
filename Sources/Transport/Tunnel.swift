import Bytes
import IO

/// A blind relay between two streams, in one task: bytes both ways, each end passed on as a half-close.
public enum Tunnel {
    /// The bytes that went through.
    public struct Totals: Sendable {
        public var up = 0
        public var down = 0
        /// Nil when both sides ended in order.
        public var error: IOError?
    }

    /// Relays until both directions have ended, one side fails, or neither side says anything for `idle` milliseconds.
    /// Both streams must have the same wake-up. The caller closes them.
    public static func relay(
        client: ByteStream, upstream: ByteStream, idle: Int, on loop: EventLoop
    ) async -> Totals {
        var up = TunnelDirection(from: client, to: upstream, on: loop)
        var down = TunnelDirection(from: upstream, to: client, on: loop)
        var totals = Totals()
        client.setDeadline(after: nil)
        do throws(IOError) {
            while true {
                let upward = try up.advance()
                let downward = try down.advance()
                switch (upward, downward) {
                case (.finished, .finished):
                    totals.up = up.moved
                    totals.down = down.moved
                    return totals
                case (.advanced, _), (_, .advanced):
                    continue
                case (.blocked, _), (_, .blocked):
                    upstream.setDeadline(after: idle)
                    await client.socket.waitForEvent()
                    try upstream.check()
                    try client.check()
                }
            }
        } catch {
            totals.error = error
        }
        totals.up = up.moved
        totals.down = down.moved
        return totals
    }
}

/// One direction of a tunnel: the bytes it has read and not yet written, and how far its end has come.
///
/// The first bytes go through little memory, since most tunnels are short; after that they stay in the kernel or, where a
/// side has TLS, go through more memory.
private struct TunnelDirection: ~Copyable {
    enum Progress {
        /// Bytes moved, or an end was passed on: try again.
        case advanced
        /// Nothing to do until an event.
        case blocked
        /// The end of the source has been passed on.
        case finished
    }

    private enum Passage {
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

    /// Bytes after which a pipe pays for its descriptors, and a large buffer for its memory.
    private static let widenAfter = 64 * 1024

    init(from source: ByteStream, to target: ByteStream, on loop: EventLoop) {
        self.source = source
        self.target = target
        self.loop = loop
        passage = .memory(loop.buffers.take())
    }

    deinit {
        switch passage {
        case .memory(let buffer): loop.buffers.give(buffer)
        case .kernel(let pipe): loop.pipes.give(pipe)
        }
    }

    private var isEmpty: Bool {
        switch passage {
        case .memory(let buffer): buffer.isEmpty
        case .kernel(let pipe): pipe.held == 0
        }
    }

    /// Moves what can be moved without waiting.
    /// - Throws: the error of either socket; a tunnel does not care whose.
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
        let transfer =
            switch passage {
            case .memory(let buffer): target.tryWrite(from: buffer)
            case .kernel(let pipe): target.socket.trySplice(from: pipe)
            }
        switch transfer {
        case .wouldBlock: return .blocked
        case .failed(let errno): throw target.failure(errno, "cannot write")
        case .moved, .endOfStream: return .advanced
        }
    }

    private mutating func read() throws(IOError) -> Progress {
        if moved >= Self.widenAfter, case .memory(let buffer) = passage, buffer.capacity <= BufferPool.regular {
            widen(buffer)
        }
        let transfer =
            switch passage {
            case .memory(let buffer): source.tryRead(into: buffer)
            case .kernel(let pipe): source.socket.trySplice(into: pipe, limit: pipe.capacity)
            }
        switch transfer {
        case .wouldBlock: return .blocked
        case .failed(let errno): throw source.failure(errno, "cannot read")
        case .endOfStream: sourceHasEnded = true
        case .moved(let count): moved += count
        }
        return .advanced
    }

    private mutating func widen(_ empty: ByteBuffer) {
        if !source.isPlain || !target.isPlain {
            passage = .memory(loop.buffers.takeLarge())
        } else if let pipe = loop.pipes.take() {
            passage = .kernel(pipe)
        } else {
            return
        }
        loop.buffers.give(empty)
    }
}
