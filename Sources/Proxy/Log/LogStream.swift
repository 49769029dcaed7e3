import Bytes
import IO
import Synchronization
import Telemetry

/// A log: the lines of exchanges, which loops hand over many at a time, and events, ordered by time. The writer's own
/// thread writes them.
///
/// If the destination is slower than the traffic, lines are dropped and counted; the traffic does not wait.
///
/// A line is written when no loop can have an earlier one. A loop announces a line before it reads the clock for it,
/// and withdraws that only after it has handed its lines over. The later lines of a loop without lines are thus later
/// than all lines here.
public final class LogStream: Sendable {
    /// A loop that writes to the log.
    final class Source: Sendable {
        fileprivate let number: Int
        /// The time of the oldest line that was not handed over; `distantFuture` if there are no lines; `distantPast`
        /// while one is begun.
        private let oldest = Atomic(WallTime.distantFuture)

        fileprivate init(number: Int) { self.number = number }

        fileprivate var limit: WallTime { oldest.load(ordering: .sequentiallyConsistent) }

        /// Announces a batch. Call it before reading the time of its first line.
        func begin() { oldest.store(.distantPast, ordering: .sequentiallyConsistent) }

        func begin(at time: WallTime) { oldest.store(time, ordering: .relaxed) }

        fileprivate func end() { oldest.store(.distantFuture, ordering: .sequentiallyConsistent) }
    }

    private struct State {
        var merging = LineMerging()
        var sources: [Int: Source] = [:]
    }

    private let state = Mutex(State())
    private let writer: LineWriter
    private let losses = LineWriter.Losses()
    private let clock: @Sendable () -> WallTime
    /// The header before each line; nil if none.
    let header: SyslogHeader?

    /// The limit of bytes that wait for an earlier line of another loop.
    private static let patience = 1 << 20

    public init(
        to writer: LineWriter, behind header: SyslogHeader? = nil,
        clock: @escaping @Sendable () -> WallTime = { SystemClock.wallTime }
    ) {
        self.writer = writer
        self.header = header
        self.clock = clock
    }

    func source(for loop: EventLoop) -> Source {
        state.withLock { state in
            if let known = state.sources[loop.index] { return known }
            // Events are the first source: they come first within a millisecond.
            let source = Source(number: loop.index + 1)
            state.sources[loop.index] = source
            return source
        }
    }

    /// Takes the new lines of a loop, without blocking.
    /// - Returns: the number of lost lines, because too many wait already or since the last call.
    func take(_ batch: LineMerging.Batch, of source: Source) -> Int {
        state.withLock { state in
            state.merging.add(batch, of: source.number)
            source.end()
            pass(&state)
        }
        return losses.take()
    }

    /// Adds an event that belongs to no loop: the bytes that `write` appends, with the time passed to it.
    func add(_ level: LogLine.Level, _ write: (ByteBuffer, WallTime) -> Void) {
        let line = ByteBuffer(capacity: 512)
        state.withLock { state in
            let now = clock()
            header?.append(to: line, level)
            write(line, now)
            let batch = LineMerging.Batch(line.readable.array, [(now, line.count)])
            state.merging.add(batch, of: 0)
            pass(&state)
        }
    }

    private func pass(_ state: inout State) {
        let limit = state.sources.values.reduce(WallTime.distantFuture) { min($0, $1.limit) }
        let taken = state.merging.take(before: state.merging.size > Self.patience ? .distantFuture : limit)
        if taken.count > 0 { writer.write(taken.bytes, lines: taken.count, losses: losses) }
    }

    /// Sends the lines to `file` from now on.
    public func replace(with file: any LineWriter.Sink) { writer.replace(with: file) }

    /// Whether every line that was taken has been written.
    var isIdle: Bool { writer.isIdle }
}
