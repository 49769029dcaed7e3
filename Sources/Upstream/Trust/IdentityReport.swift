import Authentication
import Bytes
import Challenges
import Model
import Rules
import TLS

/// A report on a server that asks for a certificate: what it accepts, and why it got no certificate that it accepts.
struct IdentityReport {
    private let choice: IdentityChoice
    private let challenge: AuthenticationChallenge
    private let ruling: RuleDecision

    /// The limit of listed issuers and certificates. A server may accept hundreds.
    private static let limit = 16
    /// The limit of a name, in characters.
    private static let longest = 200

    init(_ choice: IdentityChoice) {
        self.choice = choice
        challenge = AuthenticationChallenge(
            of: choice.space, acceptedBy: choice.issuers.map(\.description),
            failures: choice.progress.task.failureCount)
        ruling = choice.delegate.rule(for: challenge)
    }

    // MARK: - The sentence

    /// The predicate of a sentence about the server.
    var predicate: String {
        if case .cancelled(let reason)? = choice.progress.end { return "asks for a client certificate, but \(reason)" }
        if let refusal = choice.progress.refusals.last {
            return "refused the client certificate of credential \(refusal.version.name) (\(refusal.words))"
        }
        if choice.progress.end == nil, let name = choice.shown.name {
            return "was shown the client certificate of credential \(name)"
        }
        return "asks for a client certificate, but \(reason ?? "no rule shows one")"
    }

    /// The reason why a certificate was not shown, if there was one.
    private var reason: String? {
        guard case .declined(let reason)? = choice.progress.end else { return nil }
        return switch reason {
        case .parked, .attemptsUsed, .alreadyRefused, .reported: reason.description
        case .rejected where choice.progress.isRejectedByOperator:
            "\(by(ruling.rule)) asks the operator, who rejected that"
        case .rejected where ruling.action == .reject: "\(by(ruling.rule)) rejects that"
        case .rejected: "\(by(ruling.rule)) shows none, because it does not accept their issuers"
        default: nil
        }
    }

    /// A sentence about a response that refuses the request because of its certificate.
    ///
    /// - Parameter page: the status and text of the response.
    func sentence(onPage page: String) -> String {
        let refused = choice.progress.refusals.last { $0.words == page }?.version.name
        guard let name = refused ?? (choice.progress.end == nil ? choice.shown.name : nil) else {
            return "the server \(predicate): it answered \(page)"
        }
        return "the server refused the client certificate of credential \(name): it answered \(page)"
    }

    // MARK: - The list

    var text: String {
        var lines: [String] = []
        if challenge.distinguishedNames.isEmpty {
            lines.append("It does not say which issuers it accepts.")
        } else {
            lines.append("It accepts certificates of these issuers:")
            lines += Self.listed(challenge.distinguishedNames.map(Self.shortened))
        }
        let identities = identities
        if !identities.isEmpty {
            lines += ["", "The proxy's certificates, and what happened to them:"]
            lines += Self.listed(identities)
        }
        if let suggestion {
            lines += ["", "To show one, add lines like these to the rule file:", ""] + suggestion
        }
        return lines.joined(separator: "\n")
    }

    private static func listed(_ lines: [String]) -> [String] {
        let rest = lines.count - limit
        return lines.prefix(limit).map { "  \($0)" } + (rest > 0 ? ["  and \(rest) more"] : [])
    }

    private static func shortened(_ name: String) -> String {
        name.count > longest ? "\(name.prefix(longest))…" : name
    }

    /// Lines for the rule file; nil if a certificate is already configured for the server.
    private var suggestion: [String]? {
        guard case .declined? = choice.progress.end, choice.progress.refusals.isEmpty, reason == nil else { return nil }
        let (host, port) = (choice.space.host, choice.space.port)
        let configuration = choice.delegate.policy.rules.configuration
        let credential = configuration.freeCredentialName("\(host)-device")
        let name = configuration.freeRuleName("\(host)\(port == 443 ? "" : ":\(port)"), client")
        let predicates = (choice.space.isProxy ? ["proxy yes"] : []) + ["host \(host)", "port \(port)"]
        return [
            "credential \(credential) { certificate /path/to/certificate.pem; key /path/to/key.pem }",
            "challenge \"\(name)\" { \(predicates.joined(separator: "; ")); method client-certificate; use \(credential) }",
        ]
    }

