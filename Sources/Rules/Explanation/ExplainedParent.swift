/// A way that a request may take, as an explanation tells of it.
struct ExplainedParent: Sendable, Equatable {
    /// What a challenge may be answered with, by a word for the challenge.
    struct Outlook: Sendable, Equatable {
        let label: String
        let answers: [Configuration.Challenge.Answer]
    }

    let leg: Detour.Leg
    /// How the request goes.
    let passage: String
    let outlooks: [Outlook]

    init(_ leg: Detour.Leg, for request: ExplainedRequest, by rules: RuleSet) {
        self.leg = leg
        guard case .server(let server, _) = leg else {
            passage = ""
            outlooks = []
            return
        }
        let speaksHTTP = server.scheme == .http || server.scheme == .https
        if !speaksHTTP {
            passage = "which looks the name up"
        } else {
            passage = request.protocol == .http ? "which makes the request" : "by a tunnel (CONNECT)"
        }
        let methods: [(ChallengeMethod, String)] =
            switch server.scheme {
            case .http, .https: [(.digest, "407 digest"), (.basic, "407 basic")]
            case .socks5: [(.basic, "password")]
            case .socks4a: []
            }
        outlooks = methods.map { method, label in
            var query = request.query(method: method)
            query.host = server.address.host
            query.port = server.address.port
            query.protocol = server.scheme == .https ? .https : speaksHTTP ? .http : .socks
            query.isProxy = true
            query.isSecure = server.scheme == .https || method == .digest
            return Outlook(label: label, answers: rules.possibleAnswers(query))
        }
    }
}
