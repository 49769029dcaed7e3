import Authentication
import Bytes
import Challenges
import Credentials
import HTTP
import PAC
import Rules
import Synchronization
import TLS
import Telemetry

/// Everything that decides about an exchange: rules, credentials, trust, limits. It is immutable. A reload replaces it
/// as a whole; an exchange keeps the one it began with.
public final class Policy: Sendable {
    /// The rule file's `timeouts`.
    public struct Timeouts: Sendable {
        public let head: Milliseconds
        public let idle: Milliseconds
        public let connect: Milliseconds
        public let response: Milliseconds
    }

    public struct Limits: Sendable {
        public let request: HTTP.Limits
        public let response: HTTP.Limits
        public let replayMemory: Int
        public let replayDisk: Int
        public let replayDiskTotal: Int
        public let clients: Int
        /// The connections that one address may have; nil: a quarter of `clients`.
        public let clientsPerAddress: Int?
        /// The limits of the requests of one client; nil for none.
        public let requestsPerClient: Configuration.RequestRate?
        public let concurrentRequestsPerClient: Int?
        /// The requests by HTTP/2 at once: of a connection, and of a loop.
        public let streams: Int
        public let exchanges: Int
        public let decodeRatio: Int
    }

    public let rules: RuleSet
    public let credentials: ConfiguredCredentials
    /// The CA certificates and revocation lists against which certificates are checked.
    public let trust: TrustSources
    /// A number that is unique to this policy within the process.
    public let number: Int
    /// The PAC files of parents, by the parent's name.
    public let automaticParents: [String: PACFile]
    public let timeouts: Timeouts
    public let limits: Limits
    /// The parts of a record that an access log needs.
    public let recordedParts: ExchangeRecord.Parts
    /// The part of the policy that decides about challenges.
    public let challenges: ChallengePolicy

    /// - Parameters:
    ///   - automaticParents: the PAC files of parents, by the parent's name.
    ///   - recordedParts: the parts of a record that an access log needs.
    public init(
        rules: RuleSet, credentials: ConfiguredCredentials, trust: TrustSources,
        automaticParents: [String: PACFile] = [:], recordedParts: ExchangeRecord.Parts = []
    ) {
        self.recordedParts = recordedParts
        self.automaticParents = automaticParents
        let configuration = rules.configuration
        self.rules = rules
        self.credentials = credentials
        self.trust = trust
        number = Self.count.add(1, ordering: .relaxed).newValue
        timeouts = Timeouts(
            head: configuration.timeouts.head, idle: configuration.timeouts.idle,
            connect: configuration.timeouts.connect, response: configuration.timeouts.response)
        challenges = ChallengePolicy(rules: rules, credentials: credentials)
        let limits = configuration.limits
        self.limits = Limits(
            request: HTTP.Limits(startLine: limits.startLine, head: limits.head, fields: limits.fields),
            response: HTTP.Limits(
                startLine: limits.startLine, head: limits.upstreamHead, fields: HTTP.Limits.response.fields),
            replayMemory: limits.replayMemory, replayDisk: limits.replayDisk,
            replayDiskTotal: limits.replayDiskTotal, clients: limits.clients,
            clientsPerAddress: limits.clientsPerAddress, requestsPerClient: limits.requestsPerClient,
            concurrentRequestsPerClient: limits.concurrentRequestsPerClient, streams: limits.streams,
            exchanges: limits.exchanges, decodeRatio: limits.decodeRatio)
    }

    /// The revocation lists of a route to that host; nil if it names none.
    /// - Throws: the refusal for the client if they could not be read.
    public func revocationLists(for tls: Configuration.TLSTerms?, of host: String) throws(Refusal) -> RevocationLists? {
        do throws(TrustSources.UnreadLists) { return try trust.revocation(for: tls) } catch {
            throw Refusal(
                .internalServerError, .proxyConfigurationError,
                "the revocation lists that a route names for \(host) could not be read")
        }
    }

    private static let count = Atomic(0)
}
