import Bytes
import Model

extension Explanation {
    /// An explanation for people: lines of label and value, and one line for each rule that was asked.
    struct Text {
        private typealias Action = Configuration.ChallengeRule.Action

        let explanation: Explanation
        private var lines: [String] = []

        init(_ explanation: Explanation) {
            self.explanation = explanation
            add(line: "\(explanation.request.method) \(explanation.request.url)")
            addRequest()
            if let refusal = explanation.refusal {
                add("outcome", "not sent, the client gets a 403: \(refusal)")
                return
            }
            if let asked = explanation.request.asked { add("asked", asked) }
            if let reason = explanation.reasonForNone {
                add("challenges", "none is answered: \(reason)")
                return
            }
            addKnowledge()
            if let rounds = explanation.rounds {
                for round in rounds {
                    addChallenges(of: round, isFirst: round.failures == explanation.request.failures)
                }
            } else {
                addProspects()
            }
        }

        /// The lines, each with a line end.
        var text: String { lines.map { $0 + "\n" }.joined() }

        private mutating func addRequest() {
            let request = explanation.request
            let route = explanation.route
            add("client", clientWords)
            if request.isInTunnel {
                add("tunnel", "the client sends a CONNECT of \(request.authority) first")
            }
            add("route", routeWords)
            let asked = explanation.asked
            if route.action != .deny, asked.protocol != request.protocol, !request.isTunnel {
                add("upgrade", "the proxy asks https://\(asked.authority)")
            }
            if request.opensTunnel, route.action == .intercept {
                add("intercept", "the proxy shows a certificate of its own CA, and asks https://\(asked.authority)")
            }
            addParents()
            if let connectIsAllowed = explanation.connectIsAllowed {
                let verdict = connectIsAllowed ? "allowed" : "refused"
                add("connect", "port \(request.port) is \(verdict) by 'connect-ports'")
            }
            for (address, decision) in explanation.egress {
                let verdict = decision.isPermitted ? "permitted" : "refused"
                add("egress", "\(address) port \(explanation.asked.port) is \(verdict): \(decision.reason)")
            }
            if explanation.egress.isEmpty {
                let place = "depends on the address that \(request.host) resolves to"
                let isAway = !explanation.parents.isEmpty
                add("egress", isAway ? "depends on the parent's address; the parent resolves \(request.host)" : place)
            }
            addHTTP2()
            if let handshake = explanation.handshake {
                addHandshake(handshake)
            } else if !request.findings.isEmpty || !request.issuers.isEmpty {
                let reason =
                    request.opensTunnel ? "the proxy cannot read this tunnel" : "the server is asked without TLS"
                add("tls", "none: \(reason)")
            }
            guard explanation.reasonForNone == nil, explanation.refusal == nil else { return }
            if request.protocol == .ftp { add("ftp", ftpWords) }
            let words =
                switch explanation.authorization {
                case .keep: "a client that sends its own Authorization keeps it, and gets no help"
                case .replace: "a client's own Authorization is replaced"
                case .refuse: "a client that brings a credential of its own gets a 403"
                }
            add("authorization", words)
        }

        /// Adds the parents that the request goes through, and the answers to their challenges.
        private mutating func addParents() {
            guard let parentList = explanation.route.parentList, explanation.route.action != .deny else { return }
            if parentList.isAutomatic {
                add("parent", "as the PAC file says; it is not run here")
            } else if explanation.parents.isEmpty {
                let names = parentList.hops.compactMap { hop in
                    if case .parent(let parent) = hop { parent.name } else { nil }
                }
                add("parent", "none: \(names.first ?? "the first") has an 'except' for \(explanation.request.host)")
            }
            for parent in explanation.parents {
                switch parent.leg {
                case .direct: add("parent", "none, if those above do not work")
                case .server(let server, let name):
                    add("parent", "\(name), \(server.scheme.rawValue) \(server.address), \(parent.passage)")
                    if let http2 = parent.http2 { add("  http/2", http2) }
                    for outlook in parent.outlooks {
                        let standard = "a stored credential, or else the client gets a 502"
                        let words = outlook.answers.map { Self.words($0, byDefault: standard) }
                        add("  if \(outlook.label)", words.joined(separator: "; or "))
                    }
                }
            }
        }

        private mutating func addProspects() {
            for trace in explanation.prospects { add("rule", Self.words(trace)) }
            if explanation.prospects.isEmpty {
                let none = "there is no 'challenge' in the rule file"
                add("rule", explanation.hasRules ? "no 'challenge' in the rule file is about responses" : none)
            }
            for outlook in explanation.outlooks {
                let words = outlook.answers.map { Self.words($0, byDefault: defaultWords) }
                add("if \(outlook.method)", words.joined(separator: "; or "))
                for line in outlook.token { add(line.label, line.text) }
            }
        }

