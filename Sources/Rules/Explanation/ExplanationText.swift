import Bytes
import Model

/// An explanation as a person reads it: lines of label and value, and one line for each rule asked.
struct ExplanationText {
    private typealias Answer = Configuration.Challenge.Answer

    private let explanation: Explanation
    private var lines: [String] = []

    init(_ explanation: Explanation) {
        self.explanation = explanation
        add(line: "\(explanation.request.method) \(explanation.request.url)")
        addRequest()
        if let reason = explanation.reasonForNone {
            add("challenges", "none is answered: \(reason)")
        } else if let response = explanation.response {
            addChallenges(of: response)
        } else {
            addProspects()
        }
    }

    /// Each line ended.
    var text: String { lines.map { $0 + "\n" }.joined() }

    private mutating func addRequest() {
        let request = explanation.request
        let route = explanation.route
        add("client", clientWords)
        add("route", routeWords)
        let asked = explanation.asked
        if route.action != .deny, asked.protocol != request.protocol, !request.isTunnel {
            let host = asked.host.utf8.contains(.colon) ? "[\(asked.host)]" : asked.host
            add("upgrade", "the origin is asked as https://\(host):\(asked.port)")
        }
        addParents(explanation)
        if let connectIsAllowed = explanation.connectIsAllowed {
            let verdict = connectIsAllowed ? "allowed" : "refused"
            add("connect", "port \(request.port) is \(verdict) by 'connect-ports'")
        }
        for (address, decision) in explanation.egress {
            let verdict = decision.isPermitted ? "permitted" : "refused"
            add("egress", "\(address) port \(explanation.asked.port) is \(verdict): \(decision.reason)")
        }
        if explanation.egress.isEmpty {
            let place = "decided by the address to which \(request.host) resolves"
            let isAway = !explanation.parents.isEmpty
            add("egress", isAway ? "decided by the parent's address; the parent looks \(request.host) up" : place)
        }
        if let handshake = explanation.handshake {
            addHandshake(handshake)
        } else if !request.findings.isEmpty || !request.issuers.isEmpty {
            let reason = request.isTunnel ? "what a tunnel carries is not seen" : "the origin is spoken to in clear"
            add("tls", "none: \(reason)")
        }
        guard explanation.reasonForNone == nil else { return }
        if request.protocol == .ftp { add("ftp", ftpWords) }
        let isKept = explanation.authorization == .keep
        add("authorization", "the client's own is \(isKept ? "kept, and then no challenge is answered" : "replaced")")
    }

    private mutating func addProspects() {
        for trace in explanation.prospects { add("rule", Self.words(trace)) }
        if explanation.prospects.isEmpty {
            let place = "in the rule file"
            let sentence = "there is no 'challenge' \(place)"
            add("rule", explanation.hasRules ? "no 'challenge' \(place) speaks of responses" : sentence)
        }
        for outlook in explanation.outlooks {
            add("if \(outlook.method)", outlook.answers.map(outlookWords).joined(separator: "; or "))
        }
    }

    private mutating func addChallenges(of response: ExplainedResponse) {
        if explanation.challenges.count > 1 {
            add("order", response.orderedBy.map { "as said by \($0)" } ?? "the strongest first")
        }
        var isDecided = false
        for challenge in explanation.challenges {
            add("challenge", challenge.words)
            if isDecided {
                add("answer", "not asked: a challenge before it decides")
                continue
            }
            for trace in challenge.traces { add("rule", Self.words(trace)) }
            add("answer", answerWords(challenge))
            isDecided = challenge.decision.answer != .reject
        }
        for sentence in response.ignored { add("ignored", sentence) }
        if !isDecided { add("outcome", "no challenge is answered: the response goes to the client as it is") }
    }

    // MARK: - Words

    private var clientWords: String {
        let client = explanation.request.client
        let who = (client.user.map { "\($0) at " } ?? "") + "\(client.address)"
        guard explanation.clientIsAllowed else { return "\(who), refused by 'clients'" }
        switch (explanation.clientIsAsked, client.user) {
        case (true, nil): return "\(who), allowed once it has said who it is (407)"
        case (false, .some): return "\(who), allowed; but nobody is asked for a name ('authenticate none')"
        case (true, .some), (false, nil): return "\(who), allowed"
        }
    }

    private var ftpWords: String {
        ["GET", "HEAD", "PUT"].contains(explanation.request.method)
            ? "the server's login is a Basic challenge with the realm \"FTP\"; "
                + (explanation.route.upgrade == nil ? "by TLS if the server offers it" : "not without TLS (upgrade)")
            : "of ftp URLs only GET, HEAD and PUT are carried out; the client gets a 405"
    }

