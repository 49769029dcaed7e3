import Bytes
import Forwarding
import HTTP
import IO
import Rules
import Telemetry
import Upstream

/// W3C Trace Context, level 1: a request continues the trace that its client names, or begins one.
extension ClientSession {
    func trace(_ exchange: Exchange, to destination: Destination) {
        let (head, fields) = (exchange.headBytes, exchange.request.fields)
        let parent = context(in: fields, of: head.readable)
        // Each message has one of its own.
        fields.withhold("traceparent", in: head.readable)
        // It says nothing without the other (section 4.2).
        if parent == nil { fields.withhold("tracestate", in: head.readable) }
        guard parent != nil || destination.route.trace == .start else { return }
        let collector = policy.collector
        exchange.record.trace = RequestTrace(
            continuing: parent, samples: Int.random(in: 0..<100) < collector?.sample ?? 0,
            isCollected: collector != nil, on: requester.loop)
    }

    /// The client's word; nil where there is none, or no valid one, as are two (section 4.2).
    private func context(in fields: FieldTable, of head: Span<UInt8>) -> TraceContext? {
        var found: TraceContext?
        var count = 0
        for field in fields where head.extracting(field.name).equalsIgnoringCase("traceparent") {
            found = TraceContext(head.extracting(field.value))
            count += 1
        }
        return count == 1 ? found : nil
    }
}
