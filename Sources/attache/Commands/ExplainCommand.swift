import Authentication
import Challenges
import IO
import Model
import Rules
import TLS

/// The command `attache explain`: shows how the proxy would treat a request, and why.
struct ExplainCommand: Command {
    static let syntax = CommandSyntax(
        name: "explain", summary: "show how the proxy would treat a request, and why",
        operands: [
            CommandOperand(name: "FILE", isOptional: true), CommandOperand(name: "METHOD", isOptional: true),
            CommandOperand(name: "URL"),
        ],
        options: [
            .config,
            CommandOption(
                name: "challenge", value: "VALUE",
                summary: [
                    "the value of a WWW-Authenticate line of the server's 401, or",
                    "'Proxy-Authenticate: VALUE' of a parent's 407; repeat it for",
                    "each line of the response",
                ],
                isRepeatable: true),
            CommandOption(name: "ask", summary: ["ask the server itself, without a credential"]),
            CommandOption(
                name: "failures", value: "N",
                summary: ["how many answers were refused before for this request; default: 0"]),
            CommandOption(
                name: "client", value: "CLIENT",
                summary: ["the client: ADDRESS, USER or USER@ADDRESS; default: 127.0.0.1"]),
            CommandOption(
                name: "finding", value: "FINDING",
                summary: [
                    "a problem of the server's certificate, such as expired;", "'attache trust' shows their names",
                ],
                isRepeatable: true),
            CommandOption(
                name: "issuer", value: "NAME",
                summary: [
                    "an issuer that the server accepts for client certificates:",
                    "a distinguished name such as \"CN=Lab,O=Example\"",
                ],
                isRepeatable: true),
        ],
        details: """
            Shows what the proxy would do with a request, step by step. FILE is the same as --config FILE.
            METHOD is GET by default. An https URL is explained as clients send it: a CONNECT first.

            With --challenge, it shows the answer to each challenge, in the order in which they are tried, and
            why earlier rules do not match. Without, it shows the answers that the rules could give. For a token
            of an 'issuer', it shows resource and scopes, and which scopes the rule file leaves out. For a
            container registry, it shows the token server as well, and whether the credential may be sent there.
            --finding and --issuer do the same for TLS. The running proxy is asked what it has stored and what
            servers have refused, by the socket 'control' in the directory that 'state' names.

            --ask sends one GET, HEAD or OPTIONS from this machine without a credential, by the route and under
            the egress rules, and explains the challenge in the response. If a credential has an 'issuer', it
            also reads which tokens the server announces. Without --ask, no server is contacted.
            No secret is read.

                attache explain --ask http://ci.example.com/job
                attache explain GET http://ci.example.com/ --challenge 'Basic realm="Jenkins"'
                attache explain proxy.conf CONNECT www.example.com:443 --client alice@10.1.2.3
                attache explain GET https://lab.example.com/ --finding self-signed
            """)

