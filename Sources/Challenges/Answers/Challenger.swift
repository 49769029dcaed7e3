import Authentication
import HTTP
import Model
import Rules
import Telemetry

/// A server that may ask for a credential: an origin, or a parent proxy on the way there.
///
/// Belongs to its loop.
public final class Challenger {
    public let origin: Origin
    /// Lower case.
    public let host: [UInt8]
    /// Its name in the accounts of credentials.
    public let serverName: String
    /// The name that texts for the client call it by.
    public let title: String
    private let mayHaveCredentials: Bool
    /// The rules that the next three were asked of.
    private var judge: RuleSet?
    private var mayAnswer = false
    private var learns = false
    private var dependsOnClient = false
    /// Whether a credential is kept for it, as of that generation.
    private var kept = (isKnown: false, generation: 0)
    /// The answer that was found last without waiting.
    var latestAnswer: LatestAnswer?
    /// The server's verdicts on the credential that was used last; nil: a client brought it along, or there was none.
    var latestEvidence: Evidence?
    /// The record of the answer that went to it last after a challenge.
    var latestRecord: AnswerRecord?
    /// The journal's word on the challenge that was answered last.
    var latestNote: AnsweredNote.Latest?

    /// - Parameter mayHaveCredentials: false for one that nobody vouches for.
    public init(_ origin: Origin, title: String, mayHaveCredentials: Bool = true) {
        self.origin = origin
        host = Array(origin.host.utf8)
        serverName = origin.serverName
        self.title = title
        self.mayHaveCredentials = mayHaveCredentials
    }

    public var port: UInt16 { origin.port }
    public var isProxy: Bool { origin.isProxy }
    /// Whether credentials travel encrypted to it.
    public var isSecure: Bool { origin.protocol == .https }
    public var fields: ChallengeFields { isProxy ? .proxy : .origin }

    /// Whether a rule speaks of its challenges: one could be answered, or the credential of a client's own answer is kept.
    public func isConcerned(by rules: RuleSet) -> Bool {
        if judge !== rules { ask(rules) }
        return mayAnswer || learns
    }

    /// Whether a challenge of it could be answered: a rule speaks of it, or a credential is kept for it.
    public func mayBeAnswered(by rules: RuleSet, in state: ChallengeState) -> Bool {
        if judge !== rules { ask(rules) }
        return mayAnswer || isServed(by: state)
    }

    /// Whether a rule keeps the credential of a client's own answer that it accepts.
    public func mayLearn(by rules: RuleSet) -> Bool {
        if judge !== rules { ask(rules) }
        return learns
    }

    /// Whether a rule about its challenges speaks of clients.
    public func answersDependOnClient(by rules: RuleSet) -> Bool {
        if judge !== rules { ask(rules) }
        return dependsOnClient
    }

    /// Whether a credential is kept for it.
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
}

extension Challenger {
    /// An answer that a rule's credential gives in a known space, and all that it depends on but the target. To find it costs
    /// about 4,000 instructions, most of them for the rules and the names; requests to one server mostly want the same.
    final class LatestAnswer {
        let policy: ChallengePolicy
        /// The value of `ChallengeState.generation` at that time.
        let generation: Int
        let known: KnownOrigin
        let space: KnownSpace
        let prepared: PreparedAnswer
        /// The record of the answer, for the requests that it is given to.
        let record: AnswerRecord
        /// The client that it is for; nil: all, since no rule about the server looks at the client.
        private let client: ClientIdentity?

        init(
            _ prepared: PreparedAnswer, by rule: RuleReference?, for client: ClientIdentity?, policy: ChallengePolicy,
            generation: Int, of place: (known: KnownOrigin, space: KnownSpace)
        ) {
            self.client = client
            (known, space) = place
            self.policy = policy
            self.generation = generation
            self.prepared = prepared
            record = AnswerRecord(prepared, by: rule)
        }

        /// Whether it is still the answer for that target, to that client.
        func covers(
            _ target: Span<UInt8>, of client: () -> ClientIdentity, by policy: ChallengePolicy, in state: ChallengeState
        ) -> Bool {
            if let own = self.client, own != client() { return false }
            return self.policy === policy && generation == state.generation(of: policy)
                && known.space(covering: target) === space && !(prepared.wantsLogin && known.isOpen(target))
        }
    }
}
