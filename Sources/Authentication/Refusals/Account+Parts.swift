import Bytes

extension Account {
    /// A refused answer, or several that were in flight at the same time.
    public struct Slot: Sendable, Hashable {
        /// The time at which the latest of its refusals became known.
        public internal(set) var time: WallTime
        /// The number of its first refusal.
        let id: Int
        /// The latest refusal of each replica.
        var refusals: [Refusal]

        private static let refusalLimit = 8

        struct Refusal: Sendable, Hashable {
            let replica: UInt64
            /// The position in the order in which the replica sent answers.
            let sent: Int
            let id: Int
        }

        /// Adds the refusals of a later slot, so that this one counts for both.
        mutating func add(_ later: Slot) {
            for refusal in later.refusals {
                let sent = refusals.filter { $0.replica == refusal.replica }.map(\.sent).max() ?? 0
                refusals.removeAll { $0.replica == refusal.replica }
                refusals.append(Refusal(replica: refusal.replica, sent: max(sent, refusal.sent), id: refusal.id))
            }
            // An acceptance that clears the later refusals was sent when the earlier ones were known.
            refusals = refusals.suffix(Self.refusalLimit)
            time = later.time
        }

        /// Whether an accepted answer was sent after all of its refused ones.
        func isCleared(by answer: SentAnswer) -> Bool {
            refusals.allSatisfy {
                $0.id <= answer.knew || $0.replica == answer.replica && $0.sent < answer.sent
            }
        }
    }

    /// The part of the account that concerns one server.
    public struct Record: Sendable, Hashable {
        /// The server's scheme, host and port, or the parent's; see `Origin.serverName`.
        public let server: String
        /// Whether the server has accepted the version.
        public internal(set) var isKnown = false
        /// Whether the server has accepted an earlier value of the credential.
        var wasKnown = false
        /// Whether the server has accepted a ticket obtained with the version. Servers accept tickets until they
        /// expire, even after a change of the password. So this does not prove the version's value.
        public internal(set) var takesTickets = false
        /// The accepted requests that can be repeated, the next to repeat first.
        public internal(set) var samples: [Sample] = []
        public internal(set) var pause: Pause?
        /// The refused answers since the server last accepted a later one.
        var doubt: Slot?
        /// The reason of the latest refusal, as text for an operator; nil: no refusal since the last acceptance.
        public internal(set) var reason: String?
        /// The times of the last acceptance and refusal; 0: not known. They have no effect on decisions.
        public internal(set) var lastAccepted: WallTime = 0
        public internal(set) var lastRefused: WallTime = 0
        /// The leader's answer that is in flight.
        var leader: Reservation.ID?
        /// The number of consecutive leaders without a verdict.
        var indecisions = 0
        /// The targets at which the server refused the version before it ever accepted it.
        var refusedTargets: [UInt64] = []
        /// The time from which such a target may be asked again.
        var unknownTry: WallTime = 0
        /// The number of leaders that were accepted.
        var clearances = 0
        /// Whether one client's request may be sent beside the probes, since the pages of their samples may be gone.
        var mayAskOpenly = false
        /// The rule's `retry`.
        var retry = Account.shortSteps
        /// Whether the rule lets the proxy ask the server itself.
        var mayProbe = true
        /// The request that the rule names for probes.
        var fixedSample: Sample?

        init(_ server: String) { self.server = server }

        var canProbe: Bool { mayProbe && (fixedSample != nil || !samples.isEmpty) }

        /// Whether the version is doubted here only because another server refused it, and a probe can decide.
        var isDoubtedAtMost: Bool { isKnown && pause == nil && canProbe }

        /// Records that the server has accepted an answer.
        mutating func accept(_ answer: SentAnswer) {
            isKnown = true
            reason = nil
            refusedTargets = []
            indecisions = 0
            mayAskOpenly = false
            markSample(of: answer.target, asRefused: false)
            if let former = pause, former.isBefore(answer) { pause = nil }
            if doubt?.isCleared(by: answer) ?? false { doubt = nil }
        }

        mutating func add(_ sample: Sample, limit: Int) {
            guard sample.content.count <= Sample.sizeLimit else { return }
            samples.removeAll { $0.target == sample.target }
            samples.insert(sample, at: 0)
            samples = Array(samples.prefix(min(limit, Self.sampleLimit)))
        }

        /// Records the server's verdict on a request for that target.
        mutating func markSample(of target: UInt64, asRefused isRefused: Bool) {
            for index in samples.indices where samples[index].target == target { samples[index].wasRefused = isRefused }
        }

        /// The sample for a probe: one whose last probe was not refused, if possible. The next probe takes another one.
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

    /// A pause: the version is not sent to a server until the next try.
    public struct Pause: Sendable, Hashable {
        public let since: WallTime
        /// The time of the next try; `distantFuture`: not until the value is set again.
        public internal(set) var nextTry: WallTime
        /// The number of refused tries.
        public let step: Int
        let number: Int
        let replica: UInt64
        let sent: Int

        /// Whether the answer was sent after the version was paused.
        func isBefore(_ answer: SentAnswer) -> Bool {
            number <= answer.knew || replica == answer.replica && sent < answer.sent
        }
    }

    /// A leader's answer without a verdict.
    struct Reservation: Sendable, Hashable {
        let id: ID
        let server: String
        let number: Int
        /// The time from which others may lead: the answer takes long, or its replica has died.
        var end: WallTime
        /// Whether a later answer was accepted.
        var isCleared = false

