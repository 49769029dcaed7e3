import IO
import Model

/// Families of metrics in progress, as text in either format.
struct MetricsText {
    let format: MetricsFormat
    private(set) var text = ""

    /// The limit of a label's value in characters.
    private static let longest = 128
    private static let units = ["seconds", "bytes"]
    private static let bounds = (0..<DurationHistogram.buckets).map { bucket in
        DurationHistogram.bound(of: bucket).map { seconds(nanoseconds: UInt64($0)) } ?? "+Inf"
    }

    init(_ format: MetricsFormat) { self.format = format }

    mutating func append(_ family: MetricFamily, _ value: Int) { append(family, [([], "\(value)")]) }

    /// - Parameter value: the value; nil: the family is omitted.
    mutating func append(_ family: MetricFamily, number value: Double?) {
        if let value { append(family, [([], "\(value)")]) }
    }

    /// Appends one sample for each value of a label.
    mutating func append(_ family: MetricFamily, _ samples: [(String, Int)]) {
        append(family, samples.map { ([$0], "\($1)") })
    }

    /// - Parameter samples: each with the values of the family's labels.
    mutating func append(_ family: MetricFamily, _ samples: [(labels: [String], number: String)]) {
        let manual = begin(family)
        for sample in samples { append(family.rawValue, zip(manual.labels, sample.labels), sample.number) }
    }

    mutating func append(
        histogram family: MetricFamily, _ histograms: [(labels: [String], durations: DurationHistogram.Durations)]
    ) {
        let (name, manual) = (family.rawValue, begin(family))
        for (values, durations) in histograms {
            let labels = Array(zip(manual.labels, values))
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
    private mutating func begin(_ family: MetricFamily) -> MetricFamily.Manual {
        let (name, manual) = (family.rawValue, family.manual)
        switch format {
        case .prometheus:
            let kind = manual.kind == .info ? MetricFamily.Kind.gauge : manual.kind
            text += "# HELP \(name) \(manual.help)\n# TYPE \(name) \(kind)\n"
        case .openMetrics:
            let suffix = manual.kind == .counter ? "_total" : manual.kind == .info ? "_info" : ""
            let family = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
            text += "# TYPE \(family) \(manual.kind)\n"
            if let unit = Self.units.first(where: { family.hasSuffix("_\($0)") }) {
                text += "# UNIT \(family) \(unit)\n"
            }
            text += "# HELP \(family) \(manual.help)\n"
        }
        return manual
    }

    private mutating func append(_ name: String, _ labels: some Sequence<(String, String)>, _ number: String) {
        text += name
        let words = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        text += words.isEmpty ? " \(number)\n" : "{\(words)} \(number)\n"
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
