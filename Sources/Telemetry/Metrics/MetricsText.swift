import IO

/// Families of metrics in progress, as text in either format.
struct MetricsText {
    enum Kind {
        case counter
        case gauge
        case histogram
        /// The value is always 1; the labels contain the information.
        case info
    }

    typealias Labels = [(name: String, value: String)]

    let format: MetricsFormat
    private(set) var text = ""

    /// The limit of a label's value in characters.
    private static let longest = 128
    private static let units = ["seconds", "bytes"]
    private static let bounds = (0..<DurationHistogram.buckets).map { bucket in
        DurationHistogram.bound(of: bucket).map { seconds(nanoseconds: UInt64($0)) } ?? "+Inf"
    }

    init(_ format: MetricsFormat) { self.format = format }

    /// - Parameter name: the name of the samples, with `_total` or `_info`.
    mutating func append(_ name: String, _ kind: Kind, _ help: String, _ value: Int) {
        append(name, kind, help, [([], "\(value)")])
    }

    /// - Parameter value: the value; nil: the family is omitted.
    mutating func append(_ name: String, _ kind: Kind, _ help: String, number value: Double?) {
        if let value { append(name, kind, help, [([], "\(value)")]) }
    }

    /// Appends one sample for each value of a label.
    mutating func append(_ name: String, _ kind: Kind, _ help: String, label: String, _ samples: [(String, Int)]) {
        append(name, kind, help, samples.map { ([(label, $0)], "\($1)") })
    }

    mutating func append(_ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: Labels, number: String)]) {
        begin(name, kind, help)
        for sample in samples { append(name, sample.labels, sample.number) }
    }

    mutating func append(histogram name: String, _ help: String, _ histograms: [(labels: Labels, durations: Durations)])
    {
        begin(name, .histogram, help)
        for (labels, durations) in histograms {
            var total = 0
            for (bound, count) in zip(Self.bounds, durations.counts) {
                total &+= count
                append("\(name)_bucket", labels + [("le", bound)], "\(total)")
            }
            append("\(name)_sum", labels, Self.seconds(nanoseconds: durations.nanoseconds))
            append("\(name)_count", labels, "\(total)")
        }
    }

    /// Ends the page.
    mutating func end() { if format == .openMetrics { text += "# EOF\n" } }

    /// Begins a family. In OpenMetrics its name is that of its samples without `_total` or `_info`, and its unit is
    /// stated.
    private mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        switch format {
        case .prometheus:
            text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind == .info ? "gauge" : "\(kind)")\n"
        case .openMetrics:
            let suffix = kind == .counter ? "_total" : kind == .info ? "_info" : ""
            let family = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
            text += "# TYPE \(family) \(kind)\n"
            if let unit = Self.units.first(where: { family.hasSuffix("_\($0)") }) {
                text += "# UNIT \(family) \(unit)\n"
            }
            text += "# HELP \(family) \(help)\n"
        }
    }

    private mutating func append(_ name: String, _ labels: Labels, _ number: String) {
        text += name
        if !labels.isEmpty {
            text += "{\(labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ","))}"
        }
        text += " \(number)\n"
    }

    /// Escapes a label's value for both formats. Names may come from clients, so they are truncated and cannot control
    /// a terminal.
    private static func escaped(_ value: String) -> String {
        var escaped = ""
        for scalar in value.unicodeScalars.prefix(longest) {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default:
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator: escaped += "\u{FFFD}"
                default: escaped.unicodeScalars.append(scalar)
                }
            }
        }
        return value.unicodeScalars.count > longest ? escaped + "…" : escaped
    }

    /// Writes a canonical number: `0.001`, `0.000065536`, without zeros at the end after the thousandths.
    static func seconds(nanoseconds: UInt64) -> String {
        let second: UInt64 = 1_000_000_000
        // The digit before the fraction preserves the leading zeros.
        var fraction = String(String(second + nanoseconds % second).dropFirst())
        while fraction.count > 3, fraction.last == "0" { fraction.removeLast() }
        return "\(nanoseconds / second).\(fraction)"
    }
}
