import Authentication
import Challenges
import IO
import Model
import Rules

/// A parent proxy as one loop knows it. Belongs to its loop.
public final class Parent {
    /// Its name in the rule file, which those that stand in for it share.
    public let name: String
    /// The protocol that is spoken with it, and its address.
    public let server: Configuration.Parent.Server
    /// The server that it is to requests that it makes itself, and to challenges.
    public let origin: UpstreamServer
    public let challenger: Challenger
    /// Its name in the rule file, and where it is: for records.
    public let label: String
    /// Whether a PAC file names it.
    let isFound: Bool
    private(set) var health = ParentHealth.working
    /// The version of a credential that it took last, where it speaks SOCKS.
    public var accepted: CredentialVersion?
    /// When it is looked at next.
    public var probe: Alarm?

    /// - Parameter mayHaveCredentials: whether a challenge of it is answered at all.
    init(
        _ server: Configuration.Parent.Server, named name: String, mayHaveCredentials: Bool, isFound: Bool,
        pool: IdlePool
    ) {
        self.server = server
        self.isFound = isFound
        self.name = name
        label = "\(name) \(server.address)"
        let spoken: NetworkProtocol =
            switch server.scheme {
            case .http: .http
            case .https: .https
            case .socks5, .socks4a: .socks
            }
        let authority = Origin(
            host: server.address.host, port: server.address.port, protocol: spoken, isProxy: true)
        let title = "the parent \(name) (\(server.address))"
        origin = UpstreamServer(authority, title: title, mayHaveCredentials: mayHaveCredentials, pool: pool)
        challenger = Challenger(authority, title: title, mayHaveCredentials: mayHaveCredentials)
    }

    /// Whether it makes requests itself, and opens tunnels by CONNECT.
    public var speaksHTTP: Bool { origin.authority.protocol != .socks }

    /// Whether a challenge of it could be answered at all.
    public func mayBeAnswered(by policy: Policy, in shared: SharedState) -> Bool {
        challenger.mayBeAnswered(by: policy.rules, in: shared.challenges)
    }

    /// No connection to it could be made.
    public func failed() { health.failed() }

    public func worked() { health.worked() }
}
