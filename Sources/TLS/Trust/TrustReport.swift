import Model

/// A judged chain as text for people: each certificate of the path with its fields, then the problems.
public struct TrustReport: Sendable, CustomStringConvertible {
    private let evaluation: TrustEvaluation

    public init(_ evaluation: TrustEvaluation) { self.evaluation = evaluation }

    /// Lines of at most some 300 characters, with a line feed at the end of each.
    public var description: String {
        var lines = Self.lines("certificate", evaluation.leaf)
        for (number, issuer) in evaluation.issuers.enumerated() {
            lines += [""] + Self.lines(number + 1 == evaluation.issuers.count ? end : "issuer", issuer)
        }
        lines += ["", evaluation.findings.isEmpty ? "trusted for \(evaluation.name)" : "found for \(evaluation.name)"]
        lines += evaluation.findings.map { "  \($0)" }
        return lines.map { $0 + "\n" }.joined()
    }

    private var end: String { evaluation.isAnchored ? "anchor" : "issuer" }

    private static func lines(_ title: String, _ certificate: Certificate) -> [String] {
        var lines = [title, "  subject    \(text(certificate.subject))", "  issuer     \(text(certificate.issuer))"]
        let names = certificate.subjectAlternativeNames
        if !names.isEmpty {
            let shown = names.prefix(limit).map { VisibleText.shortened("\($0)", to: 80) }.joined(separator: ", ")
            lines.append("  names      \(shown)\(names.count > limit ? " and \(names.count - limit) more" : "")")
        }
        lines.append("  valid      \(date(certificate.notBefore)) to \(date(certificate.notAfter))")
        lines.append("  key        \(certificate.keyDescription)")
        lines.append("  signature  \(certificate.signatureAlgorithm)")
        lines.append("  pin        \(certificate.publicKeyPin)")
        return lines
    }

    private static func text(_ name: DistinguishedName?) -> String {
        guard let name, !name.isEmpty else { return "(empty)" }
        return VisibleText.shortened("\(name)")
    }

    private static func date(_ seconds: Int) -> String {
        seconds == .min || seconds == .max ? "(unreadable)" : CertificateTime.date(seconds)
    }

    private static let limit = 20
}
