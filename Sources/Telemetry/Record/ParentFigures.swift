import Bytes
import IO
import Synchronization

/// The figures of a parent proxy on one loop. Only that loop writes them; any thread may read.
public final class ParentFigures: Sendable {
    public let parent: ParentName
    /// Whether a PAC file names the parent, and not the rule file.
    public let isFound: Bool
    private let requests = Atomic(0)
    private let refusals = Atomic(0)
    private let failures = Atomic(0)
    private let connections = Atomic(0)
    private let idle = Atomic(0)
    private let standing = Mutex(Standing())

    /// The latest known state of connections to the parent.
    public struct Standing: Sendable, Equatable {
        /// The time since which connections fail; nil: the last one succeeded, or none was tried.
        public var failingSince: WallTime?
        /// The time of the next check, for which no request waits.
        public var nextTry: WallTime?
        public var lastError: Failure?

        public init() {}
    }

    public struct Failure: Sendable, Equatable {
        public let time: WallTime
        /// The reason as a sentence.
        public let reason: String

        public init(at time: WallTime, _ reason: String) {
            self.time = time
            self.reason = reason
        }
    }

    public init(_ parent: ParentName, isFound: Bool = false) {
        self.parent = parent
        self.isFound = isFound
    }

    /// Counts an exchange with the parent that has ended.
    public func addRequest() { Self.add(1, to: requests) }

    /// Counts a request that the parent refused because it had no accepted login.
    public func addRefusal() { Self.add(1, to: refusals) }

    /// - Parameter next: the time of the next try.
    public func failed(_ failure: Failure, next: WallTime) {
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

    /// Counts a new connection; `channelClosed` counts its end.
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
        state.idle += idle.load(ordering: .relaxed)
        let standing = standing.withLock { $0 }
        state.failingSince = [state.failingSince, standing.failingSince].compactMap(\.self).min()
        state.nextTry = [state.nextTry, standing.nextTry].compactMap(\.self).min()
        state.lastError = [state.lastError, standing.lastError].compactMap(\.self).max { $0.time < $1.time }
    }

    private static func add(_ count: Int, to number: borrowing Atomic<Int>) {
        number.store(number.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }
}

extension ParentFigures: Channel.Account {
    public func channelRests() { Self.add(1, to: idle) }
    public func channelIsUsed() { Self.add(-1, to: idle) }
    public func channelClosed() { Self.add(-1, to: connections) }
}

/// A parent proxy, as the rule file or a PAC file names it.
public struct ParentName: Sendable, Hashable {
    /// The name in the rule file, which all servers of one parent share.
    public let name: String
    /// The protocol of the parent: `http`, `https`, `socks5` or `socks4a`.
    public let kind: String
    /// The host and port.
    public let address: String

    /// The name and address, for records.
    public let label: String

    public init(_ name: String, kind: String, at address: String) {
        self.name = name
        self.kind = kind
        self.address = address
        label = "\(name) \(address)"
    }
}

/// The state of a parent proxy over all loops.
public struct ParentState: Sendable, Equatable {
    public let parent: ParentName
    /// Whether a PAC file names the parent, and not the rule file.
    public var isFound = false
    /// Whether any request has used the parent.
    public var isUsed = false
    /// The time since which connections of a loop fail; nil: all that were tried succeeded.
    public var failingSince: WallTime?
    public var nextTry: WallTime?
    public var lastError: ParentFigures.Failure?
    /// The number of open connections, including idle ones.
    public var connections = 0
    /// The number of idle connections.
    public var idle = 0
    /// The number of exchanges that have ended.
    public var requests = 0
    /// The number of requests that the parent refused because they had no accepted login.
    public var refusals = 0
    /// The number of failed connections.
    public var failures = 0

    public init(_ parent: ParentName) { self.parent = parent }

    /// The numbers are read one after the other, so the difference could be negative.
    public var connectionsInUse: Int { max(0, connections - idle) }
}

/// The figures of all loops' parents. A parent is included as long as its loop refers to it.
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

    /// The parents of the rule file, in its order, then those that PAC files have named.
    ///
    /// - Parameters:
    ///   - groups: the names of parents with PAC files.
    ///   - limit: the limit of all results.
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
