import IO
import Synchronization

/// A parent proxy as one loop knows it, in figures: that loop alone writes them, any thread may read.
public final class ParentFigures: Sendable {
    public let parent: ParentName
    /// Whether a PAC file names it, and not the rule file.
    public let isFound: Bool
    private let requests = Atomic(0)
    private let refusals = Atomic(0)
    private let failures = Atomic(0)
    private let connections = Atomic(0)
    private let resting = Atomic(0)
    private let standing = Mutex(Standing())

    /// The last that is known of connections to it. Times are milliseconds since 1970.
    public struct Standing: Sendable, Equatable {
        /// Since when none is made; nil: one was, or nobody has tried.
        public var failingSince: Int?
        /// When the next one is tried, without a request that waits for it.
        public var nextTry: Int?
        public var lastError: Failure?

        public init() {}
    }

    public struct Failure: Sendable, Equatable {
        public let time: Int
        /// A sentence.
        public let reason: String

        public init(at time: Int, _ reason: String) {
            self.time = time
            self.reason = reason
        }
    }

    public init(_ parent: ParentName, isFound: Bool = false) {
        self.parent = parent
        self.isFound = isFound
    }

    /// An exchange that went to it, or through it, has ended.
    public func addRequest() { Self.add(1, to: requests) }

    /// It has refused a request for want of a login that it takes.
    public func addRefusal() { Self.add(1, to: refusals) }

    /// - Parameter next: when it is tried again.
    public func failed(_ failure: Failure, next: Int) {
        Self.add(1, to: failures)
        standing.withLock { standing in
            standing.failingSince = standing.failingSince ?? failure.time
            standing.nextTry = next
            standing.lastError = failure
        }
    }

    public func worked() {
        standing.withLock { standing in
            standing.failingSince = nil
            standing.nextTry = nil
        }
    }

    /// A connection to it is open; its socket's end is told by `channelClosed`.
    public func opened(_ socket: Channel) {
        Self.add(1, to: connections)
        socket.account = self
    }

    /// Adds the figures to those of other loops.
    func add(to state: inout ParentState) {
        state.isUsed = true
        state.requests += requests.load(ordering: .relaxed)
        state.refusals += refusals.load(ordering: .relaxed)
        state.failures += failures.load(ordering: .relaxed)
        state.connections += connections.load(ordering: .relaxed)
        state.resting += resting.load(ordering: .relaxed)
        let standing = standing.withLock { $0 }
        state.failingSince = [state.failingSince, standing.failingSince].compactMap(\.self).min()
        state.nextTry = [state.nextTry, standing.nextTry].compactMap(\.self).min()
        state.lastError = [state.lastError, standing.lastError].compactMap(\.self).max { $0.time < $1.time }
    }

    private static func add(_ count: Int, to number: borrowing Atomic<Int>) {
        number.store(number.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }
}

extension ParentFigures: ChannelAccount {
    public func channelRests() { Self.add(1, to: resting) }
    public func channelIsUsed() { Self.add(-1, to: resting) }
    public func channelClosed() { Self.add(-1, to: connections) }
}

/// A parent proxy, as the rule file or a PAC file names it.
public struct ParentName: Sendable, Hashable {
    /// That of the rule file, which those that stand in for each other share.
    public let name: String
    /// The protocol that is spoken with it: `http`, `https`, `socks5` or `socks4a`.
    public let kind: String
    /// Host and port.
    public let address: String

    /// For records: name and address.
    public let label: String

    public init(_ name: String, kind: String, at address: String) {
        self.name = name
        self.kind = kind
        self.address = address
        label = "\(name) \(address)"
    }
}

/// A parent proxy as all loops together know it. Times are milliseconds since 1970.
public struct ParentState: Sendable, Equatable {
    public let parent: ParentName
    /// Whether a PAC file names it, and not the rule file.
    public var isFound = false
    /// Whether a request has had it on its way.
    public var isUsed = false
    /// Since when a loop has made no connection to it; nil: all that tried have.
    public var failingSince: Int?
    public var nextTry: Int?
    public var lastError: ParentFigures.Failure?
    /// Those that are open, the resting ones among them.
    public var connections = 0
    /// Connections that wait for their next request.
    public var resting = 0
    /// Exchanges that have ended.
    public var requests = 0
    /// Requests that it refused for want of a login that it takes.
    public var refusals = 0
    /// Connections that could not be made.
    public var failures = 0

    public init(_ parent: ParentName) { self.parent = parent }

    /// A number that was read between two others may be behind them.
    public var connectionsInUse: Int { max(0, connections - resting) }
}

/// The figures of all loops' parents. A parent is in them for as long as its loop knows it.
public final class ParentBoard: Sendable {
    private struct Entry {
        weak var figures: ParentFigures?
    }

    private let entries = Mutex<[Entry]>([])

    public init() {}

    public func add(_ figures: ParentFigures) {
        entries.withLock { entries in
            entries.removeAll { $0.figures == nil }
            entries.append(Entry(figures: figures))
        }
    }

    /// The parents of the rule file, in its order, and behind them those that PAC files have named.
    ///
    /// - Parameters:
    ///   - groups: the names under which PAC files are asked.
    ///   - limit: of all that is returned.
    public func states(of configured: [ParentName], foundBy groups: Set<String>, limit: Int = 100) -> [ParentState] {
        var indices: [ParentName: Int] = [:]
        var states: [ParentState] = []
        for parent in configured where indices[parent] == nil {
            indices[parent] = states.count
            states.append(ParentState(parent))
        }
        for figures in entries.withLock({ $0.compactMap(\.figures) }) {
            if figures.isFound, indices[figures.parent] == nil, groups.contains(figures.parent.name) {
                indices[figures.parent] = states.count
                states.append(ParentState(figures.parent))
                states[states.count - 1].isFound = true
            }
            if let index = indices[figures.parent] { figures.add(to: &states[index]) }
        }
        return Array(states.prefix(limit))
    }
}
