import Authentication
import Bytes
import IO
import Model
import Rules
import Telemetry

/// A server that may ask for a credential: an origin, or a parent proxy on the way there.
///
/// It belongs to its loop.
public final class Challenger {
    public let origin: Origin
    /// The host in lower case.
    public let host: [UInt8]
    /// The name of the server in the accounts of credentials.
    public let serverName: String
    /// The name of the server in texts for the client.
    public let title: String
    private let mayHaveCredentials: Bool
    /// The rules for which the next three values were computed.
    private var judge: RuleSet?
    private var mayAnswer = false
    private var learns = false
    private var dependsOnClient = false
    /// Whether a credential for it is stored, as of that generation.
    private var kept = (isKnown: false, generation: 0)
    /// The last answer that was found without waiting.
    var latestAnswer: LatestAnswer?
    /// The server's verdicts on the credential that was used last; nil if a client brought it, or there was none.
    var latestEvidence: Evidence?
    /// The record of the last answer that it got after a challenge.
    var latestRecord: AnswerRecord?
    /// The journal's note on the last answered challenge.
    var latestNote: AnsweredEntry.Latest?

    /// - Parameter mayHaveCredentials: false if the server is not trusted with any.
    public init(_ origin: Origin, title: String, mayHaveCredentials: Bool = true) {
        self.origin = origin
        host = Array(origin.host.utf8)
        serverName = origin.serverName
        self.title = title
        self.mayHaveCredentials = mayHaveCredentials
    }

    public var port: UInt16 { origin.port }
    public var isProxy: Bool { origin.isProxy }
    public var fields: ChallengeFields { isProxy ? .proxy : .origin }

    /// Whether a rule covers its challenges: one could be answered, or the credential of a client's own answer is
    /// stored.
    public func isConcerned(by rules: RuleSet) -> Bool {
        if judge !== rules { ask(rules) }
        return mayAnswer || learns
    }

    /// Whether a challenge of it could be answered: a rule covers it, or a credential for it is stored.
    public func mayBeAnswered(by rules: RuleSet, in state: ChallengeState) -> Bool {
        if judge !== rules { ask(rules) }
        return mayAnswer || isServed(by: state)
    }

    /// Whether a rule stores the credential of a client's own answer that the server accepts.
    public func mayLearn(by rules: RuleSet) -> Bool {
        if judge !== rules { ask(rules) }
        return learns
    }

    /// Whether a rule about its challenges depends on the client.
    public func answersDependOnClient(by rules: RuleSet) -> Bool {
        if judge !== rules { ask(rules) }
        return dependsOnClient
    }

    /// Whether a credential for it is stored.
    public func isServed(by state: ChallengeState) -> Bool {
        let generation = state.keptGeneration
        if kept.generation != generation {
            kept = (mayHaveCredentials && state.keepsCredentials(for: origin), generation)
        }
        return kept.isKnown
    }

    private func ask(_ rules: RuleSet) {
        let (host, isProxy) = (host, isProxy)
        mayAnswer = mayHaveCredentials && rules.mayAnswer(host: host.span, port: port, isProxy: isProxy)
        learns = !isProxy && rules.mayLearn(host: host.span, port: port)
        dependsOnClient = rules.answerDependsOnClient(host: host.span, port: port, isProxy: isProxy)
        judge = rules
    }

    /// An answer with a rule's credential in a known space, and everything it depends on except the target. Finding it
    /// costs about 4,000 instructions, mostly for rules and names; requests to one server mostly need the same.
    final class LatestAnswer {
        let policy: ChallengePolicy
        /// The value of `ChallengeState.generation` at that time.
        let generation: Int
        let known: KnownOrigin
        let space: KnownSpace
        let prepared: PreparedAnswer
        /// The record for the requests that get this answer.
        let record: AnswerRecord
        /// The client that it is for; nil for all clients, if no rule about the server depends on the client.
        private let client: ClientIdentity?
        /// The time at which its token must be renewed; in the distant future for other answers.
        private let end: WallTime
        private let loop: EventLoop

        init(
            _ prepared: PreparedAnswer, by rule: RuleReference?, for client: ClientIdentity?,
            until end: (WallTime, on: EventLoop), of place: (known: KnownOrigin, space: KnownSpace),
            as state: (policy: ChallengePolicy, generation: Int)
        ) {
            self.client = client
            (self.end, loop) = end
            (known, space) = place
            (policy, generation) = state
            self.prepared = prepared
            record = AnswerRecord(prepared, by: rule)
        }

        /// Whether it is still the answer for that target, to that client.
        func covers(
            _ target: Span<UInt8>, of client: () -> ClientIdentity, by policy: ChallengePolicy,
            in state: ChallengeState
        ) -> Bool {
            if let own = self.client, own != client() { return false }
            if end < .distantFuture, loop.wallTime >= end { return false }
            return self.policy === policy && generation == state.generation(of: policy)
                && known.space(covering: target) === space && !(prepared.wantsLogin && known.isOpen(target))
        }
    }
}
