import Bytes
import IO

/// Writes spans in the JSON form of OTLP (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids in
/// hexadecimal, numbers of 64 bits as strings, enumerations as numbers.
public enum SpanEncoder {
    /// Begins a request to the collector; spans follow, separated by commas.
    public static func begin(service: String, version: String, in buffer: ByteBuffer) {
        buffer.append(#"{"resourceSpans":[{"resource":{"attributes":["#)
        buffer.append(attribute: "service.name", .text(service))
        buffer.append(UInt8(ascii: ","))
        buffer.append(attribute: "service.version", .text(version))
        buffer.append(#"]},"scopeSpans":[{"scope":{"name":"attache","version":""#)
        buffer.append(json: version)
        buffer.append(#""},"spans":["#)
    }

    public static func end(in buffer: ByteBuffer) { buffer.append("]}]}]}") }

    /// Appends all spans of a finished request, each after a comma except the first in the buffer.
    ///
    /// - Returns: the number of spans, and the number beyond the limit.
    public static func append(_ trace: RequestTrace, of record: ExchangeRecord, to buffer: ByteBuffer) -> (
        count: Int, dropped: Int
    ) {
        // Read once, so that no span ends after its parent.
        let (root, epoch) = (trace.end(record), trace.epoch)
        for span in [root] + trace.spans { append(span, since: epoch, of: trace, record, to: buffer) }
        return (trace.spans.count + 1, trace.spansDropped)
    }

    /// - Parameter epoch: the time of day at `LoopInstant.zero`, in nanoseconds since 1970.
    private static func append(
        _ span: TraceSpan, since epoch: Int, of trace: RequestTrace, _ record: ExchangeRecord, to buffer: ByteBuffer
    ) {
        let isRoot = span.kind == .server
        if !buffer.isEmpty { buffer.append(UInt8(ascii: ",")) }
        buffer.append(#"{"traceId":""#)
        buffer.append(trace.trace)
        buffer.append(#"","spanId":""#)
        buffer.append(span.id)
        if let parent = isRoot ? trace.parent : trace.id {
            buffer.append(#"","parentSpanId":""#)
            buffer.append(parent)
        }
        buffer.append(#"","flags":"#)
        let isRemote = isRoot && trace.parent != nil
        buffer.append(decimal: Self.sampled | Self.knowsRemote | (isRemote ? Self.remote : 0))
        buffer.append(#","name":""#)
        buffer.append(json: span.name)
        buffer.append(#"","kind":"#)
        buffer.append(decimal: span.kind.rawValue)
        buffer.append(#","startTimeUnixNano":""#)
        buffer.append(decimal: epoch &+ Int(clamping: span.start.nanoseconds(since: .zero)))
        buffer.append(#"","endTimeUnixNano":""#)
        buffer.append(decimal: epoch &+ Int(clamping: max(span.start, span.end).nanoseconds(since: .zero)))
        buffer.append(#"","attributes":["#)
        appendAttributes(of: span, record, to: buffer)
        buffer.append("]")
        if let error = span.error {
            buffer.append(#","status":{"code":2,"message":""#)
            buffer.append(json: error)
            buffer.append(#""}"#)
        }
        buffer.append("}")
    }

    /// Appends the attributes, those that all messages of a request share first.
    private static func appendAttributes(of span: TraceSpan, _ record: ExchangeRecord, to buffer: ByteBuffer) {
        var isFirst = true
        if span.kind != .internal {
            buffer.append(#"{"key":"http.request.method","value":{"stringValue":""#)
            buffer.append(json: span.name)
            buffer.append(#""}},"#)
            record.appendTarget(to: buffer)
            isFirst = false
        }
        for (name, value) in span.attributes {
            if !isFirst { buffer.append(UInt8(ascii: ",")) }
            isFirst = false
            buffer.append(attribute: name, value)
        }
    }

    /// The bits of `flags`: the sampled bit of `traceparent`; whether `remote` is known; and whether the parent span is
    /// of another program.
    private static let (sampled, knowsRemote, remote) = (1, 0x100, 0x200)
}

extension ExchangeRecord {
    /// The method of the request.
    var methodName: String {
        let text = text
        return text.readable.extracting(ranges.method).text
    }

    var clientName: String { client.map { "\($0.unmapped)" } ?? "" }

    /// Appends the attributes of the request's server.
    fileprivate func appendTarget(to buffer: ByteBuffer) {
        let text = text
        buffer.append(#"{"key":"server.address","value":{"stringValue":""#)
        buffer.append(json: text.readable.extracting(Self.unbracketed(ranges.host, of: text.readable)))
        buffer.append(#""}},{"key":"server.port","value":{"intValue":""#)
        buffer.append(decimal: facts.port)
        buffer.append(#""}}"#)
        guard facts.targetForm != .authority else { return }
        buffer.append(#",{"key":"url.full","value":{"stringValue":""#)
        buffer.append(targetScheme)
        buffer.append(json: text.readable.extracting(ranges.host))
        buffer.append(portOf: self)
        appendPath(text.readable.extracting(ranges.path), to: buffer)
        buffer.append(#""}}"#)
    }

    /// Appends the path, and the names of the query's parameters only: a value may be a secret of the client.
    private func appendPath(_ path: Span<UInt8>, to buffer: ByteBuffer) {
        let end = path.firstIndex(of: .question) ?? path.count
        buffer.append(json: path.extracting(first: min(end, Self.longestPath)))
        if end > Self.longestPath { buffer.append("…") }
        guard end < path.count else { return }
        var (start, delimiter) = (end + 1, UInt8.question)
        while start <= path.count, start < end + Self.longestPath {
            let next = path.firstIndex(of: .ampersand, in: start..<path.count) ?? path.count
            buffer.append(delimiter)
            if let equals = path.firstIndex(of: .equals, in: start..<next) {
                buffer.append(json: path.extracting(start..<min(equals, start + Self.longestName)))
                buffer.append("=")
            }
            if next > start { buffer.append("REDACTED") }
            (start, delimiter) = (next + 1, .ampersand)
        }
    }

    private static func unbracketed(_ host: Range<Int>, of text: Span<UInt8>) -> Range<Int> {
        guard host.count > 2, text[host.lowerBound] == UInt8(ascii: "[") else { return host }
        return host.lowerBound + 1..<host.upperBound - 1
    }

    /// The limit of a path, and of a query, in bytes.
    private static var longestPath: Int { 2048 }
    private static var longestName: Int { 128 }
}

extension ByteBuffer {
    fileprivate func append(attribute name: String, _ value: TraceSpan.Value) {
        append(#"{"key":""#)
        append(json: name)
        switch value {
        case .text(let text):
            append(#"","value":{"stringValue":""#)
            append(json: text)
            append(#""}}"#)
        case .number(let number):
            append(#"","value":{"intValue":""#)
            append(decimal: number)
            append(#""}}"#)
        case .truth: append(#"","value":{"boolValue":true}}"#)
        }
    }
}
