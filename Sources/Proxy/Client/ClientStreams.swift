import Bytes
import Forwarding
import HTTP
import HTTP2
import IO
import Telemetry
import Transport
import Upstream

/// A client's connection that speaks HTTP/2. Each of its streams has a session of its own, whose host is this object. The
/// session of the connection owns it and passes the connection's events on.
///
/// The limits count sessions, not streams: a request that continues after its stream was reset keeps its place.
final class ClientStreams: StreamOwner, SessionHost {
    private unowned let session: ClientSession
    private let host: any SessionHost
    private let metrics: Metrics
    /// The streams of the client's address.
    private let share: StreamCount.Share
    private let connection: ServerConnection
    private var sessions: [Int: ClientSession] = [:]
    /// The sessions that serve no stream now. The next streams take them, the last one first.
    private var parked: [ClientSession] = []
    private var lastNumber = 0
    /// The streams whose requests are not begun, in their order.
    private var waiting: [RequestStream] = []
    /// Whether the connection takes no more streams.
    private var isDraining = false
    private var wait = Wait.none
    private var reported = Reported()

    /// The event that the connection waits for, with a deadline.
    private enum Wait {
        /// The sessions of streams have deadlines of their own.
        case none
        /// The next stream.
        case stream
        /// The rest of a field section.
        case head
        /// The client takes no bytes.
        case room
    }

    /// The numbers that the metrics have.
    private struct Reported {
        var opened = 0
        var resetsReceived = 0
        var resetsSent = 0
    }

    /// The limit of sessions of the connection.
    private let limit: Int
    /// The requests that begin in one turn.
    private static let turnLimit = 32
    /// The streams after which the client must connect again.
    private static let streamLimit = 100_000

    /// - Throws: `ServerConnection.OutOfMemory`
    init(of session: ClientSession) throws(ServerConnection.OutOfMemory) {
        self.session = session
        host = session.host
        metrics = session.downstream.metrics
        var settings = ServerConnection.Settings(form: session.downstream.isProxy ? .absolute : .origin)
        limit = session.host.policy.exchanges.limits.streams
        settings.streams = UInt32(clamping: limit)
        settings.limits = session.host.policy.exchanges.limits.request
        connection = try ServerConnection(settings)
        share = session.host.joinStreams(from: session.downstream.address)
        super.init(of: connection, over: session.stream, on: session.downstream.loop)
        metrics.add(to: .http2Connections)
    }

    /// Whether no request is in progress.
    var isIdle: Bool { busy == 0 && waiting.isEmpty }
    /// Whether no request is in progress, and the responses were sent. A client may still have to make room for their ends.
    var isDone: Bool { isIdle && !connection.hasStreams }

    /// The number of sessions that serve a stream.
    private var busy: Int { sessions.count - parked.count }

    // MARK: - Bytes

    /// Reads bytes of the client that were received before.
    func receive(_ bytes: Span<UInt8>) { connection.receive(bytes, at: now) }

    /// Moves the bytes that can be moved without waiting, and begins requests.
    func advance() {
        guard beginTurn() else { return }
        let hasTime = stream.channel.isOpen
        let isLost = hasTime && !receive()
        deliver()
        beginWaiting()
        let isWritten = write()
        endTurn()
        note()
        if let excess = connection.excess { return end(for: excess) }
        if isLost || !isWritten || !hasTime { return end() }
        if isFlushed, connection.hasFailed { return end() }
        if isFlushed, connection.isOver || isDraining && isDone { return finish() }
        if !waiting.isEmpty { schedule() }
        setDeadline()
    }

    /// Tells the sessions what has changed on their streams.
    override func deliver() {
        while let changed = connection.nextChanged() {
            if let channel = changed.owner as? ClientStream {
                channel.update()
                channel.announce()
            } else if changed.isComplete, !changed.isReleased, !changed.isQueued {
                changed.isQueued = true
                waiting.append(changed)
            }
        }
    }

    private func setDeadline() {
        let timeouts = host.timeouts
        if blockedSince != nil {
            if wait != .room || hasWritten { stream.setDeadline(after: timeouts.idle) }
            wait = .room
        } else if connection.isReceivingHead {
            if wait != .head { stream.setDeadline(after: timeouts.head) }
            wait = .head
        } else if isIdle {
            // The end of a response may still wait for a slow client.
            if wait != .stream || hasWritten && connection.hasStreams {
                session.noteRest()
                trimLater()
                stream.setDeadline(after: session.isSilent ? timeouts.head : timeouts.idle)
            }
            wait = .stream
        } else {
            if wait != .none { stream.setDeadline(after: nil) }
            wait = .none
        }
    }

    // MARK: - Requests

