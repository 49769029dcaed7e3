import Model

/// The lines about the TLS connection to the origin.
extension Explanation.Text {
    mutating func addHandshake(_ handshake: Explanation.Handshake) {
        if let terms = handshake.terms {
            let version: String? =
                switch (terms.minimum, terms.maximum) {
                case (nil, nil): nil
                case (let least?, nil): "\(least) or newer"
                case (_, let most?) where terms.versions.lowerBound == most: "\(most)"
                case (_, let most?): "\(terms.versions.lowerBound) to \(most)"
                }
            let lists = terms.revocation.isEmpty ? nil : "revocation lists \(terms.revocation.joined(separator: ", "))"
            add("tls", [version, lists].compactMap { $0 }.joined(separator: "; "))
        }
        addTrust(handshake.trust)
        addCertificate(handshake.certificate)
    }

    /// Adds a line about the sides with which the proxy may speak HTTP/2. Those of parents have lines of their own.
    mutating func addHTTP2() {
        let (request, route) = (explanation.request, explanation.route)
        let isInTunnel = request.isInTunnel || request.opensTunnel
        var words: [String] = []
        if isInTunnel, explanation.handshake != nil {
            words.append(route.http2.isForClients ? "offered to the client" : "not offered to the client")
        } else if !isInTunnel, !explanation.http2Listeners.isEmpty {
            words.append("offered to the client at \(explanation.http2Listeners.joined(separator: ", "))")
        }
        if explanation.handshake != nil {
            if explanation.namesLogin {
                words.append("not offered to the server: \(Explanation.loginWords)")
            } else {
                words.append(route.http2.isForOrigins ? "offered to the server" : "not offered to the server")
            }
        } else if route.http2 == .priorKnowledge, explanation.asked.protocol == .http, !request.opensTunnel {
            words.append(
                explanation.namesLogin
                    ? "not spoken with the server: \(Explanation.loginWords)"
                    : "spoken with the server without TLS, as the route says")
        } else if !isInTunnel, request.protocol == .http, route.action != .deny, route.parentList == nil {
            words.append("not offered to the server: it is asked without TLS")
        }
        if !words.isEmpty { add("http/2", words.joined(separator: ", ")) }
    }

    private mutating func addTrust(_ challenge: Explanation.Handshake.Challenge) {
        guard let ruling = challenge.ruling else {
            let reason = challenge.traces.isEmpty ? "" : "a rule decides otherwise, or "
            add(
                "server trust",
                "a certificate with any problem gives a 502, unless \(reason)an exception is stored for its key")
            for trace in challenge.traces { add("rule", Self.words(trace)) }
            return
        }
        let isOne = challenge.query.findings.findings.count == 1
        add("server trust", "the \(isOne ? "problem is" : "problems are") \(Self.list(challenge.query.findings))")
        for trace in challenge.traces { add("rule", Self.words(trace)) }
        let by = ruling.rule.map { "by \($0)" } ?? "because no rule matches"
        switch ruling.action {
        case .trust(let terms): add("answer", "\(Self.verdict(terms, on: challenge.query.findings)), \(by)")
        case .performDefault:
            let refusal = "a 502 that names the problems, unless an exception is stored for the key"
            add("answer", "default: \(refusal), \(by)")
        case .ask:
            let otherwise = "unless an exception is stored for the key, the request waits until an operator answers"
            add("answer", "ask: \(otherwise) ('attache ask'), \(by)")
        case .reject, .cancel, .use:
            add("answer", "\(ruling.action.words): the client gets a 502 that names this rule, \(by)")
        }
    }

    private mutating func addCertificate(_ challenge: Explanation.Handshake.Challenge) {
        guard let ruling = challenge.ruling else {
            let reason = challenge.traces.isEmpty ? "" : "a rule decides otherwise, or "
            add("certificate", "none is sent, unless \(reason)one is stored for this server")
            for trace in challenge.traces { add("rule", Self.words(trace)) }
            return
        }
        let issuers = challenge.query.issuers.map { "\"\($0)\"" }.joined(separator: " or ")
        add("certificate", "the server accepts certificates of \(issuers)")
        for trace in challenge.traces { add("rule", Self.words(trace)) }
        let by = ruling.rule.map { "by \($0)" } ?? "because no rule matches"
        switch ruling.action {
        case .use(let names): add("answer", "\(shownWords(names, challenge)), \(by)")
        case .cancel: add("answer", "cancel: the client gets a 502 that names this rule, \(by)")
        case .performDefault: add("answer", "default: the one that is stored for the server, if any, \(by)")
        case .ask:
            let otherwise = "or else the request waits until an operator answers ('attache ask')"
            add("answer", "ask: the one that is stored for the server, \(otherwise), \(by)")
        case .reject, .trust: add("answer", "\(ruling.action.words): none is sent, \(by)")
        }
    }

    /// Describes which of several certificates is shown: the first that the server accepts; if it accepts none, the
    /// first of a rule that names its hosts. The next is shown if the ones before it were refused.
    private func shownWords(_ names: [String], _ challenge: Explanation.Handshake.Challenge) -> String {
        let use = "use \(names.joined(separator: " "))"
        let (certificates, failures) = (explanation.request.certificates, challenge.query.failures)
        let shown = challenge.candidates(among: names, by: certificates).first
        if failures > 0, shown == nil || challenge.ruling?.answers == 0 {
            return
                "none is shown: \(failures == 1 ? "one was" : "\(failures) were") refused, and the rule has no other"
        }
        if let shown, !challenge.accepted(of: names, by: certificates).isEmpty {
            if certificates[shown] != nil || failures > 0 { return "\(use): that of \(shown) is shown" }
            return names.count == 1
                ? "\(use): its certificate is shown" : "\(use): the first certificate that the server accepts is shown"
        }
        let none = "none of these issuers has signed \(names.count == 1 ? "its certificate" : "any of them")"
        return shown.map { "\(use): \(none), and that of \($0) is shown, as the rule names its hosts" }
            ?? "\(use): \(none), and none is shown"
    }

    /// The verdict on a chain with these problems, on these terms.
    private static func verdict(_ terms: Configuration.TrustTerms, on findings: TrustFindings) -> String {
        var again: [String] = []
        if !terms.anchors.isEmpty { again.append("with the roots of 'anchor'") }
        if let name = terms.name { again.append("for \(name)") }
        let pin = terms.pins.count == 1 ? "the pin" : "one of the pins"
        let condition = terms.pins.isEmpty ? "" : ", if the key matches \(pin)"
        let left = findings.subtracting(terms.allow)
        if left.isEmpty {
            return "trust: \(list(findings)) \(findings.findings.count == 1 ? "is" : "are") forgiven\(condition)"
        }
        if again.isEmpty { return "trust: the client gets a 502, because the rule does not allow \(list(left))" }
        return "trust: checked again \(again.joined(separator: " and ")); if it is still \(list(left, "or")), "
            + "the client gets a 502"
    }

    /// Returns `a`, `a and b`, `a, b and c`.
    private static func list(_ findings: TrustFindings, _ conjunction: String = "and") -> String {
        var words = findings.findings.map(\.rawValue)
        guard let last = words.popLast() else { return "none" }
        return words.isEmpty ? last : words.joined(separator: ", ") + " \(conjunction) " + last
    }
}
