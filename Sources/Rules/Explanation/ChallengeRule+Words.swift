import Model

extension Configuration.ChallengeRule {
    /// Why a predicate does not hold, as one sentence. Cold: it builds text.
    func words(for predicate: ChallengePredicate, _ query: ChallengeQuery) -> String {
        switch predicate {
        case .proxy:
            isProxy == true ? "it is for parent proxies, not for servers" : "it is for servers, not for parent proxies"
        case .host: "host is \(query.host), not \(Self.list(hosts))"
        case .port: "port is \(query.port), not \(Self.list(ports?.ranges.map { PortSet([$0]) } ?? []))"
        case .protocol: "protocol is \(query.protocol.rawValue), not \(Self.list(protocols.map(\.rawValue)))"
        case .secure:
            isSecure == true
                ? "the credential would be sent unencrypted" : "the credential would not be sent unencrypted"
        case .client: "client is \(Self.name(query.client)), not \(Self.list(clients))"
        case .method: methodWords(query.method)
        case .realm:
            query.realm.map { "realm is \"\($0)\", not \(Self.quoted(realms))" } ?? "the challenge has no realm"
        case .issuer: "the server accepts no issuer like \(Self.quoted(issuers))"
        case .finding: "the certificate has no problem \(Self.list(findings.map(\.rawValue)))"
        case .failures: "failures are \(query.failures), not \(failures.map(Self.range) ?? "")"
        case .until: "it expired on \(trustTerms?.until?.description ?? "a day before")"
        }
    }

    private func methodWords(_ method: AuthenticationMethod) -> String {
        guard methods == nil, isUse else { return "method is \(method), not \(Self.list(effectiveMethods.methods))" }
        if answerable.contains(method) { return "it does not name \(method)" }
        if names.count > 1 { return "none of its credentials can answer \(method)" }
        return "\(answerable == .password ? "a user and a password" : "its credential") cannot answer \(method)"
    }

    /// The conditions on a challenge that are left when all that is known of the request fits.
    func openPredicates(isSecurityOpen: Bool) -> String {
        var words: [String] = []
        if isSecurityOpen { words.append("the method \(isSecure == true ? "hides" : "shows") the credential") }
        let isOfTLS = MethodSet.tls.isSuperset(of: effectiveMethods)
        if let methods, !isOfTLS { words.append("the method is \(Self.list(methods.methods))") }
        if !realms.isEmpty { words.append("the realm is \(Self.quoted(realms))") }
        if !issuers.isEmpty { words.append("the issuer is \(Self.quoted(issuers))") }
        if !findings.isEmpty { words.append("the problem is \(Self.list(findings.map(\.rawValue)))") }
        if let failures { words.append("failures are \(Self.range(failures))") }
        if words.isEmpty, isOfTLS {
            return trustTerms == nil ? "for every certificate" : "for every certificate"
        }
        if isUse, preemption == .always || waitsForNone {
            return (placements.map { "in \($0)" } + ["with every request, before any challenge"] + words).joined(
                separator: ", ")
        }
        return words.isEmpty ? "for every challenge" : "if " + words.joined(separator: " and ")
    }

    /// The answer with the terms of a trust.
    var answerAndTerms: String {
        trustTerms.map { "trust (\($0.summary.joined(separator: ", ")))" } ?? actionWords
    }

    private static func name(_ client: ClientIdentity) -> String {
        client.user.map { "\($0) at \(client.address)" } ?? "\(client.address)"
    }

    static func quoted(_ patterns: [TextPattern]) -> String { list(patterns.map { "\"\($0)\"" }) }

    /// `a, b or c`, and no more than four.
    static func list(_ items: [some CustomStringConvertible]) -> String {
        var words = items.prefix(4).map(\.description)
        if items.count > 4 { words.append("\(items.count - 4) more") }
        guard let last = words.popLast() else { return "" }
        return words.isEmpty ? last : words.joined(separator: ", ") + " or " + last
    }
}