        /// The time from which a possible refusal of this answer no longer counts.
        var roomEnd: WallTime { isCleared ? end : end + Account.slotTime }

        /// Whether the answer was sent after this one.
        func isBefore(_ answer: SentAnswer) -> Bool {
            number <= answer.knew || id.replica == answer.replica && id.sent < answer.sent
        }

        struct ID: Sendable, Hashable {
            let replica: UInt64
            /// The position in the order in which the replica sent answers.
            let sent: Int

            static let none = ID(replica: 0, sent: 0)
        }
    }

    struct Place: Sendable, Hashable {
        let server: String
        let target: UInt64
    }

    /// The target of a login at a server that judges it without a target: a SOCKS server, a KDC, a token endpoint, a
    /// server that requests a certificate. It is the only target there: the hash of no bytes, as `Evidence.hash` makes
    /// it.
    static let soleTarget: UInt64 = 0x6705_27F2_8686_2C69

    /// The part of a replica: its waiting requests, and the order of its answers.
    public struct Seat: Sendable {
        public let replica: UInt64
        public internal(set) var sent = 0
        /// The requests that wait for a verdict. The first one becomes the leader, so requests with an accepted target
        /// come first.
        private(set) var waiting: [Waiting] = []
        private var lastID = 0

        struct Waiting: Sendable {
            let request: Request
            /// The value of the record's `clearances` when the request began to wait.
            let clearances: Int
        }

        /// - Parameter replica: not 0, and different for each process.
        public init(replica: UInt64) { self.replica = replica }

        /// Returns a new number for a request.
        public mutating func nextID() -> Int {
            lastID &+= 1
            return lastID
        }

        /// Counts an answer that is sent.
        ///
        /// - Parameter number: the account's `number` as far as the sender knows it.
        public mutating func send(_ request: Request, as role: SentAnswer.Role, knowing number: Int) -> SentAnswer {
            sent &+= 1
            return SentAnswer(
                id: request.id, server: request.server, target: request.target, role: role, replica: replica,
                sent: sent, knew: number)
        }

        /// The servers that requests wait for, in the order in which the waits began.
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

        /// - Returns: whether the request was waiting.
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

    /// A request that needs the version.
    public struct Request: Sendable, Hashable {
        /// The number from the seat.
        public let id: Int
        public let server: String
        /// The hash of the target.
        public let target: UInt64
        /// Whether this target was accepted before.
        public var wasAccepted = false
        /// The rule's `retry`: the times between the tries of a paused version, the last one repeated; empty: no tries.
        public var retry = Account.shortSteps
        /// Whether the rule lets the proxy ask the server itself (`probe`).
        public var mayProbe = true
        /// The request that the rule names for probes (`probe PATH`).
        public var fixedSample: Sample?
    }

    /// An accepted request that the proxy can repeat: with a safe method, and without a body and cookies.
    public struct Sample: Sendable, Hashable {
        /// The limit of `content` in bytes. Longer requests are not kept.
        public static let sizeLimit = 1024

        /// The hash of the target.
        public let target: UInt64
        /// The method, the target and the fields, in a form of the sender.
        public let content: [UInt8]
        /// Whether a probe with it was refused, and its target not accepted since. The page may be gone.
        var wasRefused = false

        public init(target: UInt64, content: [UInt8]) {
            self.target = target
            self.content = content
        }
    }

    /// The decision about a request.
    public enum Decision: Sendable, Hashable {
        /// The version is sent; report the verdict by `judge`. With a sample it is a probe of the proxy.
        case send(SentAnswer, Sample?)
        /// The request with that number waits for another one's verdict.
        case wait(Int)
        /// The request with that number counts as refused, and the version is not sent.
        case refuse(Int, Hold)
    }

    /// The reason why a version is not sent.
    public enum Hold: Sendable, Hashable {
        /// The server refused the version, and the next try is not due.
        case paused
        /// The server has never accepted the version, and refused it for this target.
        case unknown
        /// No server has ever accepted the version, and it was refused.
        case unproven
        /// The account has no room for another refused answer.
        case held
        /// The credential has another value now.
        case superseded
    }

    /// An answer in flight, from its sending to the server's verdict.
    public struct SentAnswer: Sendable, Hashable {
        public enum Role: Sendable, Hashable {
            /// The version was not doubted.
            case free
            /// The leader at a server where the version is doubted.
            case doubt
            /// The try of a paused version.
            case retry
            /// A client's request beside the tries, since the pages of their samples may be gone.
            case open
            /// The leader at a server that has never accepted the version.
            case unknown
            /// The leader for a version that no server has accepted.
            case unproven

            /// Whether its acceptance clears the doubts about the version.
            var isRetrial: Bool { self == .doubt || self == .retry || self == .open }
        }

        /// The request's number.
        public let id: Int
        public let server: String
        public let target: UInt64
        public let role: Role
        let replica: UInt64
        /// The position in the order in which its replica sent answers.
        let sent: Int
        /// The account's `number` that the sender knew.
        let knew: Int
        var reservation = Account.Reservation.ID.none
        var isProbe = false
    }

    /// A server's verdict on an answer.
    public enum Verdict: Sendable, Hashable {
        case accepted
        case refused
        /// The server had an error, or never answered.
        case none
        /// The request was cancelled on this side.
        case abandoned
    }
}
