import Authentication
import Bytes
import Credentials
import Model
import Rules
import Telemetry

/// A response whose challenges were not answered, with all that explains it.
public struct UnansweredResponse {
    public let challenger: Challenger
    public let delegate: RuleDelegate
    /// The values of the challenge fields.
    public let lines: [String]
    public let challenges: [HeaderChallenge]
    /// The reason, if the proxy began to answer.
    public let note: String?
    public let outcome: JournalEntry.Outcome
    /// The number of refused answers of the request.
    public var failures = 0
    /// The name of the credential that answered last.
    public var credential: String?
    /// The spaces that refused an answer of the request, with the refused versions, the latest last.
    public var refusals: [(space: ProtectionSpace, version: CredentialVersion)] = []
    /// Whether the request was sent with the client's own `Authorization`.
    public var keepsAuthorization = false
    /// Whether an operator rejected a challenge of the request.
    public var isRejectedByOperator = false
    /// Reads the excerpt of the response for people.
    public var excerpt: (() -> ResponseExcerpt)?

    /// The time after which a similar response is read again.
    private static let rereading: Milliseconds = .seconds(1)

    public init(
        from challenger: Challenger, to delegate: RuleDelegate, lines: [String], challenges: [HeaderChallenge],
        note: String?, outcome: JournalEntry.Outcome
    ) {
        self.challenger = challenger
        self.delegate = delegate
        self.lines = lines
        self.challenges = challenges
        self.note = note
        self.outcome = outcome
    }

    /// The result of a note in the journal.
    public struct Finding {
        /// The entry for the response's first challenge.
        public let entry: JournalEntry
        /// All entries for the response.
        public let keys: [JournalEntry.Key]
        /// The excerpt of the response; nil if a similar one was read a moment ago.
        public let response: ResponseExcerpt?
        /// Whether it is news for operators.
        public let isNews: Bool
        /// The schemes of all challenges, as the server names them; nil for an unknown one.
        public let schemes: [(name: String, known: AnsweredScheme?)]
        /// The challenge that announces tokens, with its entry, if new lines for the rule file need the server's metadata.
        public var announcing: (challenge: HeaderChallenge, key: JournalEntry.Key)?

        /// The line for the operator.
        public func report(on challenger: Challenger) -> String {
            let realm = entry.key.space.realm.map { " realm \"\($0)\"" } ?? ""
            let names = schemes.map(\.name).joined(separator: ", ")
            let subject = names.isEmpty ? "" : " (\(names)\(realm))"
            let lines = entry.suggestion?.split(separator: "\n").filter { !$0.hasPrefix("#") }.joined(separator: " ")
            let advice = lines.map { "; to answer it, add: \($0)" } ?? ""
            let authority = challenger.origin.authority
            return "a challenge of \(authority)\(subject) got no answer: \(entry.reason ?? "")\(advice)"
        }
    }

    private var rules: RuleSet { delegate.policy.rules }
    private var state: ChallengeState { delegate.state }

    /// Writes the response into the journal.
    public func note(at now: WallTime) -> Finding? {
        let offers = offers
        let keys = offers.map { JournalEntry.Key($0.space, scheme: $0.challenge.scheme) }
        let circumstances = JournalEntry.Circumstances(
            rules: rules, client: delegate.client,
            generation: state.spaces.accounts.generation &+ state.storage.originGeneration, note: note,
            failures: failures, credential: credential, keepsAuthorization: keepsAuthorization,
            isRejectedByOperator: isRejectedByOperator, outcome: outcome)
        var schemes: [(name: String, known: AnsweredScheme?)] = []
        for (key, offer) in zip(keys, offers)
        where !key.scheme.isEmpty && !schemes.contains(where: { $0.name == key.scheme }) {
            schemes.append((key.scheme, AnsweredScheme(offer.space.authenticationMethod)))
        }
        if let known = state.journal.repeated(keys, under: circumstances, at: now) {
            let response = now - known.responded < Self.rereading ? nil : excerpt?()
            if let response { state.journal.note(response, for: keys, at: now) }
            return Finding(entry: known, keys: keys, response: response, isNews: false, schemes: schemes)
        }
        let (response, entries) = (excerpt?(), entries(for: offers, at: now))
        let isNews = state.journal.put(entries, under: circumstances)
        if let response { state.journal.note(response, for: keys, at: now) }
        guard let first = entries.first else { return nil }
        var finding = Finding(entry: first, keys: keys, response: response, isNews: isNews, schemes: schemes)
        for (entry, offer) in zip(entries, offers)
        where offer.challenge.announcesTokens && entry.suggestedRule?.madeCredential != nil {
            finding.announcing = (offer.challenge, entry.key)
        }
        return finding
    }

