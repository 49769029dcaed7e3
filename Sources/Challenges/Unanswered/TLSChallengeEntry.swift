import Authentication
import Bytes
import Model
import Rules

/// The journal note on a TLS challenge: a server's certificate, or its request for one.
public struct TLSChallengeEntry {
    public let challenge: AuthenticationChallenge
    private let delegate: RuleDelegate
    /// The challenge, for people: accepted issuers, or problems; of any length and number.
    public var lines: [String] = []
    /// The name of the certificate that was shown, or the reason why one was trusted.
    public var credential: String?
    /// The reason why it was not answered.
    public var reason: String?
    public var suggestion: String?
    /// The rule that the suggested lines have to stand before.
    public var precedes: RuleReference?
    /// Whether a rule or a stored credential concerns the server.
    public var isConcerned = true

    public init(_ challenge: AuthenticationChallenge, to delegate: RuleDelegate) {
        self.challenge = challenge
        self.delegate = delegate
    }

    private var space: ProtectionSpace { challenge.protectionSpace }
    /// Whether the proxy itself refuses: the request then fails although the server would have served it.
    private var isOurVerdict: Bool { space.authenticationMethod == .serverTrust }

    /// Writes the note into the journal.
    /// - Returns: the line for the operator, if it is unanswered and news.
    public func put(_ outcome: JournalEntry.Outcome, failures: Int = 0, at now: WallTime) -> String? {
        let rules = delegate.policy.rules
        let query = ChallengeQuery(challenge, client: delegate.client)
        let decision = rules.decide(query)
        var entry = JournalEntry(
            JournalEntry.Key(space, scheme: space.authenticationMethod.rawValue), outcome, at: now)
        entry.lines = lines.prefix(JournalText.lines).map { JournalText.printable($0, longest: 512) }
        entry.rule = decision.rule
        entry.disposition = decision.action.words
        entry.credential = credential
        entry.failures = failures
        guard outcome != .answered else {
            delegate.state.journal.put([entry])
            return nil
        }
        entry.rules = rules.explain(query, limit: JournalText.rules).map { JournalText.printable("\($0)") }
        entry.reason = reason.map { JournalText.printable($0, longest: 512) }
        entry.suggestion = suggestion
        entry.precedes = precedes
        entry.isConcerned = isConcerned
        guard delegate.state.journal.put([entry]), isConcerned || isOurVerdict else { return nil }
        return report(entry)
    }

    private func report(_ entry: JournalEntry) -> String {
        let authority = space.origin.authority
        let isRefused = entry.outcome == .passed && credential != nil
        let subject =
            isOurVerdict
            ? "the certificate of \(authority) is not trusted"
            : isRefused
                ? "the client certificate for \(authority) is refused"
                : "a request from \(authority) for a client certificate got no answer"
        let reason = entry.reason ?? ""
        // The subject says it already.
        let cause =
            isOurVerdict && reason.hasPrefix(Self.distrust) ? reason.dropFirst(Self.distrust.count) : ": \(reason)"
        return subject + cause
    }

    /// The beginning of the reason of a certificate that is not trusted, before its cause.
    public static let distrust = "the server's certificate is not trusted"
}
