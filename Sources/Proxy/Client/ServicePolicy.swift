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
    /// Nil when there is no access log.
    let log: LogStream?
    let logFormat: AccessLogFormat
    /// Where the lines of events go: the same, or another; nil: nowhere.
    let events: LogStream?
    /// Nil when nobody is told of challenges that wait for an operator.
    let webhook: QuestionWebhook?

    /// - Parameter interception: nil when no tunnel is looked into by TLS.
    public init(
        _ exchanges: Policy, clients: ClientAccounts, log: LogStream? = nil, events: LogStream? = nil,
        interception: InterceptionIdentity? = nil, webhook: QuestionWebhook? = nil
    ) {
        let configuration = exchanges.rules.configuration
        self.exchanges = exchanges
        clientAuthentication = ClientAuthentication(configuration.clients, accounts: clients)
        self.interception = interception
        self.log = log
        self.events = events
        self.webhook = webhook
        logFormat = configuration.log.format.ofExchanges ?? .json
    }
}

extension Configuration.Log.Format {
    /// How exchanges are written; nil where they are not.
    public var ofExchanges: AccessLogFormat? {
        switch self {
        case .json: .json
        case .common: .common
        case .combined: .combined
        case .squid: .squid
        case .events, .off: nil
        }
    }

    /// Whether its lines have room for anything else than exchanges.
    public var hasEvents: Bool { self == .json || self == .events }
}
