import Authentication
import Rules

/// A parent proxy as one loop knows it. Belongs to its loop.
final class Parent {
    /// What is spoken with it.
    let server: Configuration.Parent.Server
    /// Who it is to requests that it makes itself, and to challenges.
    let origin: Origin
    /// Its name in the rule file, and where it is: for records.
    let label: String
    private(set) var health = ParentHealth.working

    init(_ server: Configuration.Parent.Server, named name: String, room: IdleRoom) {
        self.server = server
        label = "\(name) \(server.address)"
        let spoken: NetworkProtocol =
            switch server.scheme {
            case .http: .http
            case .https: .https
            case .socks5, .socks4a: .socks
            }
        origin = Origin(
            Authentication.Origin(
                host: server.address.host, port: server.address.port, protocol: spoken, isProxy: true),
            title: "the parent \(name) (\(server.address))", room: room)
    }

    /// Whether it makes requests itself, and opens tunnels by CONNECT.
    var speaksHTTP: Bool { origin.authority.protocol != .socks }

    /// Whether a challenge of it could be answered at all.
    func mayBeAnswered(by policy: Policy, in shared: SharedState) -> Bool {
        origin.mayAnswer(by: policy.rules) || origin.isServed(by: shared)
    }

    /// No connection to it could be made.
    /// - Parameter now: the loop's clock.
    func failed(at now: UInt64) { health.failed(at: now) }

    func worked() { health.worked() }
}
