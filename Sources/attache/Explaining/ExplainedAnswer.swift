import Authentication
import Challenges
import Forwarding
import Model
import Rules

/// A server's response to the request itself, without a credential.
struct ExplainedAnswer {
    /// The challenges; nil if it does not challenge.
    let challenges: ExplainedChallenges?
    /// The response in words, for the explanation.
    let words: String

    /// Sends the request. Blocks.
    static func fetch(
        for request: ExplainedRequest, by configuration: Configuration
    ) throws(CommandError) -> ExplainedAnswer {
        let response = try ServerProbe.response(to: request, by: configuration)
        if let page = ExplainedAnswer(loginPage: response, for: request, by: configuration) { return page }
        return ExplainedAnswer(response, for: request, by: RuleSet(configuration))
    }

    /// A response that a rule with `form` takes for the login page, or that has a form for a login, itself or behind its
    /// redirects. Nil: it is another one.
    private init?(
        loginPage response: ChallengeProbe.Response, for request: ExplainedRequest, by configuration: Configuration
    ) {
        guard !response.isOfParent, response.lines.isEmpty else { return nil }
        let origin = request.atOrigin(by: RuleSet(configuration)).origin
        let space = ProtectionSpace(origin: origin, realm: nil, authenticationMethod: .htmlForm)
        let form = RuleSet(configuration).decide(ChallengeQuery(space, client: request.client)).terms?.form
        if let form, Self.recognises(response, form, at: request.target, on: origin) {
            challenges = ExplainedChallenges(loginPage: ())
            words = "the origin answers \(response.status), which is its login page by the rule's 'form'"
            return
        }
        let found = try? FirstForm.find(in: response, to: request) { target throws(CommandError) in
            try ServerProbe.response(to: request.reaching(target), by: configuration)
        }
        guard let page = found?.page else { return nil }
        challenges = nil
        let isRedirect = (300..<400).contains(response.status)
        words =
            "the origin answers \(response.status) "
            + (isRedirect ? "and leads to the login page \(Console.printable(page))" : "with a login page")
            + ", and no rule has a 'form' for it: run 'attache add \(request.url)'"
    }

    /// Whether a rule answers the server's Bearer challenge with a credential that has an issuer.
    private static func namesIssuer(_ rules: RuleSet, for request: ExplainedRequest) -> Bool {
        let space = ProtectionSpace(
            origin: request.atOrigin(by: rules).origin, realm: nil, authenticationMethod: .bearer)
        guard case .use(let names) = rules.decide(ChallengeQuery(space, client: request.client)).action else {
            return false
        }
        return rules.configuration.credentials.contains { credential in
            guard case .oauth(let source) = credential.content, source.server.issuer != nil else { return false }
            return names.contains(credential.name)
        }
    }

    private static func recognises(
        _ response: ChallengeProbe.Response, _ form: Configuration.LoginForm, at target: String, on origin: Origin
    ) -> Bool {
        var locations = response.location.map { [Array($0.utf8)] } ?? []
        if let location = response.location,
            case .here(let path)? = LoginReference(location.utf8, from: Array(target.utf8), on: origin)
        {
            locations.append(path)
        }
        switch form.recognise(status: response.status, locations: locations) {
        case .recognised: return true
        case .other: return false
        case .dependsOnText:
            guard let page = response.page else { return false }
            return form.holds(page.span, from: 0, status: response.status, locations: locations)
        }
    }

    private init(_ response: ChallengeProbe.Response, for request: ExplainedRequest, by rules: RuleSet) {
        if response.status == 401, response.lines.isEmpty, !response.isOfParent, Self.namesIssuer(rules, for: request) {
            challenges = ExplainedChallenges(values: ["Bearer"])
            words = "the origin answers 401 without a challenge, which counts as Bearer: a rule names an issuer"
            return
        }
        let giver = response.isOfParent ? "the parent" : "the origin"
        let hasLines = response.status == (response.isOfParent ? 407 : 401) && !response.lines.isEmpty
        challenges =
            hasLines ? ExplainedChallenges(values: response.lines, isOfParent: response.isOfParent) : nil
        let lines = hasLines ? ": \(response.lines.joined(separator: ", "))" : ", without a challenge"
        words = "\(giver) answers \(response.status)\(lines)"
    }
}
