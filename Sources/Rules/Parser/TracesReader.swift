import Bytes
import Model

/// Reads `traces`.
struct TracesReader: BlockReader {
    enum Word: String, DirectiveName {
        case collector
        case serviceName = "service-name"
        case sample
        case header

        static let block: String? = "traces"

        var grammar: DirectiveGrammar {
            switch self {
            case .collector: .one("a URL such as https://otel.example.com:4318")
            case .serviceName: .one("a name")
            case .sample: .one("a percentage")
            case .header: .some("a field's name, then 'file' and a path, or 'env' and a name", .atUse, repeats: true)
            }
        }
    }

    let context: ReadingContext

    func read(_ directive: Directive<FileDirective>) -> Configuration.Traces? {
        let inner = context.directives(TracesReader.Word.self, in: directive.node)
        guard let collector = inner.first(where: { $0.name == .collector }) else {
            log.report(at: directive.node.name.range, "'traces' needs a 'collector'")
            return nil
        }
        guard let value = collector.values.first, let endpoint = endpoint(value) else { return nil }
        var traces = Configuration.Traces(collector: endpoint)
        for directive in inner {
            guard let first = directive.values.first else { continue }
            switch directive.name {
            case .collector: break
            case .serviceName: traces.serviceName = first.text
            case .sample: traces.sample = parse.number(first, 0...100) ?? traces.sample
            case .header: header(directive).map { traces.headers.append($0) }
            }
        }
        if !traces.headers.isEmpty, !endpoint.isSafe {
            refuse(
                value, "a field with a secret needs an https collector, or one on this machine",
                suggestion: "https" + value.text.dropFirst(4))
        }
        return traces
    }

    /// Parses the endpoint. A URL without a path names the collector as a whole, as for OpenTelemetry's exporters.
    private func endpoint(_ value: Value) -> HTTPEndpoint? {
        guard let endpoint = HTTPEndpoint(value.text) else {
            refuse(value, "\(value.shown) is not a URL such as https://otel.example.com:4318")
            return nil
        }
        return endpoint.target == "/" ? HTTPEndpoint("\(endpoint)v1/traces") : endpoint
    }

    private func header(_ directive: Directive<TracesReader.Word>) -> Configuration.Traces.Header? {
        let name = directive.values[0]
        guard directive.values.count == 2 else {
            log.report(at: directive.range, "'header' takes a field's name and one value")
            return nil
        }
        guard name.source == .written, name.text.utf8.allSatisfy(\.isTokenByte), !name.text.isEmpty else {
            refuse(name, "\(name.shown) is not a field name")
            return nil
        }
        if Self.own.contains(name.text.lowercased()) {
            refuse(name, "the proxy writes \(name.shown) itself: use another field")
            return nil
        }
        return parse.reference(directive.values[1], to: "the value").map {
            Configuration.Traces.Header(name: name.text, value: $0)
        }
    }

    /// The fields of each request that the proxy sets itself.
    private static let own: Set<String> = [
        "host", "content-type", "content-length", "content-encoding", "transfer-encoding", "connection", "user-agent",
        "expect", "te", "upgrade",
    ]
}
