/// How an origin was met by TLS: what the records of all exchanges on one connection have in common.
public final class SecurityRecord: Sendable {
    /// `1.3`; nil where TLS did not come about.
    public let version: StaticString?
    /// What was found about the origin's certificate, in the words of the rule file: refused, or forgiven by `trustRule`.
    public let trustFindings: String?
    /// The rule that decided about the origin's certificate.
    public let trustRule: String?
    /// The name of the credential whose certificate the origin was shown.
    public let identity: String?

    public init(
        version: StaticString? = nil, trustFindings: String? = nil, trustRule: String? = nil, identity: String? = nil
    ) {
        self.version = version
        self.trustFindings = trustFindings
        self.trustRule = trustRule
        self.identity = identity
    }
}