        private mutating func addKnowledge() {
            switch explanation.knowledge {
            case nil: break
            case .missing(let sentence): add("not known", sentence)
            case .running(let facts): for fact in facts { add("known", fact) }
            }
        }

        private mutating func addChallenges(of round: Round, isFirst: Bool) {
            let failures = round.failures
            if failures > 0 {
                let words = "\(failures) \(failures == 1 ? "answer" : "answers") refused so far"
                add("failures", isFirst ? words : "\(words): the rules are asked again")
            }
            if round.challenges.count > 1 {
                let order = round.response.orderedBy.map { "as in \($0)" }
                add("order", order ?? "the strongest first, then those without a rule")
            }
            var (isDecided, isOpen) = (false, false)
            for challenge in round.challenges {
                add("challenge", challenge.words)
                if isDecided {
                    add("answer", "not tried: an earlier challenge is answered")
                    continue
                }
                for trace in challenge.traces { add("rule", Self.words(trace)) }
                add("answer", answerWords(challenge))
                for line in challenge.token { add(line.label, line.text) }
                if case .held(let credential, let end) = challenge.forecast {
                    add("refused", "\(credential) was refused there, and is not sent \(end); it counts as refused")
                }
                isDecided = challenge.forecast.isEnd
                if challenge.forecast == .open { isOpen = true }
            }
            if isFirst { for sentence in round.response.ignored { add("ignored", sentence) } }
            if !isDecided {
                let end = Self.end(ofParent: round.response.isOfParent)
                add("outcome", "\(isOpen ? "if nothing is stored, " : "")no challenge is answered: \(end)")
            }
        }

        // MARK: - Words

        /// The end of a response whose challenges get no answer.
        private static func end(ofParent isOfParent: Bool) -> String {
            isOfParent ? "the client gets a 502" : "the client gets the response unchanged"
        }

        private var clientWords: String {
            let client = explanation.request.client
            let who = (client.user.map { "\($0) at " } ?? "") + (client.address.map { "\($0)" } ?? ClientIdentity.local)
            guard explanation.clientIsAllowed else { return "\(who), refused by 'clients'" }
            if explanation.clientIsNamed { return "\(who), allowed: 'listen' names it" }
            switch (explanation.clientIsAsked, client.user) {
            case (true, nil): return "\(who), allowed after it has logged in (407)"
            case (false, .some): return "\(who), allowed; but clients do not log in ('authenticate none')"
            case (true, .some), (false, nil): return "\(who), allowed"
            }
        }

        private var ftpWords: String {
            ["GET", "HEAD", "PUT"].contains(explanation.request.method)
                ? "the server's login is a Basic challenge with the realm \"FTP\"; "
                    + (explanation.route.upgrade == nil
                        ? "by TLS if the server offers it" : "not without TLS (upgrade)")
                : "for ftp URLs only GET, HEAD and PUT are supported; the client gets a 405"
        }

        private var routeWords: String {
            let route = explanation.route
            var words = [route.action.rawValue]
            if route.upgrade != nil { words.append("upgrade") }
            if route.decodesContent { words.append("decode") }
            if route.trace != .no { words.append("trace \(route.trace.rawValue)") }
            if route.http2 != .yes { words.append("http2 \(route.http2.rawValue)") }
            if let parentList = route.parentList { words.append("via \(parentList.words)") }
            let what = words.joined(separator: ", ")
            return route.rule.map { "\(what), by route \($0.name ?? "") (\($0.place))" }
                ?? "\(what), because no route matches"
        }

        static func words(_ trace: RuleSet.Trace) -> String {
            let reason =
                switch trace.outcome {
                case .matched: "matches"
                case .failed(_, let reason): "no: \(reason)"
                case .depends(let words): words
                }
            let name = trace.rule.name.map { " \"\($0)\"" } ?? ""
            return "\(trace.rule.place)\(name): \(reason)"
        }

        private func answerWords(_ challenge: Round.Challenge) -> String {
            let words = enforcedWords(challenge)
            return challenge.ruling.isReport
                ? "mode report, so the client gets the challenge; otherwise: \(words)" : words
        }

