import IO

/// One operation of a request's trace: a span.
struct TraceSpan: Sendable {
    /// The kind of span, with OTLP's numbers.
    enum Kind: Int, Sendable {
        case `internal` = 1
        case server = 2
        case client = 3
    }

    enum Value: Sendable {
        case text(String)
        case number(Int)
        /// True.
        case truth
    }

    let id: TraceContext.SpanID
    let name: String
    let kind: Kind
    let start: LoopInstant
    var end: LoopInstant
    /// The attributes, named by OpenTelemetry's semantic conventions, or with the prefix `attache.`.
    var attributes: [(name: String, value: Value)] = []
    /// The reason of a failure: a sentence; nil: it succeeded.
    var error: String?

    /// - Parameter value: the value; nil: the attribute is omitted.
    mutating func add(_ name: String, _ value: String?) {
        if let value { attributes.append((name, .text(value))) }
    }

    mutating func add(_ name: String, _ value: Int?) {
        if let value { attributes.append((name, .number(value))) }
    }

    mutating func add(_ name: String, _ value: Bool) {
        if value { attributes.append((name, .truth)) }
    }
}
