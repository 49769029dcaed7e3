import Authentication
import Model
import Rules
import TLS
import Telemetry

/// The TLS of one connection to an origin: why the origin is trusted, and which of our certificates it has seen.
public final class ConnectionSecurity {
    /// The origin's chain, as it was verified.
    public let chain: VerifiedChain
    let grant: TrustGrant
    private let version: StaticString
    public let isResumed: Bool
    /// Whether both sides have chosen HTTP/2.
    public let speaksHTTP2: Bool
    /// The choice of certificates for this connection; nil if it carries a request of the proxy itself, which brings
    /// its own.
    let choice: IdentityChoice?
    /// The credential whose certificate the server saw when the resumed session began.
    private let earlier: Credential?
    private var last: SecurityRecord
    /// The number of requests for certificates that `last` includes.
    private var requests: Int

    init(
        _ connection: TLSConnection, trusted trust: ServerTrust, by decision: ConnectionSecurity.SessionDecision,
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
        speaksHTTP2 = connection.speaksHTTP2
        last = SecurityRecord(
            version: version, grant, identity: earlier?.version.name, speaksHTTP2: speaksHTTP2)
    }

    /// The credential whose certificate the server has seen.
    var shownIdentity: Credential? { choice?.shown.credential ?? earlier }

    /// Whether the server has asked for a certificate and the outcome was not recorded yet.
    public var hasIdentityNews: Bool { choice?.hasNews ?? false }

    /// Whether the server has asked for a certificate on this connection.
    public var hasAskedForIdentity: Bool { (choice?.requests ?? 0) > 0 }

    /// Whether the server was shown a certificate on this connection and has not judged it yet.
    public var awaitsIdentityVerdict: Bool {
        guard let choice, choice.hasNews else { return false }
        return choice.progress.end == nil && choice.shown.credential != nil
    }

    /// The part of an exchange's record that describes this connection. The origin may ask for a certificate at any
    /// time.
    public var record: SecurityRecord {
        if let choice, choice.requests != requests {
            requests = choice.requests
            last = SecurityRecord(
                version: version, grant, identity: shownIdentity?.version.name, speaksHTTP2: speaksHTTP2)
        }
        return last
    }

    /// The decisions behind a TLS session: the connections that resume it keep them.
    public final class SessionDecision: Sendable {
        public let grant: TrustGrant
        let identity: IdentityChoice.Shown

        init(_ grant: TrustGrant, identity: IdentityChoice.Shown) {
            self.grant = grant
            self.identity = identity
        }
    }
}

extension SecurityRecord {
    fileprivate convenience init(version: StaticString, _ grant: TrustGrant, identity: String?, speaksHTTP2: Bool) {
        self.init(
            version: version, trustFindings: grant.words, trustRule: grant.rule, isException: grant.isException,
            identity: identity, speaksHTTP2: speaksHTTP2)
    }
}
