import Rules
import TLS

// The two targets do not know each other: what an evaluation finds and what a rule speaks of have the same words.

extension TrustFindings {
    init(_ findings: some Sequence<TLS.TrustFinding>) {
        self.init(findings.compactMap { Rules.TrustFinding(rawValue: $0.rawValue) })
    }
}

extension Set<TLS.TrustFinding> {
    init(_ findings: TrustFindings) {
        self.init(findings.findings.compactMap { TLS.TrustFinding(rawValue: $0.rawValue) })
    }
}
