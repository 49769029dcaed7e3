import Authentication
import Challenges
import IO
import Model
import Rules
import Telemetry

/// A parent proxy as one loop knows it. Belongs to its loop.
public final class Parent {
    /// Its name in the rule file, which those that stand in for it share.
    public let name: String
    /// The protocol that is spoken with it, and its address.
    public let server: Configuration.Parent.Server
    /// The server that it is to requests that it makes itself, and to challenges.
    public let origin: UpstreamServer
    public let challenger: Challenger
    /// For records, and for those who look at the state of the proxy.
    public let figures: ParentFigures
    private(set) var health = ParentHealth.working
    /// When it is looked at next.
    public var probe: Alarm?

    /// - Parameter mayHaveCredentials: whether a challenge of it is answered at all.
    init(
        _ server: Configuration.Parent.Server, named name: String, mayHaveCredentials: Bool, isFound: Bool,
        pool: IdlePool
    ) {
        self.server = server
        figures = ParentFigures(ParentName(name, of: server), isFound: isFound)
        self.name = name
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

    /// Its name in the rule file, and where it is.
    public var label: String { figures.parent.label }
    /// Whether a PAC file names it.
    var isFound: Bool { figures.isFound }

    /// No connection to it could be made, at that time (milliseconds since 1970).
    /// - Parameter reason: a sentence.
    /// - Returns: milliseconds until it is looked at.
    func failed(because reason: String, at now: Int) -> Int {
        let pause = health.failed()
        figures.failed(.init(at: now, JournalText.printable(reason, longest: 512)), next: now + pause)
        return pause
    }

    /// A request gets no answer there for want of a login that it takes.
    public func refusedLogin() { figures.addRefusal() }

    public func worked() {
        guard health != .working else { return }
        health.worked()
        figures.worked()
    }
}

extension ParentName {
    public init(_ name: String, of server: Configuration.Parent.Server) {
        self.init(name, kind: server.scheme.rawValue, at: "\(server.address)")
    }
}
