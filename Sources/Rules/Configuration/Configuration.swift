import Bytes
import Model

/// A rule file's statements, with a default for all that it leaves out. `RuleSet` is the compiled form.
public struct Configuration: Sendable, Equatable {
    /// `listen`: where clients connect. Never empty.
    public var listeners = [Listener(Endpoint(IPAddress(v4: 0x7F00_0001), 3128))]
    /// `admin`: dashboard, metrics, health, practice origin. Nil: none.
    public var admin: Endpoint?
    /// The block of `admin`.
    public var adminLogin = AdminLogin()
    public var threads = Threads.automatic
    /// `state`: the directory for what outlives a run. Nil: `$XDG_STATE_HOME/attache`, which the command line finds.
    public var state: String?
    public var authority = Authority()
    /// `store`; nil: what is to be kept is kept in memory.
    public var store: Store?
    public var log = Log()
    public var limits = Limits()
    public var timeouts = Timeouts()
    public var clients = Clients()
    public var egress = Egress()
    public var credentials: [Credential] = []
    public var parents: [Parent] = []
    public var routes: [Route] = []
    public var challenges: [ChallengeRule] = []
    /// Of the rules that say nothing of it.
    public var mode = Mode.enforce
    /// `ask webhook`: who is told of challenges that wait for an operator; nil: nobody.
    public var webhook: Webhook?
    /// `traces`: who collects the spans of requests; nil: nobody.
    public var traces: Traces?
    /// Environment variables that are named where a secret may stand.
    public var secretVariables: Set<String> = []

    public init() {}

    /// Event loops.
    public enum Threads: Sendable, Equatable {
        /// One for each core.
        case automatic
        case count(Int)
    }

    /// How people log in to the dashboard, beside the links that are printed for them.
    public struct AdminLogin: Sendable, Equatable {
        /// The path of a users file; nil: nobody has a password.
        public var users: String?
        /// Nil: the dashboard is reached in clear.
        public var tls: Listener.TLS?
    }

    /// The credential of that name, or nil.
    public func credential(named name: String) -> Credential? {
        credentials.first { $0.name.hasSameBytes(as: name) }
    }

    /// Whether a rule's answer is given, or only told.
    public enum Mode: String, Sendable, CaseIterable {
        case enforce
        case report
    }

    public struct Webhook: Sendable, Equatable {
        public let endpoint: HTTPEndpoint
        /// Of the signature.
        public let key: ValueSource
    }

    /// The access log.
    public struct Log: Sendable, Equatable {
        public enum Format: String, Sendable, CaseIterable {
            case json
            case common
            case combined
            case squid
            /// For a person before a terminal.
            case console
            /// The changes of what may answer, and no exchange.
            case events
            case off
        }

        public enum Destination: Sendable, Equatable {
            case standardOutput
            case standardError
            /// A path, resolved against the directory of the rule file that names it.
            case file(String)
            /// The socket of the system's log daemon.
            case syslog(String)

            public static let systemSocket = "/dev/log"
        }

        public var format = Format.json
        public var destination = Destination.standardOutput
        /// Whether the rule file says anything of it. One that says the default means the same to everything but a terminal.
        public var isSaid = false

        public init() {}

        public static func == (one: Log, other: Log) -> Bool {
            one.format == other.format && one.destination == other.destination
        }
    }

    /// Limits for peers. Sizes are bytes.
    public struct Limits: Sendable, Equatable {
        /// A request body held in memory until the origin's answer is known.
        public var replayMemory = 64 << 10
        /// The same on disk, once memory is full.
        public var replayDisk = 64 << 20
        /// The same on disk, of all bodies together.
        public var replayDiskTotal = 1 << 30
        /// The start line of a message.
        public var startLine = 16 << 10
        /// A client's whole head.
        public var head = 64 << 10
        /// An origin's whole head: larger, since a Kerberos ticket is.
        public var upstreamHead = 256 << 10
        /// Field lines in a head.
        public var fields = 128
        /// Client connections at once.
        public var clients = 10_000
        /// The same from one address; nil: a quarter of those that are served.
        public var clientsPerAddress: Int?
        /// Decoded bytes for each encoded one, over a whole body.
        public var decodeRatio = 100
        /// Challenges that wait for an operator at once, and requests that wait with each of them.
        public var questions = 100

        public init() {}
    }

    public struct Timeouts: Sendable, Equatable {
        /// From a request's first byte to the end of its head.
        public var head = Duration.seconds(10)
        /// A kept connection without a request, a body or a tunnel without a byte.
        public var idle = Duration.seconds(60)
        /// A name to a connected socket, over all of its addresses.
        public var connect = Duration.seconds(10)
        /// From the end of a request to the head of its response.
        public var response = Duration.seconds(300)
        /// How long a stop waits for requests in flight.
        public var drain = Duration.seconds(30)

        /// How long a client's session lives without a request.
        public var session = Duration.seconds(900)
        /// How long a request is held for an operator's answer.
        public var ask = Duration.seconds(60)

        public init() {}
    }

    /// `store …`: where credentials are kept that outlive the process.
    public struct Store: Sendable, Equatable {
        public let location: StoreLocation
        /// Seals the secrets; nil: a key that is made beside the file.
        public let key: ValueSource?
    }

    /// A copy that sends no credential. It keeps only the rules about servers' certificates.
    public var withoutCredentials: Configuration {
        var configuration = self
        configuration.credentials = []
        configuration.challenges = challenges.filter { MethodSet(.serverTrust).isSuperset(of: $0.effectiveMethods) }
        return configuration
    }
}
