extension Account {
    /// A refused answer, or several that were under way at the same time.
    public struct Slot: Sendable, Hashable {
        /// When the latest of its refusals became known.
        public internal(set) var time: Int
        /// The number of its first refusal.
        let id: Int
        /// The latest refusal of each replica.
        var refusals: [Refusal]

        private static let refusalLimit = 8

        struct Refusal: Sendable, Hashable {
            let replica: UInt64
            /// Its place in the order in which the replica sent answers.
            let sent: Int
            let id: Int
        }

        /// Stands for the refusals of a later slot, too.
        mutating func add(_ later: Slot) {
            for refusal in later.refusals {
                let sent = refusals.filter { $0.replica == refusal.replica }.map(\.sent).max() ?? 0
                refusals.removeAll { $0.replica == refusal.replica }
                refusals.append(Refusal(replica: refusal.replica, sent: max(sent, refusal.sent), id: refusal.id))
            }
            // An acceptance that clears the later ones was sent when the earlier ones were known.
            refusals = refusals.suffix(Self.refusalLimit)
            time = later.time
        }

        /// Whether an accepted answer was sent later than all of its refused ones.
        func isCleared(by answer: SentAnswer) -> Bool {
            refusals.allSatisfy {
                $0.id <= answer.knew || $0.replica == answer.replica && $0.sent < answer.sent
            }
        }
    }

    /// A server's own part of the account.
    public struct Record: Sendable, Hashable {
        /// The server's scheme, host and port, or the parent's; see `Origin.serverName`.
        public let server: String
        /// Whether the server has accepted the version.
        public internal(set) var isKnown = false
        /// Whether the server has accepted a value that the credential had before.
        var wasKnown = false
        /// Whether the server has taken a ticket that was got with the version. Servers take tickets until they expire, also
        /// after the password has changed: so this says nothing of the version's value.
        public internal(set) var takesTickets = false
        /// Accepted requests that can be repeated, the next to repeat first.
        public internal(set) var samples: [Sample] = []
        public internal(set) var pause: Pause?
        /// The refused answers since it last accepted one that was sent later than they were.
        var doubt: Slot?
        /// What its latest refusal was about, as text for an operator; nil: it has refused nothing since it accepted.
        public internal(set) var reason: String?
        /// When it last accepted and refused the version; 0: not known. They decide nothing.
        public internal(set) var lastAccepted = 0
        public internal(set) var lastRefused = 0
        /// The leader's answer, which is under way.
        var leader: Reservation.ID?
        /// Leaders in a row that got no verdict.
        var indecisions = 0
        /// Where an unknown server refused the version.
        var refusedTargets: [UInt64] = []
        /// When such a target may be asked again.
        var unknownTry = 0
        /// Leaders that were accepted.
        var clearances = 0
        /// Whether one client's request may go out besides the probes, whose samples may be gone.
        var mayAskOpenly = false
        /// The rule's `retry`.
        var retry = Account.shortSteps
        /// Whether the rule lets the proxy ask the server itself.
        var mayProbe = true
        /// The request that the rule names for that.
        var fixedSample: Sample?

        init(_ server: String) { self.server = server }

        var canProbe: Bool { mayProbe && (fixedSample != nil || !samples.isEmpty) }

        /// Whether nothing but another server's refusal is against the version here, and a probe can show it.
        var isDoubtedAtMost: Bool { isKnown && pause == nil && canProbe }

        mutating func add(_ sample: Sample, limit: Int) {
            guard sample.content.count <= Sample.sizeLimit else { return }
            samples.removeAll { $0.target == sample.target }
            samples.insert(sample, at: 0)
            samples = Array(samples.prefix(min(limit, Self.sampleLimit)))
        }

        /// The server's verdict on a request for that target.
        mutating func markSample(of target: UInt64, asRefused isRefused: Bool) {
            for index in samples.indices where samples[index].target == target { samples[index].wasRefused = isRefused }
        }

