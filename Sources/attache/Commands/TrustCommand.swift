import Bytes
import Credentials
import IO
import Model
import Proxy
import Rules
import TLS
import Upstream

/// `attache trust`: shows whether a server is trusted, and what would trust it.
struct TrustCommand: Command {
    static let syntax = CommandSyntax(
        name: "trust", summary: "check a server's certificate, and show how to trust it",
        operands: [CommandOperand(name: "HOST:PORT")],
        options: [
            CommandOption(
                name: "config", value: "FILE",
                summary: [
                    "the rule file whose rules apply; default: ./proxy.conf, else",
                    "/etc/attache/proxy.conf, else none",
                ]),
            CommandOption(
                name: "name", value: "NAME",
                summary: ["the name that the certificate must have; default: HOST"]),
            CommandOption(
                name: "accept", summary: ["store an exception for the server's key"]),
            CommandOption(name: "until", value: "DATE", summary: ["the last day of the exception, in UTC: YYYY-MM-DD"]),
            CommandOption(name: "yes", summary: ["do not ask for confirmation, for scripts"]),
        ],
        details: """
            Connects to the server, even if 'egress' forbids it, and sends only a TLS greeting. It shows the
            certificates of the server and their problems. If the server is not trusted, it shows the lines for
            the rule file that trust this key. Compare the pin with one that you have from another source first.
            The exit status is 0 if the server is trusted, 1 if it is not or cannot be reached.

                attache trust lab.example.com:8443
                attache trust 10.0.0.7:443 --name appliance.example.com
                attache trust lab.example.com:8443 --accept --until 2027-06-30

            With --accept, the proxy trusts this key at HOST:PORT until that day, in spite of all problems
            except 'revoked'. A rule that refuses, or that names other keys, is stronger. The command asks for
            confirmation on the terminal; without a terminal, --yes is required. A running proxy uses the
            exception within a second. 'attache credential list' shows exceptions, 'attache credential remove'
            removes one.
            """)

    private let host: String
    private let port: UInt16
    private let name: String?
    private let configuration: Configuration
    private let acceptance: TrustAcceptance?

    init(_ arguments: Arguments) throws(CommandError) {
        let text = arguments.operand(0) ?? ""
        guard let server = Self.server(text) else {
            throw arguments.error("'\(Console.printable(text))' is not a host and a port such as lab.example.com:443")
        }
        (host, port) = server
        name = arguments.value(of: "name")?.lowercased()
        if let name, !Self.isHost(name) {
            throw arguments.error("'\(Console.printable(name))' is neither a host name nor an address")
        }
        if let path = RuleFilePath.find(arguments.value(of: "config")) {
            configuration = try RuleFile.read(path).valid()
        } else {
            configuration = Configuration()
        }
        acceptance = try TrustAcceptance(arguments, CredentialStorePlace(configuration))
    }

    func run() throws(CommandError) -> Int32 {
        try acceptance?.check()
        let rules = RuleSet(configuration)
        let trust: TrustSources
        do throws(TrustAnchorsError) {
            trust = try TrustSources(rules)
        } catch { throw .failed("\(error)") }
        trust.readSystem()
        for error in trust.refresh() { Console.error("\(error)") }
        let opinion = try ask(
            TrustProbe(host: host, port: port, name: name, rules: rules, trust: trust, exceptions: exceptions))
        Console.print(TrustReport(opinion).text)
        if let acceptance {
            try acceptance.run(on: opinion, of: host, port: port)
            return ExitStatus.success
        }
        return opinion.isTrusted ? ExitStatus.success : ExitStatus.failed
    }

    /// Those that are stored for the server. A store that cannot be opened has none.
    private var exceptions: [TrustException] {
        guard let place = CredentialStorePlace(configuration), !place.isMissing else { return [] }
        do throws(CommandError) {
            return try StoreEditing(place).trustExceptions(for: host, port: port)
        } catch {
            error.report()
            return []
        }
    }

