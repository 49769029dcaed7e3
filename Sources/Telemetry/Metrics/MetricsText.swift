import IO
import Model

extension MetricsPage {
    /// Families of metrics in progress, as text in either format.
    struct Text {
        let format: Format
        private(set) var text = ""

        /// The limit of a label's value in characters.
        private static let longest = 128
        private static let units = ["seconds", "bytes"]
        private static let bounds = (0..<DurationHistogram.buckets).map { bucket in
            DurationHistogram.bound(of: bucket).map { seconds(nanoseconds: UInt64($0)) } ?? "+Inf"
        }

        init(_ format: Format) { self.format = format }

        mutating func append(_ family: MetricFamily, _ samples: [Sample]) {
            let traits = begin(family)
            for sample in samples { append(family.rawValue, zip(traits.labels, sample.labels), sample.number) }
        }

        mutating func append(histogram family: MetricFamily, _ histograms: [Histogram]) {
            let (name, traits) = (family.rawValue, begin(family))
            for (values, durations) in histograms {
                let labels = Array(zip(traits.labels, values))
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
        private mutating func begin(_ family: MetricFamily) -> MetricFamily.Traits {
            let (name, traits) = (family.rawValue, family.traits)
            switch format {
            case .prometheus:
                let kind = traits.kind == .info ? MetricFamily.Kind.gauge : traits.kind
                text += "# HELP \(name) \(traits.help)\n# TYPE \(name) \(kind)\n"
            case .openMetrics:
                let suffix = traits.kind == .counter ? "_total" : traits.kind == .info ? "_info" : ""
                let family = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
                text += "# TYPE \(family) \(traits.kind)\n"
                if let unit = Self.units.first(where: { family.hasSuffix("_\($0)") }) {
                    text += "# UNIT \(family) \(unit)\n"
                }
                text += "# HELP \(family) \(traits.help)\n"
            }
            return traits
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
}