        /// The sample for a probe: one whose last probe was not refused, if there is one. The next probe takes another.
        mutating func nextSample() -> Sample? {
            if let fixedSample { return fixedSample }
            let good = samples.firstIndex { !$0.wasRefused }
            guard let index = good ?? samples.indices.first else { return nil }
            let sample = samples.remove(at: index)
            samples.append(sample)
            return sample
        }

        static let sampleLimit = 4
    }

    /// A version is not sent to a server until its next try.
    public struct Pause: Sendable, Hashable {
        public let since: Int
        /// `Int.max`: not before the value is set anew.
        public internal(set) var nextTry: Int
        /// How many tries were refused.
        public let step: Int
        let number: Int
        let replica: UInt64
        let sent: Int

        /// Whether the answer was sent when the version was paused already.
        func isBefore(_ answer: SentAnswer) -> Bool {
            number <= answer.knew || replica == answer.replica && sent < answer.sent
        }
    }

    /// A leader's answer without a verdict.
    struct Reservation: Sendable, Hashable {
        let id: ID
        let server: String
        let number: Int
        /// When others may lead: the answer takes long, or its replica has died.
        var end: Int
        /// Whether an answer that was sent later was accepted.
        var isCleared = false

        /// When it no longer counts that the server may have refused it.
        var roomEnd: Int { isCleared ? end : end &+ Account.slotTime }

        /// Whether the answer was sent later than this one.
        func isBefore(_ answer: SentAnswer) -> Bool {
            number <= answer.knew || id.replica == answer.replica && id.sent < answer.sent
        }

        struct ID: Sendable, Hashable {
            let replica: UInt64
            /// Its place in the order in which the replica sent answers.
            let sent: Int

            static let none = ID(replica: 0, sent: 0)
        }
    }

    struct Place: Sendable, Hashable {
        let server: String
        let target: UInt64
    }

    /// The target of a login at a server that judges it before it hears of a target: a SOCKS server, a KDC, a token endpoint, a
    /// server that asks for a certificate. It is the only one there: the hash of no bytes, as `Evidence.hash` makes it.
    static let soleTarget: UInt64 = 0x6705_27F2_8686_2C69

    /// A replica's own part: the requests that wait, and the order in which it sends answers.
    public struct Seat: Sendable {
        public let replica: UInt64
        public internal(set) var sent = 0
        /// Requests that wait for a verdict. The first one leads, so requests come first whose target was accepted before.
        private(set) var waiting: [Waiting] = []
        private var lastID = 0

        struct Waiting: Sendable {
            let request: Request
            /// Those of the record when it began to wait.
            let clearances: Int
        }

        /// - Parameter replica: not 0, and another for each process.
        public init(replica: UInt64) { self.replica = replica }

        /// A number for a request.
        public mutating func nextID() -> Int {
            lastID &+= 1
            return lastID
        }

        /// An answer goes out.
        ///
        /// - Parameter number: the account's `number`, as far as the sender knows.
        public mutating func send(_ request: Request, as role: SentAnswer.Role, knowing number: Int) -> SentAnswer {
            sent &+= 1
            return SentAnswer(
                id: request.id, server: request.server, target: request.target, role: role, replica: replica,
                sent: sent, knew: number)
        }

        /// Servers that requests wait for, in the order in which they began to.
        var serversWaitedFor: [String] {
            var servers: [String] = []
            for waiting in waiting where !servers.contains(waiting.request.server) {
                servers.append(waiting.request.server)
            }
            return servers
        }

        mutating func take(waitingAt server: String) -> [Waiting] {
            let taken = waiting.filter { $0.request.server == server }
            waiting.removeAll { $0.request.server == server }
            return taken
        }

        mutating func add(_ request: Request, clearances: Int) {
            let index = request.wasAccepted ? waiting.firstIndex { !$0.request.wasAccepted } : nil
            waiting.insert(Waiting(request: request, clearances: clearances), at: index ?? waiting.count)
        }

