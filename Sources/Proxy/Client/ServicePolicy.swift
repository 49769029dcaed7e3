import Credentials
import Forwarding
import Rules
import Telemetry
import Upstream

/// An active rule file: the policy of exchanges, and the settings for clients and the log. It is immutable and replaced
/// on a reload.
public final class ServicePolicy: Sendable {
    let exchanges: Policy
    /// The authentication of clients; nil if they need not authenticate.
    let clientAuthentication: ClientAuthentication?
    /// The certificates for clients in tunnels; nil if unset. TLS in tunnels is then relayed unseen.
    let interception: InterceptionIdentity?
    let log: LogPolicy
    /// The webhook for challenges that wait for an operator; nil if none.
    let webhook: QuestionWebhook?
    /// The collector of request spans; nil if none.
    let collector: SpanCollector?

    /// - Parameter interception: nil if TLS in tunnels is not decrypted.
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

    /// The destination and format of the log.
    public struct LogPolicy: Sendable {
        /// The log of exchanges; nil if they are not logged.
        var exchanges: LogStream?
        var format = AccessLogEncoder.Format.json
        /// The log of events (starts, reloads, refused credentials); nil if they are not logged. It may be the log
        /// of exchanges.
        var events: LogStream?
        var style = LogLine.Style.json

        public init() {}

        public mutating func writeExchanges(to stream: LogStream, as format: AccessLogEncoder.Format) {
            exchanges = stream
            self.format = format
        }

        public mutating func writeEvents(to stream: LogStream, as style: LogLine.Style) {
            events = stream
            self.style = style
        }
    }
}
