import Authentication
import Credentials
import Forwarding
import Model
import Rules
import Telemetry
import TestPolicies
import Testing

@testable import Proxy
@testable import Upstream

/// The policy of a rule file's text.
enum PlayedRules {
    /// A file system that holds one rule file.
    private struct Reader: SourceReader {
        let text: String

        func bytes(at path: String, limit: Int) throws(SourceError) -> [UInt8] {
            guard path == "proxy.conf" else { throw .notFound }
            return Array(text.utf8)
        }

        func environment(_ name: String) -> String? { nil }
    }

    /// - Parameter files: the folder that the rules call `FILES`.
    static func policy(_ text: String, files: String, log: LogStream) throws -> ServicePolicy {
        var lines = ["log off"]
        if !text.contains("listen ") { lines.append("listen 127.0.0.1:3128") }
        if !text.contains("clients {") { lines.append("clients { allow 127.0.0.0/8 }") }
        if !text.contains("egress {") { lines.append("egress { allow any; connect-ports any }") }
        lines.append(text.replacing("FILES", with: files))
        let file = try RuleFile("proxy.conf", from: Reader(text: lines.joined(separator: "\n")))
        guard let configuration = file.configuration else {
            throw Script.Flaw(sentence: "the rules are wrong: \(file.report)")
        }
        let credentials = ConfiguredCredentials(
            configuration.credentials.map {
                ConfiguredCredential(name: $0.name, content: $0.content, commands: $0.commands)
            }, environment: [:], commands: CommandTerms(time: configuration.timeouts.helper))
        let accounts = try ClientAccounts(configuration.clients, nonceKey: nil)
        let rules = RuleSet(configuration)
        // This reads no anchors of the system, which takes long: no rule of a conversation adds to them.
        let trust = try TrustSources(rules)
        let troubles = credentials.refresh().errors.map { "\($0)" } + accounts.refresh()
        for trouble in troubles + trust.refresh().map({ "\($0)" }) { throw Script.Flaw(sentence: trouble) }
        var writing = ServicePolicy.LogPolicy()
        writing.writeExchanges(to: log, as: .json)
        return ServicePolicy(
            Policy(rules: rules, credentials: credentials, trust: trust, recordedParts: .requestLine),
            clients: accounts, log: writing,
            collector: configuration.traces.map {
                SpanCollector($0.collector, sample: $0.sample, fields: [], service: $0.serviceName, version: "1.2.3")
            })
    }
}
