import Authentication
import Challenges
import Model
import Proxy
import Rules

/// `attache explain`: says what would be done about a request, and why.
struct ExplainCommand: Command {
    static let syntax = CommandSyntax(
        name: "explain", summary: "show how the proxy would treat a request, and why",
        operands: [CommandOperand(name: "FILE"), CommandOperand(name: "METHOD"), CommandOperand(name: "URL")],
        options: [
            CommandOption(
                name: "challenge", value: "VALUE",
                summary: [
                    "a WWW-Authenticate value of the origin's 401; each line of the", "response is one such option",
                ],
                isRepeatable: true),
            CommandOption(
                name: "client", value: "CLIENT",
                summary: ["the client that asks: ADDRESS, USER or USER@ADDRESS; default: 127.0.0.1"]),
            CommandOption(
                name: "finding", value: "FINDING",
                summary: [
                    "a finding about the origin's certificate, such as", "expired; as 'attache trust' names it",
                ],
                isRepeatable: true),
            CommandOption(
                name: "issuer", value: "NAME",
                summary: [
                    "an issuer whose certificates the origin asks for:",
                    "a distinguished name such as \"CN=Lab,O=Example\"",
                ],
                isRepeatable: true),
        ],
        details: """
            Nothing is connected to, and no secret is read. With challenges, it names the answer to each in
            the order in which they would be tried, and why no earlier rule gave it; without, the answers
            that the rules could give. With findings and issuers, it does so for the challenges of TLS.

                attache explain proxy.conf GET http://ci.example.com/ --challenge 'Basic realm="Jenkins"'
                attache explain proxy.conf CONNECT www.example.com:443 --client alice@10.1.2.3
                attache explain proxy.conf GET https://lab.example.com/ --finding self-signed
            """)

    private let path: String
    private let request: ExplainedRequest
    private let challenges: ExplainedChallenges?

    init(_ arguments: Arguments) throws(CommandError) {
        guard let path = arguments.operand(0), let method = arguments.operand(1), let url = arguments.operand(2)
        else { throw arguments.error("FILE, METHOD and URL are missing") }
        self.path = path
        do throws(ExplanationError) {
            let client = try ClientIdentity(explained: arguments.value(of: "client") ?? "127.0.0.1")
            var request = try ExplainedRequest(method: method, url: url, client: client)
            request.findings = try TrustFindings(explained: arguments.values(of: "finding"))
            request.issuers = arguments.values(of: "issuer")
            request.today = FileSource().today
            self.request = request
            let lines = arguments.values(of: "challenge")
            challenges = lines.isEmpty ? nil : try ExplainedChallenges(lines, for: request)
        } catch { throw arguments.error(error.sentence) }
    }

    func run() throws(CommandError) -> Int32 {
        let rules = RuleSet(try RuleFile.read(path).valid())
        let response = challenges?.response(by: rules)
        Console.print(String(Explanation(request, response: response, rules: rules).text.dropLast()))
        return ExitStatus.success
    }
}

/// The challenges of a `401` that somebody asks about.
private struct ExplainedChallenges: Sendable {
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
        case "digest": "\(name(of: challenge)), which lacks a parameter or asks for an algorithm that is not known here"
        default: "\(name(of: challenge)), which this version does not answer"
        }
    }
}

extension TrustFindings {
    /// Findings by the rule file's words.
    init(explained words: [String]) throws(ExplanationError) {
        self = []
        for word in words {
            guard let finding = FindingWord(rawValue: word) else {
                let nearest = Suggestion.nearest(to: word, among: FindingWord.allCases.map(\.rawValue))
                let hint = nearest.map { "; did you mean '\($0)'?" } ?? ""
                throw ExplanationError("'\(Console.printable(word))' is no finding about a certificate\(hint)")
            }
            formUnion(finding.findings)
        }
    }
}
