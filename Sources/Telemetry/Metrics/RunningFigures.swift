import Bytes
import IO

/// The figures of the process that no loop counts, at one moment.
public struct RunningFigures: Sendable {
    /// The program's version, as `attache version` prints it.
    public var version = ""
    public var process = ProcessFigures()
    /// The lag of each loop.
    public var loopLag: [DurationHistogram.Durations] = []
    public var replayDisk = ReplayDiskUse(bytes: 0, refused: 0)
    /// The number of versions of credentials that are on hold, over all protection spaces.
    public var parkedCredentials = 0
    /// The number of credentials in each state; all states, in the order of the page.
    public var credentialStates: [(state: String, count: Int)] = []
    /// The store; nil if none.
    public var store: Store?
    public var reloads: Reloads?
    /// The lines for the operator that standard error did not accept.
    public var reportLinesDropped = 0
    /// The runs of programs that give secrets, by the result.
    public var helperRuns: [(result: String, count: Int)] = []

    public var questions = Questions()
    public var expiries: [Expiry] = []
    public var parents: [ParentState] = []

    public init() {}

    /// The challenges of rules with `ask`, since the start.
    public struct Questions: Sendable {
        /// The dispositions by operators, in the words of `attache ask answer`.
        public enum Disposition: String, CaseIterable, Sendable {
            case use
            case user
            case trust
            case reject
            case cancel
        }

        /// The reason why a question ended without an answer.
        public enum Silence: String, CaseIterable, Sendable {
            case timeout
            /// Later questions replaced it.
            case displaced
            /// The clients that waited for it have left.
            case abandoned
        }

        public var open = 0
        public var asked = 0
        public var answered: [Disposition: Int] = [:]
        public var unanswered: [Silence: Int] = [:]
        /// Requests refused because too many waited for the same answer.
        public var requestsRefused = 0

        public init() {}
    }

    public struct Store: Sendable {
        /// Whether the store is available.
        public let isUp: Bool
        /// The time at which this process last knew everything in the store.
        public let followed: WallTime

        public init(isUp: Bool, followed: WallTime) {
            self.isUp = isUp
            self.followed = followed
        }
    }

    /// The reloads of the rule file.
    public struct Reloads: Sendable {
        /// The time at which the current rules were loaded.
        public let lastSuccess: WallTime
        /// Whether later rules were rejected.
        public let hasFailed: Bool
        /// The number of successful reloads; `rejected` counts the others.
        public let loaded: Int
        public let rejected: Int

        public init(lastSuccess: WallTime, hasFailed: Bool, loaded: Int, rejected: Int) {
            self.lastSuccess = lastSuccess
            self.hasFailed = hasFailed
            self.loaded = loaded
            self.rejected = rejected
        }
    }
}

/// The use of `limits { replay-disk-total }` by copies of bodies, which are kept to be sent again.
public struct ReplayDiskUse: Sendable {
    /// The reserved bytes, including announced ones that have not arrived yet.
    public let bytes: Int
    /// The bodies, since the start, for which too little was left.
    public let refused: Int

    public init(bytes: Int, refused: Int) {
        self.bytes = bytes
        self.refused = refused
    }
}

/// Something that expires at a known time.
public struct Expiry: Sendable, Equatable {
    /// The kind, such as "client certificate".
    public let kind: String
    /// The name of the credential, the rule or the listener.
    public let name: String
    /// The server that it is for; nil: no particular one.
    public let place: String?
    /// The first time after the expiry.
    public let end: WallTime

    public init(kind: String, name: String, place: String? = nil, end: WallTime) {
        self.kind = kind
        self.name = name
        self.place = place
        self.end = end
    }
}