    /// The challenges in the order in which they are tried, followed by those with unknown schemes.
    private var offers: [Offer] {
        let order = delegate.policy.order
        let known = rules.offers(
            in: challenges, from: challenger.origin, client: delegate.client, failures: failures, order: order
        ).offers
        let others = challenges.filter { challenge in !known.contains { $0.challenge == challenge } }
        let unknown = others.isEmpty && known.isEmpty ? [HeaderChallenge(scheme: "")] : others
        let rest = unknown.map { challenge in
            Offer(
                space: ProtectionSpace(
                    origin: challenger.origin, realm: challenge.realm, authenticationMethod: .other),
                challenge: challenge, strength: 0)
        }
        return Array((known + rest).prefix(JournalText.lines))
    }

    private func entries(for offers: [Offer], at now: WallTime) -> [JournalEntry] {
        let reason = UnansweredReason.find(for: self, offers: offers)
        var names = state.journal.suggestedNames(
            besides: offers.map { JournalEntry.Key($0.space, scheme: $0.challenge.scheme) })
        let lines = lines.prefix(JournalText.lines).map { JournalText.printable($0, longest: 512) }
        return offers.map { offer in
            let query = ChallengeQuery(offer.space, client: delegate.client, failures: failures)
            let ruling = rules.decide(query)
            var entry = JournalEntry(
                JournalEntry.Key(offer.space, scheme: offer.challenge.scheme), outcome, at: now)
            entry.lines = lines
            entry.rules = rules.explain(query, limit: JournalText.rules).map { JournalText.printable("\($0)") }
            entry.rule = ruling.rule
            entry.disposition = ruling.action.words
            entry.credential = name(in: offer.space)
            entry.failures = failures
            entry.reason = JournalText.printable(reason.sentence, longest: 512)
            entry.cause = reason.cause
            entry.credentials = reason.credentials(for: query, by: rules)
            entry.wantsSecure = reason.wantsSecure(by: rules)
            entry.remedy = remedy(in: offer.space, by: ruling.action, at: now)
            if let suggestion = reason.suggestion(
                for: query, offer, by: rules, besides: &names)
            {
                entry.suggest(suggestion.rule, with: suggestion.comments)
                entry.suggestedNames = suggestion.names
                entry.precedes = reason.precedes
            }
            entry.isConcerned = reason.isConcerned
            return entry
        }
    }

    /// The name of the credential that was refused in that space, or answered last, or would have been proposed.
    private func name(in space: ProtectionSpace) -> String? {
        if let refusal = refusals.last(where: { $0.space == space }) { return refusal.version.name }
        // If other spaces refused, the credential that answered last belongs to one of them.
        return (refusals.isEmpty ? credential : nil) ?? proposed(for: space)?.version.name
    }

    /// The version that the rules would have used or been offered there, if it is parked.
    func parked(in space: ProtectionSpace, by answer: Configuration.ChallengeRule.Action) -> CredentialVersion? {
        var credentials = [proposed(for: space)]
        if case .use(let names) = answer {
            credentials += names.map { try? delegate.policy.credentials.credential(named: $0, for: space.origin) }
        }
        return credentials.compactMap(\.self).first { delegate.isHeld($0, in: space) }?.version
    }

    /// The credential in the store for that space.
    func proposed(for space: ProtectionSpace) -> Credential? {
        guard space.authenticationMethod != .other else { return nil }
        return state.storage.proposedCredential(for: space)
    }

    /// The remedy for a credential that was refused or is on hold there; nil if it is not on hold.
    func remedy(
        in space: ProtectionSpace, by action: Configuration.ChallengeRule.Action, at now: WallTime
    ) -> String? {
        guard let name = parked(in: space, by: action)?.name ?? (failures > 0 ? credential : nil) else { return nil }
        let named = try? delegate.policy.credentials.credential(named: name, for: space.origin)
        let servers = [named.flatMap { delegate.judge(of: $0, in: space) }, space.origin.serverName]
        let standings = servers.compactMap(\.self).flatMap {
            delegate.state.spaces.accounts.standings(at: $0, now: now)
        }
        guard let standing = standings.first(where: { $0.name == name })?.standing else { return nil }
        return remedy(of: name, in: space).sentence(in: standing)
    }

    private func remedy(of name: String, in space: ProtectionSpace) -> CredentialRemedy {
        if let configured = delegate.policy.rules.configuration.credentials.first(where: {
            $0.name.hasSameBytes(as: name)
        }) {
            return CredentialRemedy(of: name, configured: configured.content)
        }
        for space in [space] + space.moreGeneral {
            let stored = delegate.state.storage.defaultCredential(for: space)
            if stored?.version.isNamed(name) == true, let user = stored?.storedName(for: space) {
                return CredentialRemedy(of: name, user: user, for: space)
            }
        }
        return CredentialRemedy(of: name)
    }
}
