import Bytes
import IO
import Model
import Telemetry
import Upstream

/// Sends the spans of one loop's requests to the collector. It sends many together from a task of the loop, so that no
/// request waits.
///
/// It belongs to its loop. Spans for which there is no room are dropped and counted.
public final class SpanExporter {
    public let collector: SpanCollector
    private let upstreams: Upstreams
    /// The waiting spans, separated by commas.
    private var queue = ByteBuffer(capacity: 0)
    private var count = 0
    /// Rings when the spans have waited long enough.
    private var alarm: Alarm?
    private var isSending = false
    /// Whether the exporter is ending: it sends its spans once and takes no more.
    private var isEnding = false
    /// The pause before a retry. Ended early to retry at once.
    private var pause = Expectation<Void>()
    private var isInTrouble = false

    /// The time that a span waits for others.
    private static let patience: Milliseconds = 2000
    /// The number of spans that is sent at once.
    private static let enough = 512
    private static let spanLimit = 2048
    private static let byteLimit = 4 << 20
    /// The pauses before each retry.
    private static let pauses: [Milliseconds?] = [1000, 2000, 4000, 8000, nil]

    public init(to collector: SpanCollector, over upstreams: Upstreams) {
        self.collector = collector
        self.upstreams = upstreams
        alarm = Alarm(on: upstreams.loop) { [unowned self] in send() }
    }

    deinit { alarm?.cancel() }

    /// Queues the spans of a finished request.
    public func add(_ trace: RequestTrace, of record: ExchangeRecord) {
        let end = queue.count
        let (count, dropped) = SpanEncoder.append(trace, of: record, to: queue)
        if dropped > 0 { upstreams.metrics.add(dropped, to: .spansDropped) }
        guard self.count + count <= Self.spanLimit, queue.count <= Self.byteLimit else {
            queue.truncate(to: end)
            return upstreams.metrics.add(count, to: .spansDropped)
        }
        let isFirst = self.count == 0
        self.count += count
        if self.count >= Self.enough { send() } else if isFirst, !isSending { alarm?.set(after: Self.patience) }
    }

    /// Sends the waiting spans once; the collector is not tried again.
    public func end() {
        isEnding = true
        pause.fulfil(())
        send()
    }

    /// Whether no spans are left to be sent.
    public var isIdle: Bool { count == 0 && !isSending }

    private func send() {
        guard !isSending, count > 0 else { return }
        isSending = true
        alarm?.cancel()
        let bound = LoopBound(self, to: upstreams.loop)
        upstreams.loop.spawn { await bound.value.sendAll() }
    }

    private func sendAll() async {
        repeat {
            let (batch, number) = (queue, count)
            (queue, count) = (ByteBuffer(capacity: 0), 0)
            let kept = max(0, number - (await deliver(batch) ?? number))
            upstreams.metrics.add(kept, to: .spansSent)
            upstreams.metrics.add(number - kept, to: .spansDropped)
        } while count >= Self.enough || isEnding && count > 0
        isSending = false
        if count > 0 { alarm?.set(after: Self.patience) }
    }

    /// - Returns: the number of spans that the collector rejected; nil if it took none.
    private func deliver(_ batch: ByteBuffer) async -> Int? {
        for pause in Self.pauses {
            switch await collector.send(batch, over: upstreams, by: upstreams.policy) {
            case .taken(let rejected, let reason):
                let words = reason.map { ", and says: \($0)" } ?? ""
                if rejected > 0 {
                    report("rejects spans: \(rejected)\(words)")
                } else if reason != nil {
                    report("has taken spans\(words)")
                } else {
                    isInTrouble = false
                }
                return rejected
            case .refused(let reason):
                report("did not accept spans: \(reason)")
                return nil
            case .again(let reason, let wanted):
                report("did not accept spans: \(reason)")
                guard let pause, !isEnding else { return nil }
                self.pause = Expectation()
                _ = await self.pause.value(within: max(pause, wanted ?? 0))
            }
        }
        return nil
    }

    /// Reports a failure once, until the collector works again.
    private func report(_ sentence: String) {
        if isInTrouble { return }
        isInTrouble = true
        upstreams.shared.report("the collector \(collector.endpoint.authority) of 'traces' \(sentence)")
    }
}
