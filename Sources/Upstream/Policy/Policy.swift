import Authentication
import Challenges
import Credentials
import HTTP
import PAC
import Rules
import Synchronization
import TLS
import Telemetry

/// All that decides about an exchange: rules, credentials, trust, limits. One immutable whole, swapped on a reload; an
/// exchange keeps the one it began with.
public final class Policy: Sendable {
    /// Milliseconds; the rule file's `timeouts`.
    public struct Timeouts: Sendable {
        public let head: Int
        public let idle: Int
        public let connect: Int
        public let response: Int
    }

    public struct Limits: Sendable {
        public let request: HTTP.Limits
        public let response: HTTP.Limits
        public let replayMemory: Int
        public let replayDisk: Int
        public let replayDiskTotal: Int
        public let clients: Int
        /// Nil: a quarter of them.
        public let clientsPerAddress: Int?
        public let decodeRatio: Int
    }

    public let rules: RuleSet
    public let credentials: ConfiguredCredentials
    /// The anchors and lists that certificates are held against.
    public let trust: TrustSources
    /// Another for each policy of this process.
    public let number: Int
    /// The PAC files of parents, by the parent's name.
    public let automaticParents: [String: PACFile]
    public let timeouts: Timeouts
    public let limits: Limits
    /// What an access log will ask for.
    public let recordedParts: ExchangeRecord.Parts
    /// The part that decides about challenges.
    public let challenges: ChallengePolicy

    /// - Parameters:
    ///   - automaticParents: the PAC files of parents, by the parent's name.
    ///   - recordedParts: what an access log will ask for.
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
            head: configuration.timeouts.head.milliseconds, idle: configuration.timeouts.idle.milliseconds,
            connect: configuration.timeouts.connect.milliseconds,
            response: configuration.timeouts.response.milliseconds)
        challenges = ChallengePolicy(
            rules: rules, credentials: credentials,
            timeouts: ChallengePolicy.Timeouts(
                connect: timeouts.connect, response: timeouts.response,
                session: configuration.timeouts.session.milliseconds,
                ask: configuration.timeouts.ask.milliseconds))
        let limits = configuration.limits
        self.limits = Limits(
            request: HTTP.Limits(startLine: limits.startLine, head: limits.head, fields: limits.fields),
            response: HTTP.Limits(
                startLine: limits.startLine, head: limits.upstreamHead, fields: HTTP.Limits.response.fields),
            replayMemory: limits.replayMemory, replayDisk: limits.replayDisk,
            replayDiskTotal: limits.replayDiskTotal, clients: limits.clients,
            clientsPerAddress: limits.clientsPerAddress, decodeRatio: limits.decodeRatio)
    }

    private static let count = Atomic(0)
}

extension Duration {
    /// Whole milliseconds, at least one for what is not zero.
    public var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(clamping: seconds) &* 1000
            &+ Int(clamping: (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
