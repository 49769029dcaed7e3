import IO
import Synchronization

/// Where log lines go: one thread writes what the loops hand over in pieces of many lines.
///
/// When the destination is slower than the traffic, lines are dropped and counted rather than the traffic held up.
public final class AccessLog: Sendable {
    /// Many lines in one.
    struct Piece: Sendable {
        let bytes: [UInt8]
        let lines: Int
    }

    private struct Queue {
        var pieces: [Piece] = []
        var bytes = 0
        /// Lines that the destination did not take, and nobody has counted yet.
        var lost = 0
        var isBeingWritten = false
    }

    private let file: OutputFile
    private let queue = Mutex(Queue())
    private static let writer = BlockingPool(threads: 1)
    private static let pendingLimit = 16 << 20

    public init(to file: OutputFile) { self.file = file }

    /// Takes lines over without blocking.
    /// - Returns: the lines that are lost, because too much waits already, or earlier ones since the last call.
    func write(_ piece: Piece) -> Int {
        let (lost, startsWriting) = queue.withLock { queue in
            defer { queue.lost = 0 }
            guard queue.bytes + piece.bytes.count <= Self.pendingLimit else { return (queue.lost + piece.lines, false) }
            queue.pieces.append(piece)
            queue.bytes += piece.bytes.count
            defer { queue.isBeingWritten = true }
            return (queue.lost, !queue.isBeingWritten)
        }
        if startsWriting { Self.writer.submit { self.writeAll() } }
        return lost
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
            for piece in pieces where !file.write(piece.bytes) { queue.withLock { $0.lost += piece.lines } }
        }
    }
}
