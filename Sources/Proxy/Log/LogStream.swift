import Bytes
import IO
import Synchronization
import Telemetry

/// A log: the lines of exchanges, which loops hand over many at a time, and events, in one order of time. A thread of the
/// writer's own writes them.
///
/// When the destination is slower than the traffic, lines are dropped and counted rather than the traffic held up.
///
/// A line goes out when no loop can have an earlier one. A loop says so before it looks at the clock for a line, and that it has
/// none any more only when it has handed them over: a loop that has none will see a later time than all lines that are here.
public final class LogStream: Sendable {
    /// A loop that writes to it.
    final class Source: Sendable {
        fileprivate let number: Int
        /// The time of the oldest line that was not handed over; `.max`: there is none; `.min`: one is being begun.
        private let oldest = Atomic(Int.max)

        fileprivate init(number: Int) { self.number = number }

        fileprivate var limit: Int { oldest.load(ordering: .sequentiallyConsistent) }

        /// To be called before the time of the first line of a batch is asked for.
        func begin() { oldest.store(.min, ordering: .sequentiallyConsistent) }

        func begin(at time: Int) { oldest.store(time, ordering: .relaxed) }

        fileprivate func end() { oldest.store(.max, ordering: .sequentiallyConsistent) }
    }

    private struct State {
        var merging = LineMerging()
        var sources: [Int: Source] = [:]
    }

    private let state = Mutex(State())
    private let writer: LineWriter
    private let losses = LineWriter.Losses()
    private let clock: @Sendable () -> Int
    /// What stands before each line; nil: nothing.
    let header: SyslogHeader?

    /// Bytes that wait for an earlier line of another loop at most.
    private static let patience = 1 << 20

    /// - Parameter clock: milliseconds since 1970.
    public init(
        to writer: LineWriter, behind header: SyslogHeader? = nil,
        clock: @escaping @Sendable () -> Int = { SystemClock.epochMilliseconds }
    ) {
        self.writer = writer
        self.header = header
        self.clock = clock
    }

    func source(for loop: EventLoop) -> Source {
        state.withLock { state in
            if let known = state.sources[loop.index] { return known }
            // Events are the first source: of one millisecond they come first.
            let source = Source(number: loop.index + 1)
            state.sources[loop.index] = source
            return source
        }
    }

    /// Takes the lines over that a loop has had since the last time, without blocking.
    /// - Returns: the lines that are lost, because too much waits already, or earlier ones since the last call.
    func take(_ batch: LineMerging.Batch, of source: Source) -> Int {
        state.withLock { state in
            state.merging.add(batch, of: source.number)
            source.end()
            pass(&state)
        }
        return losses.take()
    }

    /// Adds an event that no loop has: what `write` appends, with the time that it is given.
    func add(_ level: LogLevel, _ write: (ByteBuffer, Int) -> Void) {
        let line = ByteBuffer(capacity: 512)
        state.withLock { state in
            let now = clock()
            header?.append(to: line, level)
            write(line, now)
            let batch = LineMerging.Batch(line.readable.array, [.init(time: now, end: line.count)])
            state.merging.add(batch, of: 0)
            pass(&state)
        }
    }

    private func pass(_ state: inout State) {
        let limit = state.sources.values.reduce(Int.max) { min($0, $1.limit) }
        let taken = state.merging.take(before: state.merging.size > Self.patience ? .max : limit)
        if taken.count > 0 { writer.write(taken.bytes, lines: taken.count, losses: losses) }
    }

    /// Lines go to `file` from now on.
    public func replace(with file: any LineSink) { writer.replace(with: file) }

    /// Whether every line that was taken has been written.
    var isIdle: Bool { writer.isIdle }
}
