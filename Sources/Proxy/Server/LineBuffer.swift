import Bytes
import IO
import Telemetry

/// The access log lines of one loop, handed to the log's thread many at a time.
final class LineBuffer {
    private let lines = ByteBuffer(capacity: 64 * 1024)
    private var count = 0
    private let metrics: Metrics
    private var alarm: Alarm?
    private var isArmed = false
    var log: AccessLog?

    /// Milliseconds a line may wait for company.
    private static let patience = 100
    private static let fullAt = 48 * 1024

    init(on loop: EventLoop, metrics: Metrics) {
        self.metrics = metrics
        alarm = Alarm(on: loop) { [unowned self] in
            isArmed = false
            flush()
        }
    }

    /// Adds what `write` appends: one line.
    func add(_ write: (ByteBuffer) -> Void) {
        write(lines)
        count += 1
        if lines.count >= Self.fullAt {
            flush()
        } else if !isArmed {
            isArmed = true
            alarm?.set(after: Self.patience)
        }
    }

    func flush() {
        if lines.isEmpty { return }
        let lines = lines
        let lost = log?.write(lines.readable.array, lines: count) ?? 0
        if lost > 0 { metrics.add(lost, to: .logLinesDropped) }
        lines.clear()
        count = 0
    }
}
