import Bytes
import Model

/// A challenge, for which the rules are asked.
public struct ChallengeQuery: Sendable, Hashable {
    private var exactHost: ExactText
    public var port: UInt16
    public var `protocol`: NetworkProtocol
    private var exactRealm: ExactText?
    public var method: AuthenticationMethod
    public var isProxy = false
    /// Whether a credential would be sent encrypted to the challenger.
    public var isSecure = false
    public var client: ClientIdentity
    /// The issuers that a client-certificate challenge accepts, each as RFC 4514 text.
    public var issuers: [String] = []
    /// The problems found by the evaluation that made a server-trust challenge.
    public var findings: TrustFindings = []
    /// The number of answers refused before for this request, over all schemes.
    public var failures = 0
    /// The current day, for rules with an end date. Nil if unknown; such rules then do not apply.
    public var today: Day?

    public init(
        host: String, port: UInt16, protocol: NetworkProtocol, realm: String? = nil, method: AuthenticationMethod,
        client: ClientIdentity
    ) {
        exactHost = ExactText(host)
        self.port = port
        self.protocol = `protocol`
        exactRealm = realm.map { ExactText($0) }
        self.method = method
        self.client = client
    }

    /// The host of the protection space: a name, or an address; for a parent's challenge, the parent's.
    public internal(set) var host: String {
        get { exactHost.text }
        set { exactHost = ExactText(newValue) }
    }

    /// The realm; nil for a method without realms, such as NTLM.
    public var realm: String? { exactRealm?.text }

    /// Returns the query about a server's certificate with problems.
    public static func serverTrust(
        host: String, port: UInt16, client: ClientIdentity, findings: TrustFindings, today: Day?
    ) -> ChallengeQuery {
        var query = ChallengeQuery(host: host, port: port, protocol: .https, method: .serverTrust, client: client)
        query.isSecure = true
        query.findings = findings
        query.today = today
        return query
    }

    /// Hashes the parts that differ in most queries.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(realm)
        hasher.combine(method.traits.number)
        hasher.combine(client)
        hasher.combine(failures)
    }
}
