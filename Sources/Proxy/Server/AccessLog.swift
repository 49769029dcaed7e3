import IO
import Synchronization

/// Where log lines go: one thread writes what the loops hand over in pieces of many lines.
///
/// When the destination is slower than the traffic, lines are dropped and counted rather than the traffic held up.
public final class AccessLog: Sendable {
    private struct Queue {
        var pieces: [[UInt8]] = []
        var bytes = 0
        var isBeingWritten = false
    }

    private let file: OutputFile
    private let queue = Mutex(Queue())
    private static let writer = BlockingPool(threads: 1)
    private static let pendingLimit = 16 << 20

    public init(to file: OutputFile) { self.file = file }

    /// Takes lines over without blocking; false when too much waits already.
    func write(_ lines: [UInt8]) -> Bool {
        let (isTaken, startsWriting) = queue.withLock { queue in
            guard queue.bytes + lines.count <= Self.pendingLimit else { return (false, false) }
            queue.pieces.append(lines)
            queue.bytes += lines.count
            defer { queue.isBeingWritten = true }
            return (true, !queue.isBeingWritten)
        }
        if startsWriting { Self.writer.submit { self.writeAll() } }
        return isTaken
    }

    /// Whether every line that was taken has been written.
    var isIdle: Bool { queue.withLock { !$0.isBeingWritten } }

    private func writeAll() {
        while true {
            let pieces = queue.withLock { queue in
                let pieces = queue.pieces
                queue.pieces = []
                queue.bytes = 0
                if pieces.isEmpty { queue.isBeingWritten = false }
                return pieces
            }
            if pieces.isEmpty { return }
            for piece in pieces { file.write(piece) }
        }
    }
}
