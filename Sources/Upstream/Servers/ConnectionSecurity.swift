import Authentication
import Model
import Rules
import TLS
import Telemetry

/// The TLS of one connection to an origin: why the origin is trusted, and whom it takes us for.
public final class ConnectionSecurity {
    /// The origin's chain, as it was judged.
    public let chain: VerifiedChain
    let grant: TrustGrant
    private let version: StaticString
    public let isResumed: Bool
    /// The answers to its requests for a certificate; nil where one of our own is shown to whoever asks.
    let choice: IdentityChoice?
    /// The credential whose certificate it was shown where the session began.
    private let earlier: Credential?
    private var last: SecurityRecord
    /// The requests for certificates that `last` knows of.
    private var requests: Int

    init(
        _ connection: TLSConnection, trusted trust: ServerTrust, by decision: SessionDecision,
        showing choice: IdentityChoice?
    ) {
        self.choice = choice
        chain = trust.chain
        grant = decision.grant
        earlier = decision.identity.credential
        requests = choice?.requests ?? 0
        isResumed = connection.isResumed
        version =
            switch connection.version {
            case .v10?: "1.0"
            case .v11?: "1.1"
            case .v12?: "1.2"
            case .v13?, nil: "1.3"
            }
        last = SecurityRecord(version: version, grant, identity: earlier?.version.name)
    }

    /// The credential that the server takes us for.
    var shownIdentity: Credential? { choice?.shown.credential ?? earlier }

    /// Whether the server has asked for a certificate, and nothing was noted of it yet.
    public var hasIdentityNews: Bool { choice?.hasNews ?? false }

    /// Whether the server was shown a certificate on this connection, and has not been heard on it yet.
    public var awaitsIdentityVerdict: Bool {
        guard let choice, choice.hasNews else { return false }
        return choice.progress.end == nil && choice.shown.credential != nil
    }

    /// The part of the records of exchanges that is about this connection. The origin may ask for a certificate at any
    /// time.
    public var record: SecurityRecord {
        if let choice, choice.requests != requests {
            requests = choice.requests
            last = SecurityRecord(version: version, grant, identity: shownIdentity?.version.name)
        }
        return last
    }
}

extension SecurityRecord {
    fileprivate convenience init(version: StaticString, _ grant: TrustGrant, identity: String?) {
        self.init(
            version: version, trustFindings: grant.words, trustRule: grant.label, identity: identity)
    }
}
