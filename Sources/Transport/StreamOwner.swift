import Bytes
import HTTP2
import IO

/// The owner of an HTTP/2 connection, which moves the bytes of its streams. They move in turns: the user of a stream only fills
/// it and calls `schedule`, so that a batch of events causes one write.
///
/// Belongs to its loop.
open class StreamOwner {
    /// The stream that carries the connection.
    public let stream: ByteStream
    public let loop: EventLoop
    private let connection: MultiplexedConnection
    /// The bytes that are to be written; nil if all are.
    private var outbound: ByteBuffer?
    /// Whether a turn is due.
    private var isScheduled = false
    private var isInTurn = false
    /// Whether a stream was changed since the last bytes were made.
    private var isDirty = false
    /// Whether no more bytes are moved.
    public final var isOver = false
    /// The time since when the peer has taken no bytes; nil while it takes them.
    public private(set) final var blockedSince: LoopInstant?
    /// Whether the peer has taken bytes in the last turn.
    public private(set) final var hasWritten = false
    /// Frees the memory that only streams need, when the connection is idle.
    private var trimming: Alarm?

    /// The bytes that are made for one write.
    private static let pieceLimit = BufferPool.regular
    /// The time without streams until the memory that only they need is freed.
    private static let trimPause: Milliseconds = 2000

    public init(of connection: MultiplexedConnection, over stream: ByteStream, on loop: EventLoop) {
        self.connection = connection
        self.stream = stream
        self.loop = loop
    }

    /// The time on the loop's clock, in nanoseconds.
    public final var now: UInt64 { loop.now.nanoseconds(since: .zero) }

    /// Whether all bytes that were made are written.
    public final var isFlushed: Bool { outbound == nil }

    /// Tells the users of streams what has changed on them.
    open func deliver() {}

    /// Frees the memory that only streams need. An owner with streams does nothing.
    open func trim() { connection.trim() }

    /// Causes a turn when the events of this batch are served.
    public final func schedule() {
        if isInTurn { isDirty = true }
        guard !isScheduled, !isInTurn, !isOver else { return }
        isScheduled = true
        stream.channel.announceSoon()
    }

    /// - Returns: false if a turn is in progress, or none follows.
    public final func beginTurn() -> Bool {
        guard !isInTurn, !isOver else { return false }
        (isScheduled, isInTurn) = (false, true)
        return true
    }

    public final func endTurn() { isInTurn = false }

    /// Reads what the peer has sent, as far as it has come.
    /// - Returns: false if the peer has ended the connection, or it is broken.
    public final func receive() -> Bool {
        let buffer = loop.buffers.take()
        defer { loop.buffers.give(buffer) }
        while connection.excess == nil, !connection.hasFailed {
            buffer.clear()
            switch stream.tryRead(into: buffer) {
            case .moved: connection.receive(buffer.readable, at: now)
            case .wouldBlock: return true
            case .endOfStream, .failed: return false
            }
        }
        return true
    }

    /// Writes what the peer takes without waiting.
    /// - Returns: false if the connection is broken.
    public final func write() -> Bool {
        hasWritten = false
        while true {
            let bytes = outbound ?? loop.buffers.take()
            outbound = bytes
            if bytes.isEmpty {
                isDirty = false
                connection.produce(into: bytes, limit: Self.pieceLimit, at: now)
                // Sent content makes room for more.
                deliver()
                if bytes.isEmpty {
                    blockedSince = nil
                    if isDirty { continue }
                    outbound = nil
                    loop.buffers.give(bytes)
                    return true
                }
            }
            switch stream.tryWrite(from: bytes) {
            case .moved: (blockedSince, hasWritten) = (nil, true)
            case .wouldBlock:
                blockedSince = blockedSince ?? loop.now
                return true
            case .endOfStream, .failed: return false
            }
        }
    }

    /// Tells the peer that the connection ends, if it takes bytes.
    public final func sayEnd() {
        connection.end()
        guard blockedSince == nil, !stream.isClosed else { return }
        let bytes = outbound ?? ByteBuffer(capacity: Self.pieceLimit)
        connection.produce(into: bytes, limit: bytes.count + Self.pieceLimit, at: now)
        _ = stream.tryWrite(from: bytes)
    }

    /// Calls `trim` after a pause.
    public final func trimLater() {
        if let trimming, !trimming.hasRung { return }
        let alarm = trimming ?? Alarm(on: loop) { [unowned self] in trim() }
        trimming = alarm
        alarm.set(after: Self.trimPause)
    }
}
