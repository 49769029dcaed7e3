import Authentication
import Bytes
import Challenges
import IO
import Model
import Rules
import Telemetry

/// A parent proxy as one loop sees it. Belongs to its loop.
public final class Parent {
    /// The name in the rule file, which all servers of this parent share.
    public let name: String
    /// The protocol and the address of the parent.
    public let server: Configuration.Parent.Server
    /// The parent as a server that gets requests itself and sends challenges.
    public let origin: UpstreamServer
    public let challenger: Challenger
    /// The figures for records and for the status.
    public let figures: ParentFigures
    private(set) var health = Parent.Health.working
    /// The alarm of the next check.
    public var probe: Alarm?

    /// - Parameter mayHaveCredentials: whether the rule file allows credentials for the parent.
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

    /// Whether the parent makes requests itself, and opens tunnels by CONNECT.
    public var speaksHTTP: Bool { origin.authority.protocol != .socks }

    /// Whether a challenge of the parent could be answered at all.
    public func mayBeAnswered(by policy: Policy, in shared: SharedState) -> Bool {
        challenger.mayBeAnswered(by: policy.rules, in: shared.challenges)
    }

    /// The parent's name in the rule file, and its address.
    public var label: String { figures.parent.label }

    /// Records that a connection to the parent failed at that time.
    /// - Parameter reason: a sentence.
    /// - Returns: the time until the next check.
    func failed(because reason: String, at now: WallTime) -> Milliseconds {
        let pause = health.failed()
        figures.failed(.init(at: now, JournalText.printable(reason, longest: 512)), next: now + pause)
        return pause
    }

    /// Counts a request that the parent refused because it had no accepted login.
    public func refusedLogin() { figures.addRefusal() }

    public func worked() {
        guard health != .working else { return }
        health.worked()
        figures.worked()
    }

    /// Whether a parent is worth trying. A machine without clock and I/O: the caller checks the parent from time to time
    /// and reports the result.
    enum Health: Equatable {
        /// Connections succeed. Becomes `.failing` when a connection fails.
        case working
        /// Connections fail, and no request waits for the parent. The next check follows after this time,
        /// which doubles with each failure. Becomes `.working` with the next successful connection.
        case failing(after: Milliseconds)

        /// The time until the check after the first failure.
        static let firstPause: Milliseconds = 1000
        static let longestPause: Milliseconds = 60_000

        /// - Returns: the time until the next check.
        mutating func failed() -> Milliseconds {
            let pause =
                switch self {
                case .working: Self.firstPause
                case .failing(let pause): min(pause * 2, Self.longestPause)
                }
            self = .failing(after: pause)
            return pause
        }

        mutating func worked() { self = .working }
    }
}

extension ParentName {
    public init(_ name: String, of server: Configuration.Parent.Server) {
        self.init(name, kind: server.scheme.rawValue, at: "\(server.address)")
    }
}
