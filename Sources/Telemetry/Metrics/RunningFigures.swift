import IO

/// The figures of the process that no loop counts, as of one moment.
public struct RunningFigures: Sendable {
    /// The program's version, as `attache version` prints it.
    public var version = ""
    public var process = ProcessFigures()
    /// Of each loop.
    public var loopLag: [Durations] = []
    public var replayDisk = ReplayDiskUse(bytes: 0, refused: 0)
    /// Versions of credentials that are not sent, by protection space.
    public var parkedCredentials = 0
    /// How many credentials are in each state; all states, in the order of the page.
    public var credentialStates: [(state: String, count: Int)] = []
    /// Nil where there is no store.
    public var store: Store?
    public var reloads: Reloads?
    /// Lines for the operator that standard error did not take.
    public var reportLinesDropped = 0

    public var questions = Questions()
    public var expiries: [Expiry] = []
    public var parents: [ParentState] = []

    public init() {}

    /// The end of something that has to be renewed before it.
    public struct Expiry: Sendable, Hashable {
        /// Such as "client certificate".
        public let kind: String
        /// That of the credential, the rule or the listener.
        public let name: String
        /// The server that it is for; empty: for none alone.
        public let place: String
        /// Since 1970.
        public let seconds: Int

        public init(_ kind: String, _ name: String, of place: String? = nil, at seconds: Int) {
            self.kind = kind
            self.name = name
            self.place = place ?? ""
            self.seconds = seconds
        }
    }

    /// The challenges whose rule says `ask`, since the start.
    public struct Questions: Sendable {
        /// The dispositions that an operator may give, in the words of `attache ask answer`.
        public enum Disposition: String, CaseIterable, Sendable {
            case use
            case user
            case trust
            case reject
            case cancel
        }

        /// Why a question ended without an answer.
        public enum Silence: String, CaseIterable, Sendable {
            case timeout
            /// Later questions took its place.
            case displaced
            /// The clients that waited for it left.
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
        /// Whether it can be reached.
        public let isUp: Bool
        /// When everything in it was known here, in milliseconds since 1970.
        public let followed: Int

        public init(isUp: Bool, followed: Int) {
            self.isUp = isUp
            self.followed = followed
        }
    }

    /// How the rule file was read.
    public struct Reloads: Sendable {
        /// When the rules at work were loaded, in milliseconds since 1970.
        public let lastSuccess: Int
        /// Whether others behind them were not put to use.
        public let hasFailed: Bool
        /// How often it was read again and put to use, and how often not.
        public let loaded: Int
        public let rejected: Int

        public init(lastSuccess: Int, hasFailed: Bool, loaded: Int, rejected: Int) {
            self.lastSuccess = lastSuccess
            self.hasFailed = hasFailed
            self.loaded = loaded
            self.rejected = rejected
        }
    }
}

/// The share of `limits { replay-disk-total }` that copies of bodies have, which are kept for sending them again.
public struct ReplayDiskUse: Sendable {
    /// Bytes that are taken, announced ones that have not come yet among them.
    public let bytes: Int
    /// Bodies, since the start, for which there was too little left.
    public let refused: Int

    public init(bytes: Int, refused: Int) {
        self.bytes = bytes
        self.refused = refused
    }
}
