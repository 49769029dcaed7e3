import Proxy
import TLS

/// What `attache trust` shows.
struct TrustReport {
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
            lines += ["", "What is found against them:", ""]
            lines += opinion.evaluation.findings.map { "  \($0)" }
        }
        if let onTerms = opinion.evaluationOnTerms, !onTerms.findings.isEmpty {
            let rule = opinion.rule.map { "rule \($0)" } ?? "the rule"
            lines += ["", "What is found by the anchors and the name of \(rule):", ""]
            lines += onTerms.findings.map { "  \($0)" }
        }
        lines += ["", opinion.sentence]
        if let unlisted = opinion.unlisted { lines += ["", unlisted] }
        if !opinion.isTrusted, let doubt = opinion.doubt { lines += ["", doubt] }
        if !opinion.isTrusted, let suggestion = opinion.suggestion {
            let place = opinion.rule.map { ", in front of rule \($0)" } ?? ""
            lines += [
                "", "To trust this server with this key in spite of that, put these lines into the rule file\(place):",
                "", suggestion.text.trimmingNewline,
            ]
        }
        text = lines.joined(separator: "\n")
    }

    private static func lines(on certificate: Certificate, number: Int, isLeaf: Bool) -> [String] {
        var rows = [
            ("issued by", certificate.issuer.map { "\($0)" } ?? "nobody"),
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
