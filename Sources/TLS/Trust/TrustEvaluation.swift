import COpenSSL
import Model

/// Everything that speaks against believing a server's certificate: every finding, not the first.
///
/// The path is built and validated by OpenSSL (RFC 5280 section 6) at security level 2 with its strict checks: what it
/// refuses is a finding here, always, but for the form of an anchor, which is believed as it is. Added are the name (RFC 9525), the key's usage in the handshake, the stapled
/// response (RFC 6066, RFC 7633), wildcards against excluded names, and weak signatures on a path without an anchor.
/// If a path fails, others are tried (`PathSearch`). Certificate policies are not looked at.
public struct TrustEvaluation: Sendable {
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        public let kind: TrustFinding
        /// Which certificate and why, in words, without the kind.
        public let detail: String
        /// Whether it could be cleared up by a usable revocation list. To forgive it would be to forgive a revocation.
        public var isDoubt = false

        /// `expired: CN=example.test ended on 2024-03-01`
        public var description: String { "\(kind.rawValue): \(detail)" }
    }

    /// In the order of `TrustFinding`'s cases, then from the server's certificate towards the anchor.
    public let findings: [Finding]
    /// The name that the chain was judged for.
    public let name: ServerName
    /// The server's own certificate.
    public let leaf: Certificate
    /// From the leaf's issuer on, as far as the path could be built.
    public let issuers: [Certificate]
    /// Whether the path ends in an anchor.
    public let isAnchored: Bool
    /// The certificates that no revocation list speaks for, and that count as not revoked; empty where no list was given.
    public let unlisted: [Certificate]

    /// Judges a chain at a time in seconds since 1970. From 0.1 to 1 ms, and up to eight times as long where there are
    /// other paths to try (`PathSearch`); no I/O; on any thread.
    ///
    /// If every path has findings, the one that is reported ends in an anchor if one does, and has the fewest kinds of
    /// findings. What is revoked, or explicitly distrusted, is not avoided by another path.
    public static func of(
        _ chain: PresentedChain, for name: ServerName, anchors: TrustAnchors, revocation: RevocationLists? = nil,
        at seconds: Int
    ) -> TrustEvaluation {
        var search = PathSearch(chain, anchors: anchors)
        var omitted: [Certificate] = []
        var best: TrustEvaluation?
        while true {
            let verification = PathVerification(
                chain, anchors: anchors, without: omitted, revocation: revocation, at: seconds)
            let found = TrustEvaluation(chain, name, verification, seconds)
            if found.findings.isEmpty || verification.isFinal || found.provenKinds.contains(.revoked) { return found }
            if best.map(found.isBetter) ?? true { best = found }
            guard !found.kinds.isSubset(of: [.wrongName, .missingStaple]),
                let next = search.next(after: verification.path, without: omitted)
            else { return best ?? found }
            omitted = next
        }
    }

    private func isBetter(than other: TrustEvaluation) -> Bool {
        if isAnchored != other.isAnchored { return isAnchored }
        return kinds.rawValue.nonzeroBitCount < other.kinds.rawValue.nonzeroBitCount
    }

    private init(_ chain: PresentedChain, _ name: ServerName, _ verification: PathVerification, _ seconds: Int) {
        self.name = name
        leaf = chain.leaf
        issuers = Array(verification.path.dropFirst())
        isAnchored = verification.isAnchored
        unlisted = verification.unlisted
        var found: [Finding] = verification.complaints.compactMap { complaint in
            complaint.kind.map { Finding(kind: $0, detail: complaint.words, isDoubt: complaint.isDoubt) }
        }
        found += PathChecks(chain, name, verification, seconds).findings
        findings = found.isEmpty ? found : Self.ordered(found)
    }

    /// The kinds of all findings.
    public var kinds: TrustFindings { TrustFindings(findings.map(\.kind)) }

    /// The kinds of those that are more than a doubt.
    public var provenKinds: TrustFindings { TrustFindings(findings.filter { !$0.isDoubt }.map(\.kind)) }

    /// Nil unless there is no finding at all.
    public var verified: VerifiedChain? { VerifiedChain(self, forgiving: []) }

    private static func ordered(_ findings: [Finding]) -> [Finding] {
        var seen: Set<Finding> = []
        let unique = findings.filter { seen.insert($0).inserted }
        return TrustFinding.allCases.flatMap { kind in unique.filter { $0.kind == kind } }
    }
}

extension TrustEvaluation {
    /// The decision once a rule has forgiven some findings.
    public enum Outcome: Sendable {
        case trusted(VerifiedChain)
        /// The findings that were not forgiven, and whether pins were asked for and none fits.
        case refused(findings: [Finding], pinMismatch: Bool)
    }

    /// Forgives findings of these kinds and no others, and asks for a pin in addition when there are any.
    ///
    /// A pin fits the server's own key or, on a path without any finding, that of an authority on it; once something is
    /// forgiven the server's own alone counts, since nothing then proves that the others have to do with it.
    public func forgiving(_ allowed: TrustFindings, pins: [KeyPin] = []) -> Outcome {
        let mismatch = !pins.isEmpty && !bearsOne(of: pins)
        if !mismatch, let chain = VerifiedChain(self, forgiving: allowed) { return .trusted(chain) }
        return .refused(findings: findings.filter { !allowed.contains($0.kind) }, pinMismatch: mismatch)
    }

    private func bearsOne(of pins: [KeyPin]) -> Bool {
        pins.contains(leaf.publicKeyPin) || findings.isEmpty && issuers.contains { pins.contains($0.publicKeyPin) }
    }
}

/// A server's chain that was judged good enough for one name: without a finding, or with findings that a rule forgave.
/// Only an evaluation makes one.
public struct VerifiedChain: Sendable {
    /// The server's own certificate.
    public let leaf: Certificate
    /// From the leaf's issuer towards the anchor, as far as the path could be built.
    public let issuers: [Certificate]
    /// The name that it was judged for.
    public let name: ServerName
    /// The forgiven findings; empty for a chain that is proved.
    public let forgiven: TrustFindings
    /// The certificates that no revocation list speaks for, where lists were asked.
    public let unlisted: [Certificate]

    /// Nil when a finding is left.
    init?(_ evaluation: TrustEvaluation, forgiving allowed: TrustFindings) {
        guard evaluation.kinds.isSubset(of: allowed) else { return nil }
        leaf = evaluation.leaf
        issuers = evaluation.issuers
        name = evaluation.name
        forgiven = evaluation.kinds
        unlisted = evaluation.unlisted
    }
}
