import Bytes
import COpenSSL
import Model

/// All problems of a server's certificate, not only the first.
///
/// OpenSSL builds and validates the path (RFC 5280 section 6) at security level 2 with its strict checks. Everything
/// that it refuses is a problem here, except the form of a root, which is trusted as it is. Further checks are the name
/// (RFC 9525), the key's usage in the handshake, the stapled response (RFC 6066, RFC 7633), wildcards against excluded
/// names, and weak signatures on a path without a root. If a path fails, others are tried (`PathSearch`). Certificate
/// policies are ignored.
public struct TrustEvaluation: Sendable {
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        public let kind: TrustFinding
        /// The certificate and the reason, in words, without the kind.
        public let detail: String
        /// Whether a usable revocation list could clear the problem. Forgiving it could forgive a revocation.
        public var isDoubt = false

        /// `expired: CN=example.test ended on 2024-03-01`
        public var description: String { "\(kind.rawValue): \(detail)" }
    }

    /// The problems in the order of `TrustFinding`'s cases, then from the server's certificate towards the root.
    public let findings: [Finding]
    /// The name that the chain was judged for.
    public let name: ServerName
    /// The server's own certificate.
    public let leaf: Certificate
    /// The issuers from the leaf's on, as far as the path could be built.
    public let issuers: [Certificate]
    /// Whether the path ends in a root.
    public let isAnchored: Bool
    /// The certificates that no revocation list covers, and that count as not revoked; empty if no list was given.
    public let unlisted: [Certificate]

    /// Judges a chain at a time. It takes 0.1 to 1 ms, and up to eight times as long if there are
    /// other paths to try (`PathSearch`). No I/O; on any thread.
    ///
    /// If every path has problems, the reported one ends in a root if one does, and has the fewest kinds of problems.
    /// No other path replaces a revoked or explicitly distrusted one.
    public static func of(
        _ chain: PresentedChain, for name: ServerName, anchors: TrustAnchors, revocation: RevocationLists? = nil,
        at time: WallTime
    ) -> TrustEvaluation {
        var search = PathSearch(chain, anchors: anchors)
        var omitted: [Certificate] = []
        var best: TrustEvaluation?
        while true {
            let verification = PathVerification(
                chain, anchors: anchors, without: omitted, revocation: revocation, at: time)
            let found = TrustEvaluation(chain, name, verification, time)
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

    private init(_ chain: PresentedChain, _ name: ServerName, _ verification: PathVerification, _ time: WallTime) {
        self.name = name
        leaf = chain.leaf
        issuers = Array(verification.path.dropFirst())
        isAnchored = verification.isAnchored
        unlisted = verification.unlisted
        var found: [Finding] = verification.complaints.compactMap { complaint in
            complaint.kind.map { Finding(kind: $0, detail: complaint.words, isDoubt: complaint.isDoubt) }
        }
        found += PathChecks(chain, name, verification, time).findings
        findings = found.isEmpty ? found : Self.ordered(found)
    }

    /// The kinds of all problems.
    public var kinds: TrustFindings { TrustFindings(findings.map(\.kind)) }

    /// The kinds of the problems that are more than a doubt.
    public var provenKinds: TrustFindings { TrustFindings(findings.filter { !$0.isDoubt }.map(\.kind)) }

    /// The verified chain; nil if there is any problem.
    public var verified: VerifiedChain? { VerifiedChain(self, forgiving: []) }

    private static func ordered(_ findings: [Finding]) -> [Finding] {
        var seen: Set<Finding> = []
        let unique = findings.filter { seen.insert($0).inserted }
        return TrustFinding.allCases.flatMap { kind in unique.filter { $0.kind == kind } }
    }

    /// The decision after a rule has forgiven some problems.
    public enum Outcome: Sendable {
        case trusted(VerifiedChain)
        /// The problems that were not forgiven, and whether pins were given and none matches.
        case refused(findings: [Finding], pinMismatch: Bool)
    }

    /// Forgives problems of these kinds only, and requires one of the pins if there are any.
    ///
    /// A pin matches the server's own key. On a path without any problem it may match the key of a CA on it. Once a
    /// problem is forgiven, only the server's own key counts, since the path is then not proved.
    public func forgiving(_ allowed: TrustFindings, pins: [KeyPin] = []) -> Outcome {
        let mismatch = !pins.isEmpty && !bearsOne(of: pins)
        if !mismatch, let chain = VerifiedChain(self, forgiving: allowed) { return .trusted(chain) }
        return .refused(findings: findings.filter { !allowed.contains($0.kind) }, pinMismatch: mismatch)
    }

    private func bearsOne(of pins: [KeyPin]) -> Bool {
        pins.contains(leaf.publicKeyPin) || findings.isEmpty && issuers.contains { pins.contains($0.publicKeyPin) }
    }
}

/// A server's chain that was accepted for one name: without a problem, or with problems that a rule forgave. Only an
/// evaluation creates one.
public struct VerifiedChain: Sendable {
    /// The server's own certificate.
    public let leaf: Certificate
    /// The issuers from the leaf's towards the root, as far as the path could be built.
    public let issuers: [Certificate]
    /// The name that the chain was judged for.
    public let name: ServerName
    /// The forgiven problems; empty for a chain without problems.
    public let forgiven: TrustFindings
    /// The certificates that no revocation list covers, if lists were given.
    public let unlisted: [Certificate]

    /// Nil if a problem is left.
    init?(_ evaluation: TrustEvaluation, forgiving allowed: TrustFindings) {
        guard evaluation.kinds.isSubset(of: allowed) else { return nil }
        leaf = evaluation.leaf
        issuers = evaluation.issuers
        name = evaluation.name
        forgiven = evaluation.kinds
        unlisted = evaluation.unlisted
    }
}