    private func beginWaiting() {
        var begun = 0
        while begun < Self.turnLimit, !waiting.isEmpty {
            let stream = waiting.removeFirst()
            // A request whose stream was reset in the meantime costs nothing.
            guard !stream.isOver else { continue }
            begun += 1
            guard busy < limit else {
                stream.refuse(with: .refused)
                continue
            }
            guard let shortage = host.beginStream(in: share) else {
                begin(stream)
                continue
            }
            guard host.displaceStream(shortage, in: share) else {
                stream.refuse(with: .refused)
                continue
            }
            // The other's place is free when its session has ended.
            waiting.insert(stream, at: 0)
            return
        }
    }

    private func begin(_ stream: RequestStream) {
        if stream.defect != nil { connection.noteMalformed() }
        if let carried = parked.popLast() {
            carried.carryNext(stream)
            return carried.begin(refusing: stream.defect)
        }
        lastNumber += 1
        let channel = ClientStream(stream, of: self, on: loop)
        let carried = ClientSession(
            ByteStream(channel), from: session.peer, number: lastNumber, of: self, carriedBy: session)
        sessions[lastNumber] = carried
        carried.begin(refusing: stream.defect)
    }

    /// Keeps a session, whose stream is closed, for the next stream.
    func park(_ carried: ClientSession) {
        parked.append(carried)
        host.endStream(in: share)
    }

    override func trim() {
        guard isIdle else { return }
        endParked()
        super.trim()
    }

    private func endParked() {
        let ended = parked
        parked = []
        for carried in ended {
            sessions[carried.number] = nil
            carried.end()
        }
    }

    /// The stream that has waited longest for the client; nil if none waits for it.
    var longest: ClientStream? {
        sessions.values.compactMap { $0.stream.channel as? ClientStream }
            .filter(\.awaitsClient)
            .min { $0.lastMove < $1.lastMove }
    }

    // MARK: - The end

    /// The connection is closed, and its streams are lost.
    func lose() {
        isOver = true
        connection.lose()
        waiting.removeAll()
        deliver()
        endParked()
        host.leaveStreams(share)
    }

    /// Tells the client that the connection ends, and closes it.
    func end() {
        sayEnd()
        session.end()
    }

    /// Ends the connection in order. The client may not have received all bytes, and may still send WINDOW_UPDATE.
    func finish() {
        sayEnd()
        session.linger(behind: self)
    }

    private func end(for excess: ServerConnection.Excess) {
        metrics.add(to: .http2Floods)
        host.noteFlood(excess, at: session.downstream.address)
        connection.endForExcess()
        end()
    }

    /// Takes no more streams, and ends the connection after the last one.
    func drain() {
        guard !isDraining else { return }
        isDraining = true
        connection.drain()
        schedule()
    }

    func retire(_ retirement: Retirement) {
        for session in sessions.values { session.downstream.retire(retirement) }
    }

    private func note() {
        metrics.add(connection.opened - reported.opened, to: .http2Streams)
        metrics.add(connection.resetsReceived - reported.resetsReceived, to: .http2ResetsReceived)
        metrics.add(connection.resetsSent - reported.resetsSent, to: .http2ResetsSent)
        reported = Reported(
            opened: connection.opened, resetsReceived: connection.resetsReceived, resetsSent: connection.resetsSent)
        if connection.opened >= Self.streamLimit { drain() }
    }

    // MARK: - The host of the streams' sessions

    var upstreams: Upstreams { host.upstreams }
    var requests: ClientRequests { host.requests }
    var policy: ServicePolicy { host.policy }
    var timeouts: Policy.Timeouts { host.timeouts }

    func lend() -> Forwarding { host.lend() }
    func give(_ run: Forwarding) { host.give(run) }
    func close(_ record: ExchangeRecord) { host.close(record) }
    func takeRestNumber() -> UInt64 { 0 }
    func noteFirstRequest() { session.noteRequest() }
    func joinStreams(from address: IPAddress?) -> StreamCount.Share { host.joinStreams(from: address) }
    func leaveStreams(_ share: StreamCount.Share) { host.leaveStreams(share) }
    func beginStream(in share: StreamCount.Share) -> StreamCount.Shortage? { host.beginStream(in: share) }
    func displaceStream(_ shortage: StreamCount.Shortage, in share: StreamCount.Share) -> Bool {
        host.displaceStream(shortage, in: share)
    }
    func endStream(in share: StreamCount.Share) { host.endStream(in: share) }
    func noteFlood(_ excess: ServerConnection.Excess, at address: IPAddress?) { host.noteFlood(excess, at: address) }

    func forget(_ number: Int, at address: IPAddress?, isSilent: Bool) {
        guard sessions.removeValue(forKey: number) != nil else { return }
        host.endStream(in: share)
        schedule()
    }
}
