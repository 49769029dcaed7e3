/// One operation of a request's trace: a span.
struct TraceSpan: Sendable {
    /// By the numbers of OTLP.
    enum Kind: Int, Sendable {
        case `internal` = 1
        case server = 2
        case client = 3
    }

    enum Value: Sendable {
        case text(String)
        case number(Int)
        case truth(Bool)
    }

    let id: TraceContext.SpanID
    let name: String
    let kind: Kind
    /// On the loop's clock, in nanoseconds.
    let start: UInt64
    var end: UInt64
    /// In the names of OpenTelemetry's semantic conventions, or with `attache.` before them.
    var attributes: [(name: String, value: Value)] = []
    /// Why it failed: a sentence; nil: it did not.
    var error: String?

    /// - Parameter value: nil: there is no such attribute.
    mutating func add(_ name: String, _ value: String?) {
        if let value { attributes.append((name, .text(value))) }
    }

    mutating func add(_ name: String, _ value: Int?) {
        if let value { attributes.append((name, .number(value))) }
    }

    mutating func add(_ name: String, _ value: Bool) {
        if value { attributes.append((name, .truth(true))) }
    }
}