    private var routeWords: String {
        let route = explanation.route
        var words = [route.action.rawValue]
        if route.upgrade != nil { words.append("upgrade") }
        if route.decodesContent { words.append("decode") }
        if let parentList = route.parentList { words.append("via \(parentList.words)") }
        let what = words.joined(separator: ", ")
        return route.rule.map { "\(what), by route \($0.name ?? "") (\($0.place))" } ?? "\(what), for no route matches"
    }

    static func words(_ trace: RuleTrace) -> String {
        let reason =
            switch trace.outcome {
            case .matched: "matches"
            case .failed(_, let reason): "no: \(reason)"
            case .depends(let words): words
            }
        let name = trace.rule.name.map { " \"\($0)\"" } ?? ""
        return "\(trace.rule.place)\(name): \(reason)"
    }

    private func answerWords(_ challenge: Explanation.Challenge) -> String {
        let decision = challenge.decision
        guard let rule = decision.rule else { return "default: \(defaultWords), for no rule matches" }
        switch decision.answer {
        case .use(let names):
            let use = Answer.useWords(names, " with \(challenge.scheme)\(serviceWords(challenge))")
            let retry = Configuration.Challenge.retryWords(decision.retry)
            return "\(use), attempts \(decision.attempts), retry \(retry), "
                + "persistence \(decision.persistence.rawValue), preempt \(decision.isPreemptive ? "yes" : "no"), "
                + "authorization \(decision.authorization.rawValue), by \(rule)"
        case .performDefault: return "default: \(defaultWords), by \(rule)"
        case .reject: return "reject: go on to the response's next challenge, by \(rule)"
        case .cancel: return "cancel: the client gets a 502 that names this rule, by \(rule)"
        case .trust: return "trust, by \(rule)"
        }
    }

    /// The service that a ticket is got for, and how far it goes.
    private func serviceWords(_ challenge: Explanation.Challenge) -> String {
        guard challenge.query.method == .negotiate else { return "" }
        let terms = challenge.decision.terms
        var words = " for \(terms?.servicePrincipal ?? "HTTP/\(challenge.query.host)")"
        if terms?.canonicalises == true { words += " (under the host's name in the DNS)" }
        if terms?.delegates == true { words += ", delegated" }
        return words
    }

    private var defaultWords: String {
        explanation.request.urlUser.map { "\($0) of the URL with its password" }
            ?? "the response goes to the client as it is"
    }

    private func outlookWords(_ answer: Answer) -> String {
        switch answer {
        case .use(let names): Answer.useWords(names)
        case .performDefault: "default: \(defaultWords)"
        case .reject: "reject: go on to the response's next challenge"
        case .cancel: "cancel: the client gets a 502"
        case .trust: "trust"
        }
    }

    mutating func add(_ label: String, _ value: String) {
        let padding = String(repeating: " ", count: max(1, 15 - label.utf8.count))
        add(line: "  \(label)\(padding)\(value)")
    }

    private mutating func add(line: String) {
        // A realm or a URL is whatever a peer or a user wrote; it must not steer the terminal.
        let safe = line.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
            default: scalar
            }
        }
        lines.append(String(String.UnicodeScalarView(safe)))
    }
}

extension Explanation.Challenge {
    /// The scheme and the protection space.
    fileprivate var words: String {
        let host = query.host.utf8.contains(.colon) ? "[\(query.host)]" : query.host
        let realm = query.realm.map { " realm \"\($0)\"" } ?? ""
        return "\(scheme)\(realm) of \(query.protocol.rawValue)://\(host):\(query.port)"
    }
}

/// The parents that a request goes through, and what their challenges would be answered with.
extension ExplanationText {
    mutating func addParents(_ explanation: Explanation) {
        guard let parentList = explanation.route.parentList, explanation.route.action != .deny else { return }
        if parentList.isAutomatic {
            add("parent", "as the PAC file says, which is not asked here")
        } else if explanation.parents.isEmpty {
            let names = parentList.hops.compactMap { hop in
                if case .parent(let parent) = hop { parent.name } else { nil }
            }
            add("parent", "none: \(names.first ?? "the first") leaves \(explanation.request.host) alone")
        }
        for parent in explanation.parents {
            switch parent.leg {
            case .direct: add("parent", "none, where those above do not work")
            case .server(let server, let name):
                add("parent", "\(name), \(server.scheme.rawValue) \(server.address), \(parent.passage)")
                for outlook in parent.outlooks {
                    add("  if \(outlook.label)", outlook.answers.map(Self.words).joined(separator: "; or "))
                }
            }
        }
    }

