import Bytes
import HTTP
import HTTP2
import IO
import Telemetry
import Transport

/// A connection to a server that speaks HTTP/2 (RFC 9113). Each of its streams carries one request, of any client whose
/// terms are the same. A login never belongs to one.
///
/// It observes its socket itself.
public final class SharedConnection: StreamOwner, Channel.Observer {
    /// The connection below, with its server, terms and trust. It is in the loop's `IdlePool` while no stream is open.
    let carrier: OriginConnection
    let terms: ConnectionTerms
    private let connection: ClientConnection
    private let scheme: Scheme
    private let metrics: Metrics
    /// The streams that exchanges use.
    private(set) var used = 0
    /// The connections whose streams have ended in order, for the next streams.
    private var spare: [OriginConnection] = []
    /// Whether a stream has been given out before.
    private var hasServed = false
    /// Whether no more streams are given out.
    private(set) var isRetired = false
    private var wait = Wait.none
    /// The time when the last PING was sent; nil if the server has sent something beside its answer since.
    private var lastPing: LoopInstant?
    /// The time of the frame that answered it, as in `ClientConnection.lastFrame`.
    private var answered: UInt64 = 0
    /// The time when requests came after a rest, in nanoseconds.
    private var began: UInt64 = 0
    /// Ends the streams that their exchanges have left.
    private var cleaning: Alarm?

    /// The event that the connection waits for, with a deadline.
    private enum Wait {
        case none
        /// The next request.
        case request
        /// Any frame of the server.
        case frame
        /// The answer to a PING.
        case pong
        /// The server's end, behind ours. At most `rest` more bytes are read and dropped.
        case end(rest: Int)
    }

    /// The time for which a connection without streams is kept.
    private static let keptFor: Milliseconds = 30_000
    /// The silence after which a server is asked by PING, and the time for its answer.
    private static let silence: Milliseconds = 15_000
    private static let patience: Milliseconds = 10_000
    /// The pause between PINGs that are answered, while nothing else comes. Servers of gRPC end connections with more
    /// than one in 5 minutes.
    private static let pause: Milliseconds = 330_000
    /// The longest time for which a server with requests may take no bytes.
    private static let blockLimit: Milliseconds = 60_000
    /// The time after which a connection whose server takes no bytes gets no more requests.
    private static let stall: Milliseconds = 1000
    /// The time for which streams that their exchanges have left are kept, at least; at most twice as long.
    private static let leftoverTime: Milliseconds = 30_000
    /// The longest wait for the server's end, and the bytes that it may send until then.
    private static let lingerTime: Milliseconds = 60_000
    private static let lingerBytes = 1 << 20
    /// The limit of `spare`.
    private static let mostSpare = 100
    /// The limit of streams at once of a connection with a parent. Most of them are tunnels that rest.
    private static let parentLimit = 1000

    /// - Parameter carrier: a connection on which TLS has agreed on HTTP/2.
    /// - Throws: `ServerConnection.OutOfMemory`
    init(
        over carrier: OriginConnection, limits: Limits, on loop: EventLoop, countedBy metrics: Metrics
    ) throws(ServerConnection.OutOfMemory) {
        self.carrier = carrier
        terms = carrier.terms
        scheme = carrier.peer.scheme
        self.metrics = metrics
        var settings = ClientConnection.Settings()
        settings.limits = limits
        if carrier.peer.isProxy { settings.streams = Self.parentLimit }
        connection = try ClientConnection(settings, windows: carrier.peer.pool.windows)
        super.init(of: connection, over: carrier.stream, on: loop)
        carrier.stream.rest(telling: self)
        carrier.stream.setDeadline(after: nil)
        if let early = carrier.early { connection.receive(early.readable, at: now) }
        metrics.add(to: .upstreamHTTP2Connections)
    }

    // MARK: - Streams

    /// The number of requests that it could serve at once.
    var limit: Int { connection.limit(at: now) }

