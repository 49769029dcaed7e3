import Authentication
import HTTP
import Model
import Rules
import Telemetry

/// The reason why the challenges of a response were not answered, as a sentence, and what would answer them.
struct UnansweredReason {
    let sentence: String
    /// The cause in the metrics.
    let cause: UnansweredCause
    /// Whether a rule or a stored credential concerns the server.
    let isConcerned: Bool
    /// The credentials that a rule nearly gave, and the rule.
    private var nearest: (credentials: [String], rule: RuleReference)?
    private var replacesAuthorization = false
    var precedes: RuleReference?
    /// Whether other lines in the rule file would change anything.
    private let isOfRules: Bool

    private init(
        _ sentence: String, _ cause: UnansweredCause, nearest: (credentials: [String], rule: RuleReference)? = nil,
        isConcerned: Bool = true, isOfRules: Bool = true
    ) {
        self.sentence = sentence
        self.cause = cause
        self.nearest = nearest
        self.isConcerned = isConcerned
        self.isOfRules = isOfRules
    }

    static func find(for response: UnansweredResponse, offers: [Offer]) -> UnansweredReason {
        let asked = offers.filter { $0.space.authenticationMethod != .other }.map { Asked($0, response) }
        if let reason = ofCredential(response, asked) { return reason }
        if !asked.isEmpty { return ofRules(response, asked) }
        return ofUnknown(response, offers) ?? ofServer(response, offers)
    }

    /// A challenge with the rules' decision.
    private struct Asked {
        let space: ProtectionSpace
        let query: ChallengeQuery
        let ruling: RuleDecision

        init(_ offer: Offer, _ response: UnansweredResponse) {
            space = offer.space
            query = ChallengeQuery(offer.space, client: response.delegate.client, failures: response.failures)
            ruling = response.delegate.policy.rules.decide(query)
        }
    }

    /// The reason if there was a credential.
    private static func ofCredential(_ response: UnansweredResponse, _ asked: [Asked]) -> UnansweredReason? {
        let parked = asked.compactMap { response.parked(in: $0.space, by: $0.ruling.action) }.first
        if let note = response.note {
            var reason = UnansweredReason(note, cause(of: response, asked, isParked: parked != nil), isOfRules: false)
            let reported = asked.first { $0.ruling.isReport }
            if case .use(let credentials)? = reported?.ruling.action, let rule = reported?.ruling.rule {
                reason.nearest = (credentials, rule)
            }
            return reason
        }
        if response.isRejectedByOperator, let rule = asked.first(where: { $0.ruling.action == .ask })?.ruling.rule {
            return UnansweredReason(rejection(by: rule), .rejected, isOfRules: false)
        }
        if response.keepsAuthorization {
            for asked in asked {
                guard case .use(let credentials) = asked.ruling.action, let rule = asked.ruling.rule else { continue }
                var reason = UnansweredReason(
                    "the request has its own Authorization, which is kept: rule \(rule.title) replaces it "
                        + "with 'authorization replace'", .ownAuthorization, nearest: (credentials, rule))
                reason.replacesAuthorization = true
                reason.precedes = rule
                return reason
            }
        }
        let title = response.challenger.title
        if response.failures > 0, let credential = response.credential {
            return UnansweredReason("credential \(credential) was refused by \(title)", .refused, isOfRules: false)
        }
        if let parked {
            return UnansweredReason(
                "credential \(parked.name) was refused before, and is on hold at \(title)", .parked, isOfRules: false)
        }
        return nil
    }

    /// The sentence about a challenge that an operator has rejected because a rule asks.
    static func rejection(by rule: RuleReference) -> String {
        "rule \(rule.title) asks the operator, who rejected the challenge"
    }

    /// The cause. A parked credential counts as refused without being sent.
    private static func cause(of response: UnansweredResponse, _ asked: [Asked], isParked: Bool) -> UnansweredCause {
        if response.failures > 0 { return isParked && response.credential == nil ? .parked : .refused }
        if isParked { return .parked }
        return asked.contains { $0.ruling.action == .cancel } ? .cancelled : .failed
    }

    private static func ofRules(_ response: UnansweredResponse, _ asked: [Asked]) -> UnansweredReason {
        let rules = response.delegate.policy.rules
        let decided = asked.first { $0.ruling.rule != nil }
        let miss = rules.nearestMiss(asked.map(\.query))
        if let decided, let rule = decided.ruling.rule {
            var reason: UnansweredReason
            if let miss, miss.predicate != .host, miss.rule.stands(before: rule, in: rules) {
                reason = UnansweredReason(miss.sentence, .mismatch, nearest: (miss.credentials, miss.rule))
            } else {
                let behind = rules.answerBehind(rule, decided.query)
                reason = UnansweredReason(
                    Self.sentence(on: decided.ruling, by: rule, before: behind?.rule), Self.cause(decided.ruling))
                if case .use(let credentials)? = behind?.action, let rule = behind?.rule {
                    reason.nearest = (credentials, rule)
                }
            }
            reason.precedes = rule
            return reason
        }
        if let miss {
            return UnansweredReason(miss.sentence, .mismatch, nearest: (miss.credentials, miss.rule))
        }
        return UnansweredReason(
            "no rule is for \(response.challenger.origin.authority)", .noRule, isConcerned: isConcerned(response))
    }

