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
    /// The certificate that the origin was shown, here or where the session began.
    private let identity: ShownIdentity
    private var last: SecurityRecord

    init(_ connection: TLSConnection, trusted trust: ServerTrust, by decision: SessionDecision) {
        chain = trust.chain
        grant = decision.grant
        identity = decision.identity
        isResumed = connection.isResumed
        version =
            switch connection.version {
            case .v10?: "1.0"
            case .v11?: "1.1"
            case .v12?: "1.2"
            case .v13?, nil: "1.3"
            }
        last = SecurityRecord(version: version, grant, identity: identity.name)
    }

    /// The part of the records of exchanges that is about this connection. The origin may ask for a certificate at any
    /// time.
    public var record: SecurityRecord {
        let name = identity.name
        if last.identity != name { last = SecurityRecord(version: version, grant, identity: name) }
        return last
    }
}

extension SecurityRecord {
    fileprivate convenience init(version: StaticString, _ grant: TrustGrant, identity: String?) {
        self.init(
            version: version, trustFindings: grant.words, trustRule: grant.label, identity: identity)
    }
}
