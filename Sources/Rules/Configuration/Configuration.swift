import Bytes
import Model

/// The statements of a rule file, with the defaults. `RuleSet` is the compiled form.
public struct Configuration: Sendable, Equatable {
    /// The addresses where clients connect (`listen`). Never empty.
    public var listeners = [Listener(Endpoint(IPAddress(v4: 0x7F00_0001), 3128))]
    /// The address of dashboard, metrics, health and practice origin (`admin`); nil if none.
    public var admin: Endpoint?
    /// The block of `admin`.
    public var adminLogin = AdminLogin()
    public var threads = Threads.automatic
    /// The directory for data that outlives a run (`state`); nil for `$XDG_STATE_HOME/attache`, which the command line
    /// finds.
    public var state: String?
    public var authority = Authority()
    /// The credential store (`store`); nil to keep credentials in memory.
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
    /// The mode of the rules that set none.
    public var mode = Mode.enforce
    /// The webhook that receives challenges waiting for an operator (`ask webhook`); nil if none.
    public var webhook: Webhook?
    /// The collector of request spans (`traces`); nil if none.
    public var traces: Traces?
    /// The environment variables that are named as the source of a secret.
    public var secretVariables: Set<String> = []

    public init() {}

    /// The number of event loops.
    public enum Threads: Sendable, Equatable {
        /// One loop for each core.
        case automatic
        case count(Int)
    }

    /// The ways in which people log in to the dashboard, beside the links that are printed for them.
    public struct AdminLogin: Sendable, Equatable {
        /// The path of a users file; nil if there are no passwords.
        public var users: String?
        /// The path of a file with the token that readers of the metrics must send; nil: they need none.
        public var metricsToken: String?
        /// The TLS settings; nil if the dashboard has no TLS.
        public var tls: Listener.TLS?
    }

    /// Returns the credential of that name; nil if none.
    public func credential(named name: String) -> Credential? {
        credentials.first { $0.name.hasSameBytes(as: name) }
    }

    /// Whether a rule's answer is given, or only reported.
    public enum Mode: String, Sendable, CaseIterable {
        case enforce
        case report
    }

    public struct Webhook: Sendable, Equatable {
        public let endpoint: HTTPEndpoint
        /// The key of the signature.
        public let key: ValueSource
    }

    /// The access log.
    public struct Log: Sendable, Equatable {
        public enum Format: String, Sendable, CaseIterable {
            case json
            case common
            case combined
            case squid
            /// Lines for a person at a terminal.
            case console
            /// Changes of credentials and rules, no exchanges.
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
        /// Whether the rule file sets the format. Setting the default makes a difference only at a terminal.
        public var isSaid = false

        public static func == (one: Log, other: Log) -> Bool {
            one.format == other.format && one.destination == other.destination
        }
    }

    /// Limits for peers. Sizes are in bytes.
    public struct Limits: Sendable, Equatable {
        /// The limit of a request body that is held in memory until the origin's response is known.
        public var replayMemory = 64 << 10
        /// The limit of a request body that is held on disk, once memory is full.
        public var replayDisk = 64 << 20
        /// The limit of all request bodies on disk together.
        public var replayDiskTotal = 1 << 30
        /// The limit of the start line of a message.
        public var startLine = 16 << 10
        /// The limit of a client's head.
        public var head = 64 << 10
        /// The limit of an origin's head. It is larger because a Kerberos ticket is.
        public var upstreamHead = 256 << 10
        /// The limit of field lines in a head.
        public var fields = 128
        /// The limit of client connections at once.
        public var clients = 10_000
        /// The limit of client connections from one address; nil for a quarter of all clients that can be served.
        public var clientsPerAddress: Int?
        /// The limit of requests from one client in a time; nil for none.
        public var requestsPerClient: RequestRate?
        /// The limit of requests of one client that are in progress at once; nil for none.
        public var concurrentRequestsPerClient: Int?
        /// The limit of requests of an HTTP/2 connection at once.
        public var streams = 100
        /// The limit of requests by HTTP/2 at once, for each thread.
        public var exchanges = 2000
        /// The limit of decoded bytes for each encoded byte, over a whole body.
        public var decodeRatio = 100
        /// The limit of challenges that wait for an operator at once, and of requests that wait with each of them.
        public var questions = 100
    }

    public struct Timeouts: Sendable, Equatable {
        /// The time from a request's first byte to the end of its head.
        public var head = Milliseconds.seconds(10)
        /// The time of an idle connection without a request, or of a body or tunnel without a byte.
        public var idle = Milliseconds.seconds(60)
        /// The time from a name to a connected socket, over all of its addresses.
        public var connect = Milliseconds.seconds(10)
        /// The time from the end of a request to the head of its response.
        public var response = Milliseconds.seconds(300)
        /// The time that a stop waits for requests in flight.
        public var drain = Milliseconds.seconds(30)

        /// The time that a client's session lives without a request.
        public var session = Milliseconds.seconds(900)
        /// The time that a request is held for an operator's answer.
        public var ask = Milliseconds.seconds(60)
        /// The time of one run of a credential helper.
        public var helper = Milliseconds.seconds(10)
    }

    /// The place of credentials that outlive the process (`store …`).
    public struct Store: Sendable, Equatable {
        public let location: StoreLocation
        /// The key that seals the secrets; nil for a key that is created beside the file.
        public let key: ValueSource?
    }

    /// Returns a copy that sends no credential. It keeps only the rules about servers' certificates.
    public var withoutCredentials: Configuration {
        var configuration = self
        configuration.credentials = []
        configuration.challenges = challenges.filter { MethodSet(.serverTrust).isSuperset(of: $0.effectiveMethods) }
        return configuration
    }

    /// The name for a new `challenge`: the one that is wished, or else the first with a number that is free.
    ///
    /// - Parameter others: names that are taken besides those of the rules.
    public func freeRuleName(_ wish: String, besides others: Set<String> = []) -> String {
        let taken = Set(challenges.compactMap(\.rule.name)).union(others)
        return Self.free(wish) { taken.contains($0) }
    }

    /// The name for a new `credential`: the one that is wished, or else the first with a number that is free.
    ///
    /// - Parameter others: names that are taken besides those of the rules.
    public func freeCredentialName(_ wish: String, besides others: Set<String> = []) -> String {
        let taken = Set((credentials.map(\.name) + others).map { ExactText($0) })
        return Self.free(wish) { taken.contains(ExactText($0)) }
    }

    /// The wish, or else `wish-2`, `wish-3` and so on.
    public static func free(_ wish: String, _ isTaken: (String) -> Bool) -> String {
        guard isTaken(wish) else { return wish }
        var number = 2
        while isTaken("\(wish)-\(number)") { number += 1 }
        return "\(wish)-\(number)"
    }
}