    private static func cause(_ ruling: RuleDecision) -> UnansweredCause {
        switch ruling.action {
        case .use, .trust: .exposing
        case .performDefault: .noCredential
        case .reject: .rejected
        case .cancel, .ask: .cancelled
        }
    }

    private static func sentence(
        on ruling: RuleDecision, by rule: RuleReference, before behind: RuleReference?
    ) -> String {
        let rest = behind.map { " before rule \($0.title) is tried" } ?? ""
        switch ruling.action {
        case .use, .trust: return "the response to a TRACE would show the credential"
        case .performDefault where behind == nil:
            return "rule \(rule.title) says 'default', but no credential is stored for the challenge"
        case .performDefault: return "rule \(rule.title) says 'default'\(rest)"
        case .reject: return "rule \(rule.title) rejects the challenge\(rest)"
        case .cancel: return "rule \(rule.title) cancels the request\(rest)"
        case .ask: return "rule \(rule.title) asks the operator, and has no answer\(rest)"
        }
    }

    private static func isConcerned(_ response: UnansweredResponse) -> Bool {
        let delegate = response.delegate
        return response.challenger.isConcerned(by: delegate.policy.rules)
            || response.challenger.isServed(by: delegate.state)
    }

    /// The reason if a rule covers unknown schemes.
    private static func ofUnknown(_ response: UnansweredResponse, _ offers: [Offer]) -> UnansweredReason? {
        for ruling in offers.map({ Asked($0, response).ruling }) {
            guard let rule = ruling.rule, [.reject, .cancel].contains(ruling.action) else { continue }
            return UnansweredReason(sentence(on: ruling, by: rule, before: nil), cause(ruling), isOfRules: false)
        }
        return nil
    }

    /// The reason if no challenge of the response can be answered.
    private static func ofServer(_ response: UnansweredResponse, _ offers: [Offer]) -> UnansweredReason {
        let schemes = offers.map { JournalText.printable($0.challenge.scheme, longest: 64) }.filter { !$0.isEmpty }
        let (title, status) = (response.challenger.title, response.challenger.fields.status.rawValue)
        let sentence =
            schemes.isEmpty
            ? "\(title) answers \(status) without a challenge" + (response.lines.isEmpty ? "" : " that can be read")
            : "\(title) asks for \(schemes.joined(separator: " or ")), which this proxy does not know"
        return UnansweredReason(sentence, .unsupported, isConcerned: isConcerned(response), isOfRules: false)
    }

    /// The credentials that suggested lines may name: those that a rule nearly gave and intends for the server.
    func credentials(for query: ChallengeQuery, by rules: RuleSet) -> [String] {
        nearest.flatMap { rules.covers(query, by: $0.rule) ? $0.credentials : nil } ?? []
    }

    /// Whether the rule that nearly answered requires answers that do not show the credential on the way.
    func wantsSecure(by rules: RuleSet) -> Bool { nearest.map { rules.wantsSecure($0.rule) } ?? false }

    /// Lines for the rule file; nil if none would help.
    ///
    /// - Parameter names: those of other suggestions; gets the names of this one.
    func suggestion(
        for query: ChallengeQuery, _ offer: Offer, by rules: RuleSet, besides names: inout JournalEntry.SuggestedNames
    ) -> (rule: SuggestedChallengeRule, comments: [String], names: JournalEntry.SuggestedNames)? {
        guard isOfRules else { return nil }
        let space = offer.space
        var rule = SuggestedChallengeRule(space)
        rule.credentials = credentials(for: query, by: rules)
        rule.isOpen = nearest != nil && rule.credentials.isEmpty
        rule.wantsSecure = wantsSecure(by: rules)
        rule.replacesAuthorization = replacesAuthorization
        rule.registry = RegistryChallenge.naming(offer.challenge, from: space.origin)
        let ruleName = rules.configuration.freeRuleName(space.host, besides: names.rules)
        rule.ruleName = ruleName
        var own = JournalEntry.SuggestedNames(rules: [ruleName])
        if let made = rule.madeCredential {
            let name = rules.configuration.freeCredentialName(made, besides: names.credentials)
            rule.credentialName = name
            own.credentials = [name]
        }
        guard rule.lines != nil else { return nil }
        names.add(own)
        let comment = precedes.map { ["# before rule \(JournalText.printable($0.title))"] } ?? []
        return (rule, comment, own)
    }
}

extension HeaderChallenge {
    /// Whether the server announces its tokens (RFC 9728 section 5.1).
    var announcesTokens: Bool { scheme == "bearer" && self["resource_metadata"] != nil }
}

extension Origin {
    /// The host and port.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension RuleReference {
    fileprivate func stands(before other: RuleReference, in rules: RuleSet) -> Bool {
        for challenge in rules.configuration.challenges {
            if challenge.rule === self { return true }
            if challenge.rule === other { return false }
        }
        return false
    }
}
