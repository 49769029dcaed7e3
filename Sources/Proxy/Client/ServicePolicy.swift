import Credentials
import Forwarding
import Rules
import Telemetry
import Upstream

/// A rule file at work: the policy that exchanges follow, and what concerns clients and the log alone. One immutable whole,
/// swapped on a reload.
public final class ServicePolicy: Sendable {
    let exchanges: Policy
    /// Nil when clients need not say who they are.
    let clientAuthentication: ClientAuthentication?
    /// Nil when nothing is known that clients could be shown in tunnels: then TLS in them is relayed unseen.
    let interception: InterceptionIdentity?
    let log: LogPolicy
    /// Nil when nobody is told of challenges that wait for an operator.
    let webhook: QuestionWebhook?
    /// Nil when nobody collects the spans of requests.
    let collector: SpanCollector?

    /// - Parameter interception: nil when no tunnel is looked into by TLS.
    public init(
        _ exchanges: Policy, clients: ClientAccounts, log: LogPolicy = LogPolicy(),
        interception: InterceptionIdentity? = nil, webhook: QuestionWebhook? = nil,
        collector: SpanCollector? = nil
    ) {
        let configuration = exchanges.rules.configuration
        self.exchanges = exchanges
        clientAuthentication = ClientAuthentication(configuration.clients, accounts: clients)
        self.interception = interception
        self.log = log
        self.webhook = webhook
        self.collector = collector
    }
}

/// Where the log goes, and how it is written.
public struct LogPolicy: Sendable {
    /// Nil: exchanges are not logged.
    var exchanges: LogStream?
    var format = AccessLogFormat.json
    /// Where the lines of events go: the same, or another; nil: nowhere.
    var events: LogStream?
    var style = LogStyle.json

    public init() {}

    public mutating func writeExchanges(to stream: LogStream, as format: AccessLogFormat) {
        exchanges = stream
        self.format = format
    }

    public mutating func writeEvents(to stream: LogStream, as style: LogStyle) {
        events = stream
        self.style = style
    }
}
