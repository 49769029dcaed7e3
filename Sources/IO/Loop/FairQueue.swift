import Bytes

/// The order in which waiting work of many sources is done: by rank, then in turns of the sources, then in order of
/// arrival. A value without I/O and clock.
///
/// The turns are those of start-time fair queuing. A source's next piece of work is one round behind its last one, and
/// an idle source saves no rounds. So a source with a hundred pieces delays the first piece of another one by one only.
/// In a full queue a new piece replaces the one that would be done last, unless that is itself.
struct FairQueue<Key: Hashable> {
    /// The turn of a client.
    struct Turn {
        let source: IPAddress
        /// Lower ranks come first.
        let rank: Int
        /// The subject of the work. Two pieces with one subject are not done at the same time, nor two with subjects
        /// from one source.
        let subject: UInt128?
    }

    enum Admission: Equatable {
        case waits
        /// Equal work already waits, or is being done.
        case joins
        /// The piece waits in place of that one.
        case replaces(Key)
        case refused
    }

    private struct Piece {
        let key: Key
        var turn: Turn
        var round: Int
        let number: Int

        func precedes(_ other: Piece) -> Bool {
            (turn.rank, round, number) < (other.turn.rank, other.round, other.number)
        }
    }

    private let limit: Int
    private var waiting: [Piece] = []
    private var running: [Piece] = []
    /// The round of the piece that was taken last.
    private var round = 0
    private var arrivals = 0

    /// - Parameter limit: the limit of waiting pieces; few enough to be scanned each time.
    init(limit: Int) { self.limit = max(1, limit) }

    var count: Int { waiting.count }

    mutating func add(_ key: Key, _ turn: Turn) -> Admission {
        if running.contains(where: { $0.key == key }) { return .joins }
        arrivals &+= 1
        let piece = Piece(key: key, turn: turn, round: nextRound(of: turn.source), number: arrivals)
        if let index = waiting.firstIndex(where: { $0.key == key }) {
            // Shared work is done with the earliest turn of those who need it.
            if piece.precedes(waiting[index]) { (waiting[index].turn, waiting[index].round) = (turn, piece.round) }
            return .joins
        }
        guard waiting.count >= limit else {
            waiting.append(piece)
            return .waits
        }
        guard let last = waiting.indices.max(by: { waiting[$0].precedes(waiting[$1]) }),
            piece.precedes(waiting[last])
        else { return .refused }
        let replaced = waiting[last].key
        waiting[last] = piece
        return .replaces(replaced)
    }

    /// Whether any work may be done now.
    var hasNext: Bool { nextPlace != nil }

    /// Takes the next work; report its end by `finish`.
    mutating func next() -> Key? {
        guard let index = nextPlace else { return nil }
        let piece = waiting.remove(at: index)
        running.append(piece)
        round = max(round, piece.round)
        return piece.key
    }

    mutating func finish(_ key: Key) { running.removeAll { $0.key == key } }

    /// Removes work that no client needs any longer.
    /// - Returns: whether it was removed; false: it is being done.
    mutating func withdraw(_ key: Key) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.key == key }) else { return false }
        waiting.remove(at: index)
        return true
    }

    private var nextPlace: Int? {
        waiting.indices.filter { mayRun(waiting[$0].turn) }.min { waiting[$0].precedes(waiting[$1]) }
    }

    private func mayRun(_ turn: Turn) -> Bool {
        guard let subject = turn.subject else { return true }
        return !running.contains { other in
            other.turn.subject.map { $0 == subject || other.turn.source == turn.source } ?? false
        }
    }

    private func nextRound(of source: IPAddress) -> Int {
        let last = (waiting + running).lazy.filter { $0.turn.source == source }.map(\.round).max()
        return last.map { max(round, $0 &+ 1) } ?? round
    }
}

/// A client whose task waits on its loop for slow work.
public struct WaitingClient {
    /// The network of the client. One client may control a whole network of IPv6 addresses. All clients at unix sockets
    /// count as one network, `::`.
    public let network: IPAddress
    let wakeup: Wakeup
    let loop: EventLoop
    let hasLeft: () -> Bool

    /// - Parameters:
    ///   - wakeup: the wake-up of the client's task, which events of its connection signal too.
    ///   - hasLeft: whether the client has gone.
    public init(address: IPAddress?, wakeup: Wakeup, on loop: EventLoop, hasLeft: @escaping () -> Bool) {
        network = address?.network ?? IPAddress(v6High: 0, low: 0)
        self.wakeup = wakeup
        self.loop = loop
        self.hasLeft = hasLeft
    }
}
