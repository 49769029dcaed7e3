import Bytes

extension MetricsPage {
    /// A text format of metrics.
    public enum Format: Sendable {
        /// Prometheus' text format 0.0.4.
        case prometheus
        /// OpenMetrics 1.0.
        case openMetrics

        public var contentType: String {
            switch self {
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
        }

        /// The format for a request: OpenMetrics only if it is named and nothing else is preferred.
        ///
        /// - Parameter fields: the values of the request's `Accept` lines (RFC 9110 section 12.5.1).
        public init(accepting fields: [String]) {
            var (openMetrics, plain) = (0.0, 0.0)
            for range in fields.flatMap({ $0.split(separator: ",") }) {
                let parts = range.split(separator: ";").map { part in
                    let bytes = Array(part.utf8)
                    return bytes.span.extracting(bytes.span.trimmingBlanks(0..<bytes.count)).text.lowercased()
                }
                let parameters = parts.dropFirst()
                var weight = 1.0
                if let text = parameters.first(where: { $0.hasPrefix("q=") })?.dropFirst(2) {
                    weight = Double(text) ?? 0
                }
                switch parts.first {
                case "application/openmetrics-text":
                    let version = parameters.first { $0.hasPrefix("version=") }?.dropFirst(8)
                    if version == nil || version == "1.0.0" || version == "\"1.0.0\"" {
                        openMetrics = max(openMetrics, weight)
                    }
                case "text/plain", "text/*", "*/*": plain = max(plain, weight)
                default: break
                }
            }
            self = openMetrics > 0 && openMetrics >= plain ? .openMetrics : .prometheus
        }
    }
}