    private let path: String
    private let request: ExplainedRequest
    private let challenges: ExplainedChallenges?
    private let asks: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        let words = Words(arguments.operands)
        asks = arguments.has("ask")
        if asks, arguments.has("challenge") { throw arguments.error("'--ask' and '--challenge' exclude each other") }
        if asks, !["GET", "HEAD", "OPTIONS"].contains(words.method) {
            throw arguments.error("'--ask' sends only GET, HEAD or OPTIONS, not \(Console.printable(words.method))")
        }
        do throws(ExplanationError) {
            let client = try ClientIdentity(explained: arguments.value(of: "client") ?? "127.0.0.1")
            var request = try ExplainedRequest(method: words.method, url: words.url, client: client)
            request.isInTunnel = request.protocol == .https && words.method != "CONNECT"
            request.findings = try TrustFindings(explained: arguments.values(of: "finding"))
            request.issuers = arguments.values(of: "issuer")
            request.failures = try Self.failures(arguments.value(of: "failures"))
            request.today = FileSource().today
            self.request = request
            let lines = arguments.values(of: "challenge")
            challenges = lines.isEmpty ? nil : try ExplainedChallenges(lines)
        } catch { throw arguments.error(error.sentence) }
        path = try RuleFilePath.choose(try arguments.ruleFile(or: words.file))
    }

    private static func failures(_ text: String?) throws(ExplanationError) -> Int {
        guard let text else { return 0 }
        guard let number = Int(text), (0...100).contains(number) else {
            throw ExplanationError("'--failures' is a number from 0 to 100")
        }
        return number
    }

    func run() throws(CommandError) -> Int32 {
        let configuration = try RuleFile.read(path).valid()
        let rules = RuleSet(configuration)
        var (request, challenges) = (request, challenges)
        request.certificates = Self.issuers(of: configuration)
        if asks {
            let asked = try ExplainedAnswer.fetch(for: request, by: configuration)
            request.asked = asked.words
            challenges = asked.challenges
        }
        let origin = try challengedOrigin(of: request, challenges, by: rules)
        var tokens = ExplainedTokens(for: request)
        if challenges == nil { request.expectedTokens = tokens.expected(of: origin, by: configuration) }
        if asks, ExplainedTokens.areAnnounced(configuration), challenges?.isOfParent == false,
            let bearer = challenges?.bearer
        {
            tokens.metadata = try ServerProbe.metadata(of: origin, for: request, by: configuration, bearer)
        }
        let running = RunningKnowledge(configuration, at: path, of: origin, at: request.target)
        let response = challenges.map { challenges in
            { (failures: Int) in
                challenges.response(
                    of: origin, to: request.client, by: rules, failures: failures, tokens: tokens
                ) { running.facts(of: $0) }
            }
        }
        let explanation = Explanation(request, response: response, rules: rules, knowledge: running.knowledge)
        Console.print(String(explanation.text.dropLast()))
        return ExitStatus.success
    }

    /// The issuers of the rule file's certificates by the credential's name, as RFC 4514 text, as far as they can be
    /// read without a secret. Those in PKCS#12 files and hardware tokens are left out.
    private static func issuers(of configuration: Configuration) -> [String: [String]] {
        var issuers: [String: [String]] = [:]
        for credential in configuration.credentials {
            guard case .identity(.pem(let path, _, _)) = credential.content,
                let text = try? SmallFile.read(path, limit: 1 << 20),
                let certificates = try? Certificate.all(in: text.span), !certificates.isEmpty
            else { continue }
            issuers[credential.name] = certificates.compactMap { $0.issuer.map { "\($0)" } }
        }
        return issuers
    }

    /// The server whose challenges are explained: the origin, or the first parent that speaks HTTP.
    private func challengedOrigin(
        of request: ExplainedRequest, _ challenges: ExplainedChallenges?, by rules: RuleSet
    ) throws(CommandError) -> Origin {
        guard challenges?.isOfParent == true else { return request.atOrigin(by: rules).origin }
        let legs = rules.route(host: request.host.utf8Span.span, port: request.port).parentList?
            .legs(to: request.host.utf8Span.span)
        for case .server(let server, _) in legs ?? [] where server.scheme == .http || server.scheme == .https {
            return Origin(
                host: server.address.host, port: server.address.port,
                protocol: server.scheme == .https ? .https : .http, isProxy: true)
        }
        throw .failed(
            "no HTTP parent is on the way to \(Console.printable(request.host)), so none asks by "
                + "Proxy-Authenticate")
    }

    /// The operands `[FILE] [METHOD] URL`. A method is a word of capital letters, or one that was meant so.
    struct Words {
        let file: String?
        let method: String
        let url: String

        init(_ operands: [String]) {
            url = operands.last ?? ""
            let rest = operands.dropLast()
            if let method = rest.last, rest.count > 1 || Self.isMethod(method) {
                self.method = method
                file = rest.dropLast().last
            } else {
                method = "GET"
                file = rest.last
            }
        }

        private static func isMethod(_ word: String) -> Bool {
            !word.isEmpty && word.uppercased().utf8.allSatisfy { (0x41...0x5A).contains($0) }
                && (word == word.uppercased() || ExplainedRequest.methods.contains(word.uppercased()))
        }
    }
}