    /// Whether another request can be sent on it now.
    var hasRoom: Bool {
        guard !isRetired, !isOver, !connection.isRetired, !connection.hasFailed, stream.channel.isOpen,
            max(used, connection.busy) < connection.limit(at: now), isJudged || used == 0
        else { return false }
        guard let blockedSince else { return true }
        return loop.now.time(since: blockedSince) < Self.stall
    }

    /// Whether the server has accepted our certificate, if it has asked for one. TLS 1.3 tells that only behind the
    /// handshake, and nginx by a response. Until then one request is alone, so that a refusal concerns no other.
    private var isJudged: Bool {
        guard let security = carrier.peerSecurity, security.hasAskedForIdentity else { return true }
        return connection.isProven && !security.hasIdentityNews
    }

    /// Gives out a stream for one request. Call it only if `hasRoom`.
    func open() -> (OriginConnection, isReused: Bool) {
        defer { hasServed = true }
        if used == 0 { carrier.peer.pool.leave(carrier) }
        used += 1
        metrics.add(to: .upstreamHTTP2Streams)
        let stream = connection.open(scheme: scheme)
        if let kept = spare.popLast(), let channel = kept.sharedStream {
            channel.carryNext(stream)
            return (kept, hasServed)
        }
        return (OriginConnection(OriginStream(stream, of: self, on: loop)), hasServed)
    }

    /// Closes a stream whose response was read completely, and keeps the connection for the next stream, as one that speaks
    /// HTTP/1.1 is kept.
    func keep(_ served: OriginConnection) {
        guard let channel = served.sharedStream, channel.isOpen, served.stream.tls == nil, !isRetired,
            spare.count < Self.mostSpare
        else { return served.stream.close() }
        channel.pause()
        spare.append(served)
        noteRelease()
    }

    /// A stream was closed by its exchange.
    func noteRelease() {
        used -= 1
        if connection.hasLeftovers { cleanLater() }
        schedule()
    }

    /// Ends a stream that its exchange has left, so that a request can have its place.
    /// - Returns: whether there was one.
    func makeRoom() -> Bool { !isRetired && connection.endLeftover() }

    private func cleanLater() {
        if let cleaning, !cleaning.hasRung { return }
        let alarm = cleaning ?? Alarm(on: loop) { [unowned self] in clean() }
        cleaning = alarm
        alarm.set(after: Self.leftoverTime)
    }

    private func clean() {
        guard !isOver else { return }
        connection.endLeftovers(olderThan: UInt64(Self.leftoverTime.count) * 1_000_000, at: now)
        if connection.hasLeftovers { cleanLater() }
        schedule()
    }

    /// Gives out no more streams. Those that are open go on; then the connection ends. Nothing is said before: Apache 2.4 ends
    /// all streams when a client sends GOAWAY.
    func retire() {
        guard !isRetired else { return }
        isRetired = true
        schedule()
    }

    public func channelChanged(_ channel: Channel) {
        guard case .end(let rest) = wait else { return advance() }
        if channel.isOpen { discard(rest) } else { close() }
    }

    // MARK: - Bytes

    /// Moves the bytes that can be moved without waiting.
    private func advance() {
        guard beginTurn() else { return }
        let isTimedOut = !stream.channel.isOpen && !stream.isClosed
        var isLost = stream.isClosed || !receive()
        deliver()
        if !isLost, !write() {
            // The reason may have come: an alert, or GOAWAY.
            _ = receive()
            isLost = true
        }
        endTurn()
        if isLost { return end() }
        if connection.excess != nil {
            connection.endForExcess()
            return cancel()
        }
        if isFlushed, connection.hasFailed { return end() }
        if isFlushed, connection.isOver { return finish() }
        if connection.isRetired { isRetired = true }
        if connection.requiresHTTP11 { carrier.peer.streams.noteNeedOfHTTP11(at: loop.now) }
        if used == 0, !connection.hasStreams, isFlushed {
            if isTimedOut { return cancel() }
            if isRetired { return finish() }
            rest()
        } else if isTimedOut ? !meetSilence() : !awaitFrame() {
            return end()
        }
        if !isRetired { carrier.peer.streams.noteRoom() }
    }

