import Rules

/// `attache explain`: says what would be done about a request, and why.
struct ExplainCommand: Command {
    static let syntax = CommandSyntax(
        name: "explain", summary: "say what would be done about a request, and why",
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
                summary: ["who asks: ADDRESS, USER or USER@ADDRESS; default: 127.0.0.1"]),
            CommandOption(
                name: "finding", value: "FINDING",
                summary: [
                    "what is found about the origin's certificate, such as", "expired; as 'attache trust' names it",
                ],
                isRepeatable: true),
            CommandOption(
                name: "issuer", value: "NAME",
                summary: [
                    "whose certificates the origin asks its clients for:",
                    "a distinguished name such as \"CN=Lab,O=Example\"",
                ],
                isRepeatable: true),
        ],
        details: """
            Nothing is connected to, and no secret is read. With challenges, it names the answer to each in
            the order in which they would be tried, and why no earlier rule gave it; without, what the rules
            could answer. With findings and issuers, it does so for the challenges of TLS.

                attache explain proxy.conf GET http://ci.example.com/ --challenge 'Basic realm="Jenkins"'
                attache explain proxy.conf CONNECT www.example.com:443 --client alice@10.1.2.3
                attache explain proxy.conf GET https://lab.example.com/ --finding self-signed
            """)

    let path: String
    let request: ExplainedRequest
    let challenges: ExplainedChallenges?

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
