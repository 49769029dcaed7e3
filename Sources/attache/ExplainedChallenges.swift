import Authentication
import Proxy
import Rules

/// The challenges of a `401` that somebody asks about.
struct ExplainedChallenges: Sendable {
    private let challenges: [HeaderChallenge]
    private let brokenCount: Int
    private let request: ExplainedRequest

    /// - Parameter lines: field values, each perhaps with the field's name before it.
    init(_ lines: [String], for request: ExplainedRequest) throws(ExplanationError) {
        var parser = ChallengeParser()
        for line in lines {
            let value = try Self.value(of: line)
            parser.parse(Array(value.utf8).span)
        }
        challenges = parser.challenges
        brokenCount = parser.refusedCount
        self.request = request
        guard !challenges.isEmpty || brokenCount > 0 else {
            throw ExplanationError("there is no challenge in the value of '--challenge'")
        }
    }

    func response(by rules: RuleSet) -> ExplainedResponse {
        let asked = request.atOrigin(by: rules)
        let origin = Origin(
            host: asked.host, port: asked.port, protocol: .init(rawValue: asked.protocol.rawValue) ?? .http)
        let (offers, rule) = rules.offers(in: challenges, from: origin, client: request.client)
        let known = Set(offers.map(\.challenge))
        var ignored = challenges.filter { !known.contains($0) }.map(Self.reasonToIgnore)
        if brokenCount > 0 {
            ignored.append("\(brokenCount == 1 ? "a challenge" : "\(brokenCount) challenges") that cannot be read")
        }
        return ExplainedResponse(
            offers: offers.map { offer in
                ExplainedResponse.Offer(
                    scheme: Self.name(of: offer.challenge), query: ChallengeQuery(offer.space, client: request.client))
            }, orderedBy: rule, ignored: ignored)
    }

    private static func value(of line: String) throws(ExplanationError) -> Substring {
        let name = line.prefix { $0 != ":" && $0 != " " && $0 != "=" && $0 != "\"" }
        guard line[name.endIndex...].hasPrefix(":") else { return line[...] }
        guard name.lowercased() == "www-authenticate" else {
            throw ExplanationError(
                "challenges of '\(Console.printable(String(name)))' cannot be explained, only of WWW-Authenticate")
        }
        return line[line.index(after: name.endIndex)...].drop { $0 == " " || $0 == "\t" }
    }

    /// With the algorithm, which decides how strong Digest is.
    private static func name(of challenge: HeaderChallenge) -> String {
        if challenge.scheme == "ntlm" { return "NTLM" }
        let name = challenge.scheme.prefix(1).uppercased() + challenge.scheme.dropFirst()
        return challenge.scheme == "digest" ? "\(name) \(challenge.text("algorithm") ?? "MD5")" : name
    }

    private static func reasonToIgnore(_ challenge: HeaderChallenge) -> String {
        switch challenge.scheme {
        case "basic": "Basic, which is not well formed"
        case "digest": "\(name(of: challenge)), which lacks what an answer needs or asks for what is not known here"
        default: "\(name(of: challenge)), which this version does not answer"
        }
    }
}
