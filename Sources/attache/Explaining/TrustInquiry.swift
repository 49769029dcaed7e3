import Bytes
import Credentials
import IO
import Model
import Rules
import TLS
import Upstream

/// Asks a server for its certificates, and judges them by the rules and the stored exceptions.
struct TrustInquiry {
    let configuration: Configuration

    init(_ configuration: Configuration) { self.configuration = configuration }

    /// Connects to the server directly, not by its route, unless its chain is known. Blocks.
    ///
    /// - Parameters:
    ///   - name: the name that the certificate must have; nil: the host.
    ///   - chain: the chain that the server has sent; nil: ask the server.
    func opinion(
        of host: String, port: UInt16, name: String? = nil, sending chain: PresentedChain? = nil
    ) throws(CommandError) -> TrustOpinion {
        let rules = RuleSet(configuration)
        let trust = try CommandError.failing { try TrustSources(rules) }
        trust.readSystem()
        for error in trust.refresh() { Console.error("\(error)") }
        let probe = TrustProbe(
            host: host, port: port, name: name, rules: rules, trust: trust,
            exceptions: exceptions(for: host, port: port))
        let now = SystemClock.wallTime
        return try CommandError.failing {
            let outcome: Result<TrustOpinion, TrustProbe.Failure> = try BlockingTask.run { loop in
                do throws(TrustProbe.Failure) {
                    if let chain { return .success(try probe.opinion(of: chain, at: now)) }
                    return .success(try await probe.ask(at: now, on: loop))
                } catch { return .failure(error) }
            }
            return try outcome.get()
        }
    }

    /// The exceptions that are stored for a server. A store that cannot be opened has none.
    func exceptions(for host: String, port: UInt16) -> [TrustException] {
        guard let place = CredentialStore.Place(configuration), !place.isMissing else { return [] }
        do throws(CommandError) {
            return try StoreEditing(place).trustExceptions(for: host, port: port)
        } catch {
            error.report()
            return []
        }
    }
}

/// The text of `attache trust`.
struct ServerCertificates {
    let text: String
    /// The part about the certificates and their problems.
    let chain: String

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
        chain = lines.joined(separator: "\n")
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
                "", String(suggestion.text.dropLast()),
            ]
        }
        text = lines.joined(separator: "\n")
    }

    private static func lines(on certificate: Certificate, number: Int, isLeaf: Bool) -> [String] {
        ["  \(number)  \(certificate)"]
            + certificate.facts(isLeaf: isLeaf).map { name, value in
                "     \(name.padded(to: 10))\(value.isEmpty ? "none" : value)"
            }
    }
}