    private static func words(_ answer: Answer) -> String {
        switch answer {
        case .use(let names): Answer.useWords(names)
        case .performDefault: "default: a credential of the store, else the client gets a 502"
        case .reject: "reject: go on to the response's next challenge"
        case .cancel: "cancel: the client gets a 502"
        case .trust: "trust"
        }
    }
}

/// The lines about the TLS connection to the origin.
extension ExplanationText {
    mutating func addHandshake(_ handshake: ExplainedHandshake) {
        if let terms = handshake.terms {
            let version = terms.minimum.map { "\($0) or newer" }
            let lists = terms.revocation.isEmpty ? nil : "revocation lists \(terms.revocation.joined(separator: ", "))"
            add("tls", [version, lists].compactMap { $0 }.joined(separator: "; "))
        }
        addTrust(handshake.trust)
        addCertificate(handshake.certificate)
    }

    private mutating func addTrust(_ challenge: ExplainedHandshake.Challenge) {
        guard let decision = challenge.decision else {
            let reason = challenge.traces.isEmpty ? "for no rule speaks of it" : "unless a rule says otherwise"
            add("server trust", "a chain with any finding is refused with a 502, \(reason)")
            for trace in challenge.traces { add("rule", Self.words(trace)) }
            return
        }
        let isOne = challenge.query.findings.findings.count == 1
        add("server trust", "the \(isOne ? "finding is" : "findings are") \(Self.list(challenge.query.findings))")
        for trace in challenge.traces { add("rule", Self.words(trace)) }
        let by = decision.rule.map { "by \($0)" } ?? "for no rule matches"
        switch decision.answer {
        case .trust(let terms): add("answer", "\(Self.verdict(terms, on: challenge.query.findings)), \(by)")
        case .performDefault: add("answer", "default: refused with a 502 that names the findings, \(by)")
        case .reject, .cancel, .use:
            add("answer", "\(decision.answer.words): refused with a 502 that names this rule, \(by)")
        }
    }

    private mutating func addCertificate(_ challenge: ExplainedHandshake.Challenge) {
        guard let decision = challenge.decision else {
            let reason = challenge.traces.isEmpty ? "for no rule speaks of it" : "unless a rule says otherwise"
            add("certificate", "none is shown to the server, \(reason)")
            for trace in challenge.traces { add("rule", Self.words(trace)) }
            return
        }
        let issuers = challenge.query.issuers.map { "\"\($0)\"" }.joined(separator: " or ")
        add("certificate", "the server accepts one that was issued by \(issuers)")
        for trace in challenge.traces { add("rule", Self.words(trace)) }
        let by = decision.rule.map { "by \($0)" } ?? "for no rule matches"
        switch decision.answer {
        case .use(let names) where names.count > 1:
            let shown = "the first certificate that the server accepts is shown"
            add("answer", "use \(names.joined(separator: " ")): \(shown), \(by)")
        case .use(let names): add("answer", "use \(names.joined()): its certificate is shown, \(by)")
        case .cancel: add("answer", "cancel: the client gets a 502 that names this rule, \(by)")
        case .performDefault, .reject, .trust: add("answer", "\(decision.answer.words): none is shown, \(by)")
        }
    }

    /// The verdict on a chain with these findings on these terms.
    private static func verdict(_ terms: TrustTerms, on findings: TrustFindings) -> String {
        var again: [String] = []
        if !terms.anchors.isEmpty { again.append("with its anchors") }
        if let name = terms.name { again.append("for \(name)") }
        let pin = terms.pins.count == 1 ? "the pin" : "one of the pins"
        let condition = terms.pins.isEmpty ? "" : ", if the key fits \(pin)"
        let left = findings.subtracting(terms.allow)
        if left.isEmpty {
            return "trust: \(list(findings)) \(findings.findings.count == 1 ? "is" : "are") forgiven\(condition)"
        }
        if again.isEmpty { return "trust: refused with a 502, for it does not allow \(list(left))" }
        return "trust: evaluated again \(again.joined(separator: " and ")); if \(list(left, "or")) is found then too, "
            + "refused with a 502"
    }

    /// `a`, `a and b`, `a, b and c`.
    private static func list(_ findings: TrustFindings, _ conjunction: String = "and") -> String {
        var words = findings.findings.map(\.rawValue)
        guard let last = words.popLast() else { return "none" }
        return words.isEmpty ? last : words.joined(separator: ", ") + " \(conjunction) " + last
    }
}
