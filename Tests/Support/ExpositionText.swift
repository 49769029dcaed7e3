/// A page of metrics, read as strictly as either text format may be read: Prometheus' 0.0.4, and OpenMetrics 1.0.
public struct ExpositionText {
    public struct Family {
        public let name: String
        public let type: String
        public var unit: String?
        public var help: String?
        /// The values by the name of the sample with its labels, as written.
        public var samples: [(series: String, value: Double)] = []
    }

    public private(set) var families: [Family] = []
    /// The faults of the text.
    public private(set) var faults: [String] = []
    private let isOpenMetrics: Bool
    private var series: Set<String> = []
    /// The name of a family whose HELP came before its TYPE.
    private var announced: (name: String, help: String)?

    private let sample = #/([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? (\S+)/#
    private let label = #/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/#

    public init(_ text: String, isOpenMetrics: Bool) {
        self.isOpenMetrics = isOpenMetrics
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.popLast() != "" { faults.append("the last line has no end") }
        if isOpenMetrics, lines.popLast() != "# EOF" { faults.append("the end is missing") }
        for line in lines { read(String(line)) }
        for family in families { check(family) }
    }

    /// The value of a series, as written.
    public func value(of series: String) -> Double? {
        for family in families {
            if let sample = family.samples.first(where: { $0.series == series }) { return sample.value }
        }
        return nil
    }

    /// The names that samples have, without labels.
    public var names: Set<String> {
        Set(families.flatMap { family in family.samples.map { String($0.series.prefix { $0 != "{" }) } })
    }

    private mutating func read(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        if line.hasPrefix("# ") {
            guard words.count == 4 else { return faults.append("no metadata: \(line)") }
            return note(words[1], of: words[2], words[3])
        }
        guard let match = line.wholeMatch(of: sample), let value = Double(match.4) else {
            return faults.append("no sample: \(line)")
        }
        guard var family = families.popLast() else { return faults.append("a sample of no family: \(line)") }
        let name = String(match.1)
        if !suffixes(of: family).contains(where: { family.name + $0 == name }) {
            faults.append("\(name) is no sample of \(family.name)")
        }
        check(labels: String(match.3 ?? ""), line)
        let series = name + String(match.2 ?? "")
        if !self.series.insert(series).inserted { faults.append("twice: \(series)") }
        family.samples.append((series, value))
        families.append(family)
    }

    private mutating func check(labels: String, _ line: String) {
        var (rest, names) = (labels[...], Set<Substring>())
        while !rest.isEmpty {
            guard let match = rest.prefixMatch(of: label) else { return faults.append("no labels: \(line)") }
            if !names.insert(match.1).inserted { faults.append("a label twice: \(line)") }
            rest = rest[match.range.upperBound...]
        }
    }

    private mutating func note(_ kind: String, of name: String, _ text: String) {
        switch kind {
        case "TYPE":
            if families.contains(where: { $0.name == name }) { faults.append("\(name) begins twice") }
            if !["counter", "gauge", "histogram"].contains(text), !(isOpenMetrics && text == "info") {
                faults.append("\(name) is a \(text)")
            }
            let help = announced.flatMap { $0.name == name ? $0.help : nil }
            families.append(Family(name: name, type: text, help: help))
            announced = nil
        case "HELP" where families.last?.name != name: announced = (name, text)
        case "HELP", "UNIT":
            guard var family = families.popLast(), family.name == name, family.samples.isEmpty else {
                return faults.append("\(kind) of \(name) is out of place")
            }
            if kind == "HELP" { family.help = text } else { family.unit = text }
            families.append(family)
        default: faults.append("unknown metadata: \(kind)")
        }
    }

    private func suffixes(of family: Family) -> [String] {
        switch family.type {
        case "counter": isOpenMetrics ? ["_total"] : [""]
        case "histogram": ["_bucket", "_sum", "_count"]
        case "info": ["_info"]
        default: [""]
        }
    }

    private mutating func check(_ family: Family) {
        if family.help?.isEmpty ?? true { faults.append("\(family.name) has no help") }
        if let unit = family.unit, !family.name.hasSuffix("_\(unit)") { faults.append("\(family.name) is no \(unit)") }
        if !isOpenMetrics, (family.type == "counter") != family.name.hasSuffix("_total") {
            faults.append("\(family.name) is a \(family.type)")
        }
        if family.type == "counter" {
            for sample in family.samples where sample.value < 0 { faults.append("\(sample.series) is negative") }
        }
        if family.type == "histogram" { checkHistograms(of: family) }
    }

    /// Buckets grow, in the order of their bounds, and the last has as many as there are.
    private mutating func checkHistograms(of family: Family) {
        var (last, bound) = (0.0, -Double.infinity)
        for (series, value) in family.samples {
            if let le = series.firstMatch(of: #/le="([^"]*)"\}$/#) {
                let next = le.1 == "+Inf" ? .infinity : Double(le.1) ?? .nan
                if bound == .infinity { (last, bound) = (0, -.infinity) }
                if !(next > bound) || value < last { faults.append("\(series) is out of order") }
                (last, bound) = (value, next)
            } else if series.hasPrefix("\(family.name)_count"), bound != .infinity || value != last {
                faults.append("\(series) is not that of its buckets")
            }
        }
    }
}