        /// - Returns: whether the request did wait.
        mutating func remove(_ id: Int) -> Bool {
            guard let index = waiting.firstIndex(where: { $0.request.id == id }) else { return false }
            waiting.remove(at: index)
            return true
        }

        mutating func forgetWaiting(where isOver: (Int) -> Bool = { _ in true }) {
            waiting.removeAll { isOver($0.request.id) }
        }

        mutating func takeFirst(waitingAt server: String) -> Request? {
            waiting.firstIndex { $0.request.server == server }.map { waiting.remove(at: $0).request }
        }
    }

    /// A request that would send the version.
    public struct Request: Sendable, Hashable {
        /// From the seat.
        public let id: Int
        public let server: String
        /// A hash of its target.
        public let target: UInt64
        /// Whether this target was accepted before.
        public var wasAccepted = false
        /// The rule's `retry`: milliseconds between the tries of a paused version, the last one over and over; empty: none.
        public var retry = Account.shortSteps
        /// Whether the rule lets the proxy ask the server itself (`probe`).
        public var mayProbe = true
        /// The request that the rule names for that (`probe PATH`).
        public var fixedSample: Sample?

        public init(id: Int, server: String, target: UInt64) {
            self.id = id
            self.server = server
            self.target = target
        }
    }

    /// An accepted request that the proxy can repeat as it was: with a safe method, and without a body and cookies.
    public struct Sample: Sendable, Hashable {
        /// The most bytes of `content`. A longer one is not kept.
        public static let sizeLimit = 1024

        /// A hash of its target.
        public let target: UInt64
        /// Its request line's method and target, and its fields; in the sender's own form.
        public let content: [UInt8]
        /// Whether a probe by it was refused, and its target not accepted since. Its page may be gone.
        var wasRefused = false

        public init(target: UInt64, content: [UInt8]) {
            self.target = target
            self.content = content
        }
    }

    /// What becomes of a request.
    public enum Decision: Sendable, Hashable {
        /// The version is sent, and the verdict reported by `judge`. With a sample it is a probe of the proxy's own.
        case send(SentAnswer, Sample?)
        /// The request of that number waits for a verdict on another.
        case wait(Int)
        /// The request of that number counts as refused, and the version is not sent.
        case refuse(Int, Hold)
    }

    /// Why a version is not sent.
    public enum Hold: Sendable, Hashable {
        /// The server refused it, and the next try is not due.
        case paused
        /// The server has never accepted it, and refused it for this target.
        case unknown
        /// No server has ever accepted it, and it was refused.
        case unproven
        /// The account has no room for another refused answer.
        case held
        /// The credential has another value by now.
        case superseded
    }
}

/// An answer that is under way, from its sending to the server's verdict.
public struct SentAnswer: Sendable, Hashable {
    public enum Role: Sendable, Hashable {
        /// Nothing was against the version.
        case free
        /// The leader at a server that is doubted.
        case doubt
        /// The try of a paused version.
        case retry
        /// A client's request beside the tries, whose samples may be gone.
        case open
        /// The leader at a server that has never accepted the version.
        case unknown
        /// The same of a version that no server has accepted.
        case unproven

        /// Whether its acceptance ends what is against the version.
        var isRetrial: Bool { self == .doubt || self == .retry || self == .open }
    }

    /// The request's number.
    public let id: Int
    public let server: String
    public let target: UInt64
    public let role: Role
    let replica: UInt64
    /// Its place in the order in which its replica sent answers.
    let sent: Int
    /// The account's `number` that its sender knew.
    let knew: Int
    var reservation = Account.Reservation.ID.none
    var isProbe = false
}

/// A server's verdict on an answer.
public enum AnswerVerdict: Sendable, Hashable {
    case accepted
    case refused
    /// The server was in trouble, or never answered.
    case none
    /// The request was broken off by its own side.
    case abandoned
}
