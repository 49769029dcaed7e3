import COpenSSL

/// Everything that speaks against believing a server's certificate: every finding, not the first.
///
/// The path is built and validated by OpenSSL (RFC 5280 section 6) at security level 2 with its strict checks: what it
/// refuses is a finding here, always, but for the form of an anchor, which is believed as it is. Added are the name (RFC 9525), the key's usage in the handshake, the stapled
/// response (RFC 6066, RFC 7633), wildcards against excluded names, and weak signatures on a path without an anchor. Of
/// several possible paths a trusted one is taken, anchors before what the server sent. Certificate policies are not
/// looked at.
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
    /// Whom the chain was judged for.
    public let name: ServerName
    /// The server's own certificate.
    public let leaf: Certificate
    /// From the leaf's issuer on, as far as the path could be built.
    public let issuers: [Certificate]
    /// Whether the path ends in an anchor.
    public let isAnchored: Bool
    /// The certificates that no revocation list speaks for, and that count as not revoked; empty where no list was given.
    public let unlisted: [Certificate]

    /// Judges a chain at a time in seconds since 1970. From 0.1 to 1 ms; no I/O; on any thread.
    public static func of(
        _ chain: PresentedChain, for name: ServerName, anchors: TrustAnchors, revocation: RevocationLists? = nil,
        at seconds: Int
    ) -> TrustEvaluation {
        let verification = PathVerification(chain, anchors: anchors, revocation: revocation, at: seconds)
        return TrustEvaluation(chain, name, verification, seconds)
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
    public var kinds: Set<TrustFinding> { Set(findings.map(\.kind)) }

    /// The kinds of those that are more than a doubt.
    public var provenKinds: Set<TrustFinding> { Set(findings.filter { !$0.isDoubt }.map(\.kind)) }

    /// Nil unless there is no finding at all.
    public var verified: VerifiedChain? { VerifiedChain(self, forgiving: []) }

    private static func ordered(_ findings: [Finding]) -> [Finding] {
        var seen: Set<Finding> = []
        let unique = findings.filter { seen.insert($0).inserted }
        return TrustFinding.allCases.flatMap { kind in unique.filter { $0.kind == kind } }
    }
}
