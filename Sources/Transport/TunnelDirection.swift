import Bytes
import IO

/// One direction of a tunnel: what it has read and not yet written, and how far its end has come.
///
/// The first bytes go through memory, since most tunnels are short; after that they stay in the kernel.
struct TunnelDirection: ~Copyable {
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

    private let source: Socket
    private let target: Socket
    private let loop: EventLoop
    private var passage: Passage
    private var sourceHasEnded = false
    private var isFinished = false
    private(set) var moved = 0

    /// Bytes after which a pipe pays for its descriptors.
    private static let spliceAfter = 64 * 1024

    init(from source: Socket, to target: Socket, on loop: EventLoop) {
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
            case .kernel(let pipe): target.trySplice(from: pipe)
            }
        switch transfer {
        case .wouldBlock: return .blocked
        case .failed(let errno): throw .system(errno: errno, operation: "cannot write")
        case .moved, .endOfStream: return .advanced
        }
    }

    private mutating func read() throws(IOError) -> Progress {
        if moved >= Self.spliceAfter, case .memory(let buffer) = passage, let pipe = loop.pipes.take() {
            loop.buffers.give(buffer)
            passage = .kernel(pipe)
        }
        let transfer =
            switch passage {
            case .memory(let buffer): source.tryRead(into: buffer)
            case .kernel(let pipe): source.trySplice(into: pipe, limit: pipe.capacity)
            }
        switch transfer {
        case .wouldBlock: return .blocked
        case .failed(let errno): throw .system(errno: errno, operation: "cannot read")
        case .endOfStream: sourceHasEnded = true
        case .moved(let count): moved += count
        }
        return .advanced
    }
}
