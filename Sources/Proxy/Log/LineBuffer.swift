import Bytes
import IO
import Telemetry

/// The log lines of one loop, handed to the log many at a time.
final class LineBuffer {
    private let lines = ByteBuffer(capacity: fullAt + 32 * 1024)
    private var places: [LineMerging.Batch.Line] = []
    private let loop: EventLoop
    private let metrics: Metrics
    private var alarm: Alarm?
    private var isArmed = false
    private var source: LogStream.Source?
    /// The log that the lines go to.
    var log: LogStream? {
        willSet { flush() }
        didSet { source = log?.source(for: loop) }
    }

    /// The time that a line may wait for others.
    private static let patience: Milliseconds = 100
    /// The number of bytes at which the lines are handed over. Each time wakes a thread, which on a busy machine takes
    /// the loop's processor.
    private static let fullAt = 224 * 1024

    init(on loop: EventLoop, metrics: Metrics) {
        self.loop = loop
        self.metrics = metrics
        alarm = Alarm(on: loop) { [unowned self] in
            isArmed = false
            flush()
        }
    }

    /// Adds one line: the bytes that `write` appends, with the time passed to it.
    func add(_ level: LogLine.Level, _ write: (ByteBuffer, WallTime) -> Void) {
        if lines.isEmpty { source?.begin() }
        let now = loop.wallTime
        if lines.isEmpty { source?.begin(at: now) }
        if let header = log?.header { header.append(to: lines, level) }
        write(lines, now)
        places.append((now, lines.count))
        if lines.count >= Self.fullAt {
            flush()
        } else if !isArmed {
            isArmed = true
            alarm?.set(after: Self.patience)
        }
    }

    func flush() {
        if lines.isEmpty { return }
        if let log, let source {
            let lines = lines
            let lost = log.take(LineMerging.Batch(lines.readable.array, places), of: source)
            if lost > 0 { metrics.add(lost, to: .logLinesDropped) }
        }
        lines.clear()
        places.removeAll(keepingCapacity: true)
    }
}
