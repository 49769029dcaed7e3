import Bytes
import Model
import Rules

/// A golden file: a rule file, then sections that begin with a dashed line.
///
///     ---- file PATH              another file that can be included or read
///     ---- exposed MODE PATH      a file that everyone can read, with its permissions
///     ---- env NAME=VALUE         a variable
///     ---- explain METHOD URL     a request to explain; lines `scheme "realm"` below are its challenges, a line
///                                 `finding WORD` or `issuer TEXT` is what its handshake brings
///     ---- whole                  a heading that says nothing
///     ----                        what is expected: the report, the configuration's summary, the explanation
struct GoldenFile {
    private(set) var reader = PlayedReader()
    private(set) var expected = ""
    /// The text before the expectation, for rewriting the file.
    private(set) var given = ""
    private var request: (method: String, url: String)?
    private var findings: TrustFindings = []
    private var issuers: [String] = []
    private var challenges: [(method: AuthenticationMethod, realm: String?)] = []

    init(_ text: String) {
        var section = "file proxy.conf"
        var content = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("----") {
                finish(section, content)
                section = line.dropFirst(4).trimmingPrefix(" ").description
                content = ""
                if section.isEmpty { continue }
            } else {
                content += line + "\n"
            }
            if !section.isEmpty { given += line + "\n" }
        }
        // The split has made an empty line of the last line's end.
        expected = String(content.dropLast())
    }

    private mutating func finish(_ section: String, _ content: String) {
        let words = section.split(separator: " ", maxSplits: 2).map(String.init)
        switch words.first {
        case "file": reader.files[words[1]] = Array(content.utf8)
        case "exposed": reader.modes[words[2]] = UInt32(words[1], radix: 8)
        case "env":
            let pair = section.dropFirst(4).split(separator: "=", maxSplits: 1).map(String.init)
            reader.variables[pair[0]] = pair[1]
        case "explain":
            request = (words[1], words[2])
            for line in content.split(separator: "\n") {
                let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
                if parts[0] == "issuer" { issuers.append(parts[1]) }
                if parts[0] == "finding", let finding = FindingWord(rawValue: parts[1]) {
                    findings.formUnion(finding.findings)
                }
                guard let method = AuthenticationMethod(rawValue: parts[0]) else { continue }
                challenges.append((method, parts.count > 1 ? String(parts[1].dropFirst().dropLast()) : nil))
            }
        default: break
        }
    }

    /// Returns the current result of reading the file.
    func actual() throws -> String {
        let file = try RuleFile("proxy.conf", from: reader)
        var text = file.report
        guard let configuration = file.configuration else { return text }
        guard let request else { return text + configuration.summary }
        // An explanation is asked of a file that was checked before.
        text = ""
        let rules = RuleSet(configuration)
        var explained = Self.request(request.method, request.url)
        explained.findings = findings
        explained.issuers = issuers
        explained.today = reader.today
        let asked = explained.atOrigin(by: rules)
        let offers = challenges.map { challenge in
            ExplainedRequest.Response.Offer(
                scheme: challenge.method.description,
                query: asked.query(method: challenge.method, realm: challenge.realm))
        }
        let response = offers.isEmpty ? nil : { (_: Int) in ExplainedRequest.Response(offers: offers) }
        text += Explanation(explained, response: response, rules: rules).text
        return text
    }

    private static func request(_ method: String, _ url: String) -> ExplainedRequest {
        let isSecure = url.hasPrefix("https")
        let authority = url.split(separator: "/")[1].split(separator: ":").map(String.init)
        return ExplainedRequest(
            method: method, url: url, host: authority[0],
            port: authority.count > 1 ? UInt16(authority[1]) ?? 0 : isSecure ? 443 : 80,
            protocol: isSecure ? .https : .http,
            client: ClientIdentity(address: IPAddress(v4: 0x7F00_0001), user: nil))
    }
}