    private func ask(_ probe: TrustProbe) throws(CommandError) -> TrustOpinion {
        let now = SystemClock.epochMilliseconds / 1000
        let outcome: Result<TrustOpinion, TrustProbeError>
        do throws(IOError) {
            outcome = try BlockingTask.run { loop in
                do throws(TrustProbeError) {
                    return .success(try await probe.ask(at: now, on: loop))
                } catch { return .failure(error) }
            }
        } catch { throw .failed("\(error)") }
        do throws(TrustProbeError) { return try outcome.get() } catch { throw .failed("\(error)") }
    }

    /// `HOST:PORT`, an IPv6 address in brackets.
    private static func server(_ text: String) -> (host: String, port: UInt16)? {
        if let endpoint = Endpoint(text) {
            return endpoint.port > 0 ? ("\(endpoint.address.unmapped)", endpoint.port) : nil
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, isHost(parts[0].lowercased()), let port = UInt16(parts[1]), port > 0,
            parts[1].utf8.allSatisfy(\.isDigit)
        else { return nil }
        return (HostSpelling.canonical(String(parts[0])), port)
    }

    private static func isHost(_ name: String) -> Bool { ServerName(name).isFitForCertificates }
}

/// The text that `attache trust` shows.
private struct TrustReport {
    let text: String

    init(_ opinion: TrustOpinion) {
        let certificates = [opinion.chain.leaf] + opinion.chain.others
        var lines = [
            "The server sends \(certificates.count == 1 ? "one certificate" : "\(certificates.count) certificates"):",
            "",
        ]
        for (index, certificate) in certificates.enumerated() {
            lines += Self.lines(on: certificate, number: index + 1, isLeaf: index == 0)
        }
        if !opinion.evaluation.findings.isEmpty {
            lines += ["", "Problems:", ""]
            lines += opinion.evaluation.findings.map { "  \($0)" }
        }
        if let onTerms = opinion.evaluationOnTerms, !onTerms.findings.isEmpty {
            let rule = opinion.rule.map { "rule \($0)" } ?? "the rule"
            lines += ["", "Problems with the roots and the name of \(rule):", ""]
            lines += onTerms.findings.map { "  \($0)" }
        }
        lines += ["", opinion.sentence]
        if let unlisted = opinion.unlisted { lines += ["", unlisted] }
        if !opinion.isTrusted, let doubt = opinion.doubt { lines += ["", doubt] }
        if !opinion.isTrusted, let suggestion = opinion.suggestion {
            let place = opinion.rule.map { ", in front of rule \($0)" } ?? ""
            lines += [
                "", "To trust this server with this key anyway, add these lines to the rule file\(place):",
                "", suggestion.text.trimmingNewline,
            ]
        }
        text = lines.joined(separator: "\n")
    }

    private static func lines(on certificate: Certificate, number: Int, isLeaf: Bool) -> [String] {
        var rows = [
            ("issued by", certificate.issuer.map { "\($0)" } ?? "an issuer without a name"),
            ("valid", "from \(certificate.firstDay) to \(certificate.lastDay)"),
            ("key pin", "\(certificate.publicKeyPin)"),
            ("SHA-256", certificate.fingerprint),
        ]
        if isLeaf { rows.insert(("names", names(of: certificate)), at: 0) }
        return ["  \(number)  \(certificate)"]
            + rows.map { label, value in
                "     \(label)\(String(repeating: " ", count: 10 - label.count))\(value)"
            }
    }

    /// A certificate may have thousands.
    private static func names(of certificate: Certificate) -> String {
        let names = certificate.subjectAlternativeNames
        let shown = names.prefix(nameLimit).map { "\($0)" }.joined(separator: " ")
        let rest = names.count - nameLimit
        if names.isEmpty { return "none" }
        return rest > 0 ? "\(shown) and \(rest) more" : shown
    }

    private static let nameLimit = 20
}

extension String {
    fileprivate var trimmingNewline: String { hasSuffix("\n") ? String(dropLast()) : self }
}
