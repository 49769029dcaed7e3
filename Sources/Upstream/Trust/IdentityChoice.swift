import Authentication
import Credentials
import IO
import Model
import Rules
import TLS
import Telemetry

/// Which certificate an origin is shown that asks for one: at the first handshake, or at any later moment of its
/// connection.
///
/// The first rule that fits decides, and of its certificates the first whose issuer the origin accepts. Where it accepts
/// none of them, a rule that names its hosts shows the first nevertheless, as its author knows the origin; one for any host
/// shows none, since a certificate tells a stranger who we are. Where the rules say `default`, or nothing, the store is
/// asked for what was kept for the origin.
final class IdentityChoice {
    /// The certificate that the origin has seen.
    public let shown = ShownIdentity()
    /// The rule that wants no connection to an origin that asks.
    private(set) var cancelling: RuleReference?
    private let rules: RuleSet
    private let credentials: ConfiguredCredentials
    private let storage: any CredentialStorage
    private let origin: Origin
    private let client: Rules.ClientIdentity
    private let metrics: Metrics

    public init(
        rules: RuleSet, credentials: ConfiguredCredentials, storage: any CredentialStorage, origin: Origin,
        client: Rules.ClientIdentity, metrics: Metrics
    ) {
        self.rules = rules
        self.credentials = credentials
        self.storage = storage
        self.origin = origin
        self.client = client
        self.metrics = metrics
    }

    /// - Parameter issuers: those that the origin accepts; none: any.
    public func identity(acceptedBy issuers: [DistinguishedName]) -> Identity? {
        var query = ChallengeQuery(
            host: origin.host, port: origin.port, protocol: .https, method: .clientCertificate, client: client)
        query.isSecure = true
        query.issuers = issuers.map(\.description)
        query.today = .today
        let decision = rules.decide(query)
        switch decision.answer {
        case .use(let names):
            let identities = names.compactMap { name in credentials.identity(named: name).map { (name, $0) } }
            let accepted = identities.first { issuers.isEmpty || $0.1.isIssued(byOneOf: issuers) }
            guard let (name, identity) = accepted ?? (namesHosts(decision.rule) ? identities.first : nil) else {
                return nil
            }
            return show(identity, of: name)
        case .performDefault:
            guard let stored = storage.storedIdentity(for: origin, acceptedBy: issuers) else { return nil }
            return show(stored.identity, of: stored.name)
        case .cancel:
            cancelling = decision.rule
            return nil
        case .reject, .trust: return nil
        }
    }

    private func show(_ identity: Identity, of name: String) -> Identity {
        shown.name = name
        metrics.add(to: .answeredClientCertificate)
        return identity
    }

    private func namesHosts(_ rule: RuleReference?) -> Bool {
        rules.configuration.challenges.contains { $0.rule == rule && !$0.hosts.isEmpty }
    }
}

extension ConfiguredCredentials {
    /// The certificate of a credential, with its key, as it is at this moment.
    public func identity(named name: String) -> Identity? { (try? credential(named: name))?.identity as? Identity }
}

extension Day {
    public static var today: Day { Day(epochSeconds: SystemClock.epochMilliseconds / 1000) }
}