        private func enforcedWords(_ challenge: Round.Challenge) -> String {
            let ruling = challenge.ruling
            let by = ruling.rule.map { "by \($0)" } ?? "because no rule matches"
            switch ruling.action {
            case .use(let names):
                if case .next(let reason) = challenge.forecast { return "none: \(reason); \(Self.nextWords), \(by)" }
                let retry =
                    Configuration.ChallengeRule.retryWords(ruling.retry)
                    + (ruling.probe.words.map { ", probe \($0)" } ?? "")
                return "\(useWords(names, challenge)), attempts \(ruling.attempts), retry \(retry), "
                    + "persistence \(ruling.persistence.rawValue), preempt \(ruling.preemption.rawValue), "
                    + "authorization \(ruling.authorization.rawValue), \(by)"
            case .performDefault: return "default: \(defaultWords(challenge)), \(by)"
            case .reject: return "reject: \(Self.nextWords), \(by)"
            case .cancel: return "cancel: the client gets a 502 that names this rule, \(by)"
            case .ask:
                if case .next(let reason) = challenge.forecast { return "none: \(reason); \(Self.nextWords), \(by)" }
                return "ask: \(askWords(challenge)), attempts \(ruling.attempts), \(by)"
            case .trust: return "trust, \(by)"
            }
        }

        private func useWords(_ names: [String], _ challenge: Round.Challenge) -> String {
            let manner = " with \(challenge.scheme)\(serviceWords(challenge))"
            switch challenge.forecast {
            case .answer(let chosen) where chosen != names.first, .held(let chosen, _) where chosen != names.first:
                return "use \(chosen)\(manner)"
            default: return Action.useWords(names, manner)
            }
        }

        private func askWords(_ challenge: Round.Challenge) -> String {
            guard case .answer(let credential) = challenge.forecast else { return Self.askWords }
            return credential == explanation.request.urlUser ? defaultWords : "\(credential), which is stored for it"
        }

        private static let nextWords = "try the response's next challenge"

        private static let askWords = "the request waits until an operator answers ('attache ask')"

        private func defaultWords(_ challenge: Round.Challenge) -> String {
            switch challenge.forecast {
            case .answer(let credential) where credential == explanation.request.urlUser: defaultWords
            case .answer(let credential), .held(let credential, _): "\(credential), which is stored for it"
            case .next(let reason): "\(reason); \(Self.nextWords)"
            case .open, .cancel, .asked: "a stored credential, or else \(Self.nextWords)"
            }
        }

        /// The service for which a ticket is requested, and whether it is delegated.
        private func serviceWords(_ challenge: Round.Challenge) -> String {
            guard challenge.query.method == .negotiate else { return "" }
            let terms = challenge.ruling.terms
            var words = " for \(terms?.servicePrincipal ?? "HTTP/\(challenge.query.host)")"
            if terms?.canonicalises == true { words += " (under the host's name in the DNS)" }
            if terms?.delegates == true { words += ", delegated" }
            return words
        }

        private var defaultWords: String {
            explanation.request.urlUser.map { "\($0) of the URL with its password" }
                ?? "a stored credential, or else the client gets the response unchanged"
        }

        /// A possible answer to a challenge.
        ///
        /// - Parameter defaultWords: what `default` does.
        private static func words(_ answer: Action, byDefault defaultWords: String) -> String {
            switch answer {
            case .use(let names): Action.useWords(names)
            case .performDefault: "default: \(defaultWords)"
            case .reject: "reject: \(nextWords)"
            case .cancel: "cancel: the client gets a 502"
            case .ask: "ask: a stored credential, or else \(askWords)"
            case .trust: "trust"
            }
        }

        mutating func add(_ label: String, _ value: String) {
            let padding = String(repeating: " ", count: max(1, 15 - label.utf8.count))
            add(line: "  \(label)\(padding)\(value)")
        }

        private mutating func add(line: String) {
            // A realm or a URL comes from a peer or a user; it must not control the terminal.
            let safe = line.unicodeScalars.map { scalar -> Unicode.Scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
                default: scalar
                }
            }
            lines.append(String(String.UnicodeScalarView(safe)))
        }
    }
}

extension Explanation.Round.Challenge {
    /// The scheme and the protection space.
    fileprivate var words: String {
        let host = query.host.utf8.contains(.colon) ? "[\(query.host)]" : query.host
        let realm = query.realm.map { " realm \"\($0)\"" } ?? ""
        let kind = query.isProxy ? "the parent " : ""
        return "\(scheme)\(realm) of \(kind)\(query.protocol.rawValue)://\(host):\(query.port)"
    }
}

extension ExplainedRequest {
    /// The host and port.
    fileprivate var authority: String { host.utf8.contains(.colon) ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
