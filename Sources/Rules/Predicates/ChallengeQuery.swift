import Bytes
import Model

/// One challenge, asked of the rules.
public struct ChallengeQuery: Sendable, Hashable {
    private var exactHost: ExactText
    public var port: UInt16
    public var `protocol`: NetworkProtocol
    private var exactRealm: ExactText?
    public var method: AuthenticationMethod
    public var isProxy = false
    /// Whether a credential would travel encrypted to who asks for it.
    public var isSecure = false
    public var client: ClientIdentity
    /// The issuers that a client-certificate challenge accepts, each as RFC 4514 text.
    public var issuers: [String] = []
    /// All findings of the evaluation that made a server-trust challenge.
    public var findings: TrustFindings = []
    /// Answers refused before in this task, over all schemes.
    public var failures = 0
    /// For rules that end on a day. Nil: not known, and they do not apply.
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

    /// The protection space's host: a name, or an address; for a parent proxy's challenge, the parent's.
    public internal(set) var host: String {
        get { exactHost.text }
        set { exactHost = ExactText(newValue) }
    }

    /// Nil for a method without realms, such as NTLM.
    public var realm: String? { exactRealm?.text }

    /// About a server's certificate in which something was found.
    public static func serverTrust(
        host: String, port: UInt16, protocol: NetworkProtocol = .https, client: ClientIdentity,
        findings: TrustFindings, today: Day?
    ) -> ChallengeQuery {
        var query = ChallengeQuery(
            host: host, port: port, protocol: `protocol`, method: .serverTrust, client: client)
        query.isSecure = true
        query.findings = findings
        query.today = today
        return query
    }

    /// Of what tells most queries apart.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(realm)
        hasher.combine(method.traits.number)
        hasher.combine(client)
        hasher.combine(failures)
    }
}