    /// Tells the exchanges what has changed on their streams.
    override public func deliver() {
        guard connection.isRetired else {
            while let changed = connection.nextChanged() { inform(changed) }
            return
        }
        // A server that closes leaves requests to the next connection. There the older ones go first: each is sent again only a
        // few times.
        let changes = sequence(state: connection) { $0.nextChanged() }
        for changed in changes.sorted(by: { $0.id < $1.id }) { inform(changed) }
    }

    private func inform(_ changed: ResponseStream) {
        guard let channel = changed.owner as? OriginStream else { return }
        channel.update()
        channel.announce()
    }

    // MARK: - Time

    /// Waits for a request, among the idle connections of the loop.
    private func rest() {
        if case .request = wait, carrier.isInOrder { return }
        wait = .request
        lastPing = nil
        trimLater()
        carrier.peer.pool.enter(carrier)
        stream.setDeadline(after: Self.keptFor)
    }

    override public func trim() {
        guard used == 0 else { return }
        spare.removeAll()
        super.trim()
    }

    /// Begins to wait for frames of the server, if it does not already.
    /// - Returns: true.
    private func awaitFrame() -> Bool {
        switch wait {
        case .frame, .end: return true
        case .pong where connection.awaitsPing: return true
        case .pong: answered = connection.lastFrame
        case .none, .request: began = now
        }
        wait = .frame
        stream.setDeadline(after: Self.silence)
        return true
    }

    /// The deadline has passed while requests are in progress: asks a silent server whether it is there.
    /// - Returns: false if it is not.
    private func meetSilence() -> Bool {
        if let blockedSince {
            wait = .frame
            stream.setDeadline(after: Self.silence)
            return loop.now.time(since: blockedSince) < Self.blockLimit
        }
        if case .pong = wait, connection.awaitsPing { return false }
        if connection.lastFrame != answered { lastPing = nil }
        let last = max(connection.lastFrame, began)
        let silent = Milliseconds(Int(clamping: (now &- min(now, last)) / 1_000_000))
        wait = .frame
        if silent < Self.silence {
            stream.setDeadline(after: Self.silence - silent)
        } else if let lastPing, loop.now.time(since: lastPing) < Self.pause {
            stream.setDeadline(after: Self.pause - loop.now.time(since: lastPing))
        } else {
            lastPing = loop.now
            wait = .pong
            connection.ping(at: now)
            stream.setDeadline(after: Self.patience)
            schedule()
        }
        return true
    }

    // MARK: - The end

    /// Tells the server that the connection ends, and waits until the server has ended it, too. Not all that was sent may have
    /// arrived: if a frame of the server meets a closed socket, the system drops the rest. While a server may still read
    /// content, GOAWAY is not sent: Node would drop what it has not read.
    private func finish() {
        let mayBeRead = connection.hasSentLate
        if !mayBeRead { sayEnd() }
        leave()
        if !mayBeRead { stream.shutdownWrite() }
        stream.setDeadline(after: Self.lingerTime)
        discard(Self.lingerBytes)
    }

    private func discard(_ limit: Int) {
        guard let rest = stream.discard(upTo: limit, buffers: loop.buffers) else { return close() }
        wait = .end(rest: rest)
    }

    /// Tells the server that the connection ends, and closes it.
    private func cancel() {
        sayEnd()
        end()
    }

    /// Closes the connection. Its streams are lost.
    private func end() {
        guard !isOver else { return }
        leave()
        close()
    }

    private func close() {
        stream.forgetObserver()
        stream.close()
    }

    /// Ends the streams. They are lost.
    private func leave() {
        isOver = true
        isRetired = true
        carrier.peer.streams.remove(self)
        carrier.peer.pool.leave(carrier)
        connection.lose()
        spare.removeAll()
        deliver()
        carrier.peer.streams.noteRoom()
    }
}