    /// Lists each certificate with the reason why it was not shown.
    private var identities: [String] {
        let delegate = choice.delegate
        let configured = delegate.policy.rules.configuration.credentials.compactMap { credential -> String? in
            guard case .identity = credential.content else { return nil }
            guard let known = delegate.policy.credentials.certificate(named: credential.name) else {
                return "\(credential.name): it cannot be read"
            }
            return "\(credential.name): \(why(known) ?? whyNotByRule(known))"
        }
        return configured + choice.stored.map { "\($0.version.name): \(why($0) ?? whyNotByDefault($0))" }
    }

    /// The reason from earlier uses of the certificate; nil if none.
    private func why(_ credential: Credential) -> String? {
        let version = credential.version
        if let refusal = choice.progress.refusals.last(where: { $0.version == version }) {
            return "it was shown, and refused (\(refusal.words))"
        }
        if version == choice.shown.credential?.version { return "it was shown" }
        guard let pause = choice.pause(of: version) else { return nil }
        guard let time = pause.time else {
            return "it was refused before and is on hold until you set its value again"
        }
        return "it was refused before and is on hold: the next try is in \(ChallengeTask.PassReason.words(time))"
    }

    private func whyNotByRule(_ credential: Credential) -> String {
        let name = credential.version.name
        guard let rule = ruling.rule else {
            let query = ChallengeQuery(challenge, client: choice.delegate.client)
            return choice.delegate.policy.rules.nearestMiss([query], using: name)?.sentence
                ?? "no rule shows it to this server"
        }
        guard case .use(let names) = ruling.action, names.contains(name) else {
            return "\(by(rule)) decides, which says '\(ruling.action.words)'"
        }
        return foreign(credential) ?? "\(by(rule)) allows no other attempt"
    }

    private func whyNotByDefault(_ credential: Credential) -> String {
        guard ruling.action == .performDefault else {
            return "\(by(ruling.rule)) decides, which says '\(ruling.action.words)'"
        }
        return foreign(credential) ?? "it is not the default"
    }

    private func foreign(_ credential: Credential) -> String? {
        guard !choice.issuers.isEmpty, !choice.isAccepted(credential) else { return nil }
        let issuer = (credential.identity as? Identity)?.leaf.issuer.map { "\($0)" } ?? "nobody"
        return "its issuer is \(Self.shortened(issuer)), which the server does not accept"
    }

    private func by(_ rule: RuleReference?) -> String { rule.map { "rule \($0.title)" } ?? "no rule" }

    // MARK: - The journal

    /// Writes the outcome of the latest request for a certificate into the journal.
    ///
    /// - Parameter page: the status and text of a response that refuses the request because of its certificate; nil if
    ///   none did.
    /// - Returns: the line for the operator, if there is news.
    func note(_ outcome: JournalEntry.Outcome, onPage page: String? = nil, at now: WallTime) -> String? {
        // The rules were asked again after each refusal. The last of them answered.
        var asked = outcome == .answered ? challenge : choice.challenge ?? challenge
        asked.distinguishedNames = challenge.distinguishedNames
        var note = TLSChallengeEntry(asked, to: choice.delegate)
        note.lines = challenge.distinguishedNames.map { "accepts \($0)" }
        note.credential = choice.shown.name
        note.isConcerned = choice.mayShow || page != nil
        if outcome != .answered {
            note.reason =
                page.map(sentence) ?? "the server \(predicate)" + (outcome == .declined ? "; it went on without" : "")
            note.suggestion = suggestion?.joined(separator: "\n")
        }
        return note.put(outcome, failures: challenge.previousFailureCount, at: now)
    }
}
