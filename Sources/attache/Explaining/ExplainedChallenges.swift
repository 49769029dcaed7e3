import Authentication
import Challenges
import Model
import Rules

/// The challenges of a `401`, or of a parent's `407`, to explain.
struct ExplainedChallenges: Sendable {
    let challenges: [HeaderChallenge]
    private let brokenCount: Int
    /// Whether a parent proxy challenges.
    let isOfParent: Bool

    /// - Parameter lines: field values, each perhaps with the field's name before it.
    init(_ lines: [String]) throws(ExplanationError) {
        let values = try lines.map(Self.value)
        let parents = Set(values.map(\.isOfParent))
        if parents.count > 1 {
            throw ExplanationError("a response is either a server's 401 or a parent's 407: explain one at a time")
        }
        self.init(values: values.map(\.text), isOfParent: parents.contains(true))
        guard !challenges.isEmpty || brokenCount > 0 else {
            throw ExplanationError("there is no challenge in the value of '--challenge'")
        }
    }

    /// - Parameter values: field values.
    init(values: [String], isOfParent: Bool = false) {
        var parser = ChallengeParser()
        for value in values { parser.parse(Array(value.utf8).span) }
        challenges = parser.challenges
        brokenCount = parser.refusedCount
        self.isOfParent = isOfParent
    }

    /// A login page, as the proxy sees it.
    init(loginPage _: Void) {
        (challenges, brokenCount, isOfParent) = ([.loginPage], 0, false)
    }

    /// The challenge for a token; nil if no challenge asks for a token.
    var bearer: HeaderChallenge? {
        let bearer = challenges.filter { $0.scheme == "bearer" }
        return bearer.first { $0.text("resource_metadata") != nil } ?? bearer.first
    }

    /// - Parameters:
    ///   - failures: the number of refused answers before it.
    ///   - facts: the facts of a running proxy; nil if there are no facts.
    func response(
        of origin: Origin, to client: ClientIdentity, by rules: RuleSet, failures: Int, tokens: ExplainedTokens,
        facts: (ProtectionSpace) -> ExplainedSpace?
    ) -> ExplainedRequest.Response {
        let (offers, rule) = rules.offers(in: challenges, from: origin, client: client, failures: failures)
        let known = Set(offers.map(\.challenge))
        var ignored = challenges.filter { !known.contains($0) }.map(Self.reasonToIgnore)
        if brokenCount > 0 {
            ignored.append("\(brokenCount == 1 ? "a challenge" : "\(brokenCount) challenges") that cannot be read")
        }
        var response = ExplainedRequest.Response(
            offers: offers.map { offer in
                var explained = ExplainedRequest.Response.Offer(
                    scheme: Self.name(of: offer.challenge),
                    query: ChallengeQuery(offer.space, client: client, failures: failures), space: facts(offer.space))
                if offer.space.authenticationMethod == .bearer {
                    explained.tokens = tokens.lines(for: offer.challenge, of: origin, by: rules.configuration)
                    explained.unanswered = tokens.unanswered(offer.challenge, of: origin)
                } else {
                    explained.tokens = ExplainedTokens.programs(of: origin, by: rules.configuration)
                }
                return explained
            }, orderedBy: rule, ignored: ignored)
        response.isOfParent = isOfParent
        return response
    }

    private static func value(of line: String) throws(ExplanationError) -> (text: String, isOfParent: Bool) {
        let name = line.prefix { $0 != ":" && $0 != " " && $0 != "=" && $0 != "\"" }
        guard line[name.endIndex...].hasPrefix(":") else { return (line, false) }
        let fields = ["www-authenticate", "proxy-authenticate"]
        guard fields.contains(name.lowercased()) else {
            throw ExplanationError(
                "challenges are in WWW-Authenticate or Proxy-Authenticate, not in "
                    + "'\(Console.printable(String(name)))'")
        }
        let value = line[line.index(after: name.endIndex)...].drop { $0 == " " || $0 == "\t" }
        return (String(value), name.lowercased() == fields[1])
    }

    /// The name with the algorithm, which decides how strong Digest is.
    private static func name(of challenge: HeaderChallenge) -> String {
        if challenge.scheme == "ntlm" { return "NTLM" }
        if challenge == .loginPage { return "a login page" }
        let name = challenge.scheme.prefix(1).uppercased() + challenge.scheme.dropFirst()
        return challenge.scheme == "digest" ? "\(name) \(challenge.text("algorithm") ?? "MD5")" : name
    }

    private static func reasonToIgnore(_ challenge: HeaderChallenge) -> String {
        switch challenge.scheme {
        case "basic": "Basic, which is malformed"
        case "digest": "\(name(of: challenge)), which lacks a parameter or has an unknown algorithm"
        default: "\(name(of: challenge)), which this version does not answer"
        }
    }
}

extension TrustFindings {
    /// Parses problems of a certificate in the words of the rule file.
    init(explained words: [String]) throws(ExplanationError) {
        self = []
        for word in words {
            guard let finding = FindingWord(rawValue: word) else {
                let nearest = Suggestion.nearest(to: word, among: FindingWord.allCases.map(\.rawValue))
                let hint = nearest.map { "; did you mean '\($0)'?" } ?? ""
                throw ExplanationError("'\(Console.printable(word))' is not a problem of a certificate\(hint)")
            }
            formUnion(finding.findings)
        }
    }
}
