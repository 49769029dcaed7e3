import Authentication
import HTTP
import Model
import Rules

/// In which fields a server challenges and is answered: as an origin (RFC 9110 section 11.6) or as a proxy on the way
/// (section 11.7).
struct ChallengeFields {
    let status: Status
    let challenge: KnownField
    let answer: StaticString
    let information: KnownField

    static let origin = ChallengeFields(
        status: .unauthorized, challenge: .wwwAuthenticate, answer: "Authorization", information: .authenticationInfo)
    static let proxy = ChallengeFields(
        status: .proxyAuthenticationRequired, challenge: .proxyAuthenticate, answer: "Proxy-Authorization",
        information: .proxyAuthenticationInfo)
}

/// A server that may ask for a credential: an origin, or a parent proxy on the way there.
///
/// Belongs to its loop.
final class Challenger {
    let origin: Origin
    /// Lower case.
    let host: [UInt8]
    /// The name that texts for the client call it by.
    let title: String
    /// Others that know the same accounts: a version that one of them refuses, all do.
    var sharesAccountsWith: [Origin] = []
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

    /// - Parameter mayHaveCredentials: false for one that nobody vouches for.
    init(_ origin: Origin, title: String, mayHaveCredentials: Bool = true) {
        self.origin = origin
        host = Array(origin.host.utf8)
        self.title = title
        self.mayHaveCredentials = mayHaveCredentials
    }

    var port: UInt16 { origin.port }
    var isProxy: Bool { origin.isProxy }
    /// Whether credentials travel encrypted to it.
    var isSecure: Bool { origin.protocol == .https }
    var fields: ChallengeFields { isProxy ? .proxy : .origin }

    /// Whether a rule speaks of its challenges: one could be answered, or the credential of a client's own answer is kept.
    func isConcerned(by rules: RuleSet) -> Bool {
        if judge !== rules { ask(rules) }
        return mayAnswer || learns
    }

    /// Whether a challenge of it could be answered: a rule speaks of it, or a credential is kept for it.
    func mayBeAnswered(by rules: RuleSet, in state: ChallengeState) -> Bool {
        if judge !== rules { ask(rules) }
        return mayAnswer || isServed(by: state)
    }

    /// Whether a rule keeps the credential of a client's own answer that it accepts.
    func mayLearn(by rules: RuleSet) -> Bool {
        if judge !== rules { ask(rules) }
        return learns
    }

    /// Whether a rule about its challenges speaks of clients.
    func answersDependOnClient(by rules: RuleSet) -> Bool {
        if judge !== rules { ask(rules) }
        return dependsOnClient
    }

    /// Whether a credential is kept for it.
    func isServed(by state: ChallengeState) -> Bool {
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

/// An answer that a rule's credential gives in a known space, and all that it depends on but the target. To find it costs
/// about 4,000 instructions, most of them for the rules and the names; requests to one server mostly want the same.
struct LatestAnswer {
    let policy: ChallengePolicy
    /// As `AnswerSource.generation`.
    let generation: Int
    let known: KnownOrigin
    let space: KnownSpace
    let prepared: PreparedAnswer
    let rule: RuleReference?

    /// Whether it is still the answer for that target.
    func covers(_ target: Span<UInt8>, by policy: ChallengePolicy, as generation: Int) -> Bool {
        self.policy === policy && self.generation == generation && known.space(covering: target) === space
    }
}
