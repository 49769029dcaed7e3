import Challenges
import HTTP
import Model
import Rules
import TLS

extension TrustRefusal {
    /// The client's answer: the server, the problems of its certificate, and the lines of the rule file that would
    /// trust it.
    public func refusal(host: String, port: UInt16, evaluation: TrustEvaluation) -> Refusal {
        var refusal = Refusal(
            .badGateway, .tlsCertificateError, "the certificate of \(host) port \(port) is not trusted: \(cause)")
        // A host's name may look like the name of a problem, so the details leave the host out.
        refusal.details = "\(TLSChallengeEntry.distrust): \(cause)"
        refusal.trust = self
        refusal.explanation = explanation(host: host, port: port, evaluation: evaluation)
        return refusal
    }

    private func explanation(host: String, port: UInt16, evaluation: TrustEvaluation) -> String? {
        var lines: [String] = []
        if !evaluation.findings.isEmpty {
            lines.append("Problems:")
            lines += evaluation.findings.map { "  \($0)" }
            lines.append("")
        }
        if reason == .rule { return lines.isEmpty ? nil : lines.dropLast().joined(separator: "\n") }
        if reason == .otherKey {
            lines.append("The server has a new key, or another server answers instead of it.")
        }
        let forgivable = evaluation.provenKinds
        if let doubt = SuggestedTrustRule.sentence(onDoubtsOf: evaluation) {
            lines.append(doubt)
            if case .findings(let left) = reason, left.isDisjoint(with: forgivable) {
                return lines.joined(separator: "\n")
            }
        }
        var suggestion = SuggestedTrustRule(
            host: host, port: port, findings: forgivable, pin: evaluation.leaf.publicKeyPin, today: .today)
        suggestion.title = Configuration.free(suggestion.title) { $0 == rule?.name }
        let place = rule.map { ", in front of rule \($0)" } ?? ""
        lines.append("To trust this server with this key anyway, add these lines to the rule file\(place):")
        lines.append("")
        return lines.joined(separator: "\n") + "\n" + suggestion.text
    }
}
