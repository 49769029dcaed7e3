import Bytes

/// The order in which waiting work of many sources is done: by rank, then in turns of the sources, then as it came. A
/// value without I/O and clock.
///
/// The turns are those of start-time fair queuing: a source's next piece of work stands one round behind its last one, and
/// a source that brings nothing saves no rounds. So a source that brings a hundred pieces delays the first piece of
/// another by one. In a full queue a new piece replaces the one that would be done last, unless that is itself.
struct FairQueue<Key: Hashable> {
    /// The client whose turn it is.
    struct Turn {
        let source: IPAddress
        /// Lower ranks come first.
        let rank: Int
        /// Of the work that has a subject, no two pieces of one subject are done at a time, nor two of one source.
        let subject: UInt128?
    }

    enum Admission: Equatable {
        case waits
        /// The same work waits already, or is being done.
        case joins
        /// It waits instead of that one.
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

    /// - Parameter limit: pieces that wait at most; few enough to be looked through each time.
    init(limit: Int) { self.limit = max(1, limit) }

    var count: Int { waiting.count }

    mutating func add(_ key: Key, _ turn: Turn) -> Admission {
        if running.contains(where: { $0.key == key }) { return .joins }
        arrivals &+= 1
        let piece = Piece(key: key, turn: turn, round: nextRound(of: turn.source), number: arrivals)
        if let index = waiting.firstIndex(where: { $0.key == key }) {
            // It is done when the first of those who want it has a turn.
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

    /// Whether there is work that may be done now.
    var hasNext: Bool { nextPlace != nil }

    /// Takes the work that is to be done next; `finish` says when it is done.
    mutating func next() -> Key? {
        guard let index = nextPlace else { return nil }
        let piece = waiting.remove(at: index)
        running.append(piece)
        round = max(round, piece.round)
        return piece.key
    }

    mutating func finish(_ key: Key) { running.removeAll { $0.key == key } }

    /// Nobody wants it any more.
    /// - Returns: whether it is given up; false: it is being done.
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
    /// Where it is from: with an IPv6 address somebody has a whole network of them.
    public let network: IPAddress
    let wakeup: Wakeup
    let loop: EventLoop
    let hasLeft: () -> Bool

    /// - Parameters:
    ///   - wakeup: of the client's task; events of its connection signal it as well.
    ///   - hasLeft: whether nobody is there any more who could be answered.
    public init(address: IPAddress, wakeup: Wakeup, on loop: EventLoop, hasLeft: @escaping () -> Bool) {
        network = address.network
        self.wakeup = wakeup
        self.loop = loop
        self.hasLeft = hasLeft
    }
}
