import Authentication
import Bytes
import Challenges
import Credentials
import Forwarding
import HTTP
import HTTP2
import IO
import PAC
import Rules
import Telemetry
import Transport
import Upstream

/// All that one loop needs to serve its clients. Everything here belongs to the loop, so nothing is locked.
final class Worker: SessionHost {
    let upstreams: Upstreams
    let loop: EventLoop
    let metrics: Metrics
    private var listeners: [Listener] = []
    private var sessions: [Int: ClientSession] = [:]
    private var lastNumber = 0
    private var arrivals: AdmissionQueue?
    private var resting = IdleEviction()
    private var freeRuns: [Forwarding] = []
    private let lines: LineBuffer
    private var encoder: AccessLogEncoder
    private let recentEncoder = AccessLogEncoder(format: .json)
    private let recentRequest = ByteBuffer(capacity: 1024)
    let clients: ClientCount
    var requests: ClientRequests { clients.requests }
    /// The policy of requests that begin now.
    private(set) var policy: ServicePolicy
    var timeouts: Policy.Timeouts { policy.exchanges.timeouts }
    var isDraining: Bool { upstreams.isDraining }
    private var tally: ClientCount.Tally { clients.tallies[loop.index] }

    /// The streams of HTTP/2 connections.
    private var streams = StreamCount()
    /// The time of the last report of a flood.
    private var floodReport = LoopInstant.zero

    /// The exporter of spans; nil if there is no collector.
    private var spans: SpanExporter?
    /// The number of webhook calls in flight.
    private var announcements = 0

    /// The time before which no stream is displaced, since none had waited long.
    private var nextDisplacement = LoopInstant.zero

    /// The time that a stream may wait for its client while others need its place.
    private static let streamPatience = Milliseconds.seconds(5)
    private static let displacementPause: Milliseconds = 50
    private static let keptRuns = 256
    private static let mostAnnouncements = 8
    /// The number of descriptors that a client takes.
    private static let relief = 2

    /// The limits of a loop's connections.
    struct Room {
        /// The count of clients on all loops.
        let clients: ClientCount
        /// The limit of waiting connections, and of refused ones, beside the clients.
        let arrivals: Int
        /// The limit of the loop's idle connections to origins.
        let idle: Int
    }

    /// - Parameter network: the network that leads to other hosts.
    init(policy: ServicePolicy, shared: SharedState, on loop: EventLoop, in network: any Network, room: Room) {
        self.policy = policy
        upstreams = Upstreams(policy: policy.exchanges, shared: shared, on: loop, in: network, idleLimit: room.idle)
        metrics = upstreams.metrics
        self.loop = loop
        clients = room.clients
        lines = LineBuffer(on: loop, metrics: upstreams.metrics)
        lines.log = policy.log.exchanges
        encoder = AccessLogEncoder(format: policy.log.format)
        spans = policy.collector.map { SpanExporter(to: $0, over: upstreams) }
        self.arrivals = AdmissionQueue(at: self, counting: clients, room: room.arrivals)
        AccountWatch.begin(over: upstreams)
        loop.onScarcity = { [unowned self] in relieve() }
    }

    // MARK: - Clients

    /// Listens on the address.
    /// - Returns: the address, with the port that the system chose.
    func listen(on address: SocketAddress, for listener: ClientListener) throws(IOError) -> SocketAddress {
        let socket = try Listener(address, on: loop, isTransparent: listener.isTransparent) {
            [unowned self] connection in
            arrivals?.accept(connection, at: listener)
        }
        listeners.append(socket)
        return socket.address
    }

    /// Listens on a socket in the file system.
    func listen(on socket: LocalSocket, for listener: ClientListener) throws(IOError) {
        listeners.append(
            try Listener(socket, on: loop) { [unowned self] connection in
                arrivals?.accept(connection, at: listener)
            })
    }

    /// Serves a client that has been counted in.
    func begin(_ socket: Socket, from peer: ClientListener.Peer, at listener: ClientListener) {
        lastNumber += 1
        let session = ClientSession(ByteStream(socket), from: peer, number: lastNumber, of: self)
        sessions[session.number] = session
        metrics.add(to: .clientsAccepted)
        tally.add(1)
        session.begin(at: listener)
    }

    func takeRestNumber() -> UInt64 { resting.takeNumber() }

    /// Records a client's first request.
    func noteFirstRequest() { tally.add(-1) }

    /// Closes the connection that has waited longest for its client.
    /// - Parameters:
    ///   - isSilent: whether only sessions without a request qualify.
    ///   - network: the network of the client, see `IPAddress.clientNetwork`; nil for any.
    func displace(silent isSilent: Bool, in network: IPAddress?) -> Displacement {
        if isSilent, tally.silent == 0 { return .none }
        guard let session = resting.next(among: sessions, silent: isSilent, in: network, at: loop.now) else {
            return .none
        }
        metrics.add(to: .clientsDisplaced)
        return session.displace() ? .made : .underWay
    }

    func joinStreams(from address: IPAddress?) -> StreamCount.Share { streams.join(from: address) }
    func leaveStreams(_ share: StreamCount.Share) { streams.leave(share) }

    func beginStream(in share: StreamCount.Share) -> StreamCount.Shortage? {
        streams.begin(in: share, limit: policy.exchanges.limits.exchanges)
    }

    func displaceStream(_ shortage: StreamCount.Shortage, in share: StreamCount.Share) -> Bool {
        guard loop.now >= nextDisplacement else { return false }
        let owners = sessions.values.filter { shortage == .all || $0.downstream.address == share.address }
        let longest = owners.compactMap(\.longestStream).min { $0.lastMove < $1.lastMove }
        guard let longest, loop.now >= longest.lastMove + Self.streamPatience else {
            nextDisplacement = loop.now + Self.displacementPause
            return false
        }
        longest.refuse(with: .cancel)
        return true
    }

    func endStream(in share: StreamCount.Share) { streams.end(in: share) }

    func noteFlood(_ excess: ServerConnection.Excess, at address: IPAddress?) {
        guard floodReport == .zero || loop.now >= floodReport + .seconds(60) else { return }
        floodReport = loop.now
        let client = address.map { "\($0.unmapped)" } ?? "a unix socket"
        upstreams.shared.report(
            "the HTTP/2 connection of the client at \(client) was closed: \(excess.words)")
    }

    /// Removes the session of that number, which has ended.
    func forget(_ number: Int, at address: IPAddress?, isSilent: Bool) {
        sessions[number] = nil
        metrics.add(to: .clientsClosed)
        if isSilent { tally.add(-1) }
        for index in clients.leave(address) { clients.tell(index) { $0.admitWaiting() } }
    }

    /// Admits waiting clients, if there is room.
    func admitWaiting() { arrivals?.admitWaiting() }

    // MARK: - Exchanges

    func lend() -> Forwarding { freeRuns.popLast() ?? Forwarding(policy: policy.exchanges, on: loop) }

    func give(_ run: Forwarding) {
        let exchange = run.exchange
        guard exchange.policy === policy.exchanges, exchange.isWorthKeeping, freeRuns.count < Self.keptRuns else {
            return run.dissolve(into: loop.buffers)
        }
        exchange.inbound.clear()
        freeRuns.append(run)
    }

    /// Takes a complete record: counts it, and logs it if there is a log.
    func close(_ record: ExchangeRecord) {
        metrics.add(record)
        if let trace = record.facts.trace, trace.isRecorded { spans?.add(trace, of: record) }
        if record.parts.contains(.challenges) { keep(record) }
        guard policy.log.exchanges != nil else { return }
        lines.add(.info) { encoder.append(record, at: $1, to: $0) }
    }

    /// Keeps the request for the dashboard, if it is one that the dashboard shows.
    private func keep(_ record: ExchangeRecord) {
        let recent = upstreams.shared.recentRequests
        guard recent.wants(record) else { return }
        recent.add(recentEncoder.recent(record, at: loop.wallTime, in: recentRequest))
    }

    /// Logs an event of this loop after the exchanges that ended before it.
    /// - Returns: false if events and exchanges have different logs.
    func note(_ event: AuditEvent) -> Bool {
        guard let log = policy.log.events, log === policy.log.exchanges else { return false }
        let style = policy.log.style
        lines.add(event.level) { event.append(to: $0, at: $1, as: style) }
        return true
    }

    // MARK: - Change

    /// Tells the webhook of a challenge that waits for an operator.
    func announce(_ question: OperatorQuestion) {
        guard let webhook = policy.webhook else { return }
        guard announcements < Self.mostAnnouncements else {
            return upstreams.shared.report(
                "the webhook of 'ask' did not get a question: there are too many at once")
        }
        announcements += 1
        let (policy, bound) = (policy.exchanges, LoopBound(self, to: loop))
        loop.spawn {
            await webhook.tell(question, over: bound.value.upstreams, by: policy)
            bound.value.announcements -= 1
        }
    }

    /// Applies the policy to new exchanges.
    func adopt(_ policy: ServicePolicy) {
        self.policy = policy
        spans?.end()
        spans = policy.collector.map { SpanExporter(to: $0, over: upstreams) }
        upstreams.adopt(policy.exchanges)
        lines.log = policy.log.exchanges
        encoder = AccessLogEncoder(format: policy.log.format)
        // Servers that were allowed before may now be forbidden.
        for session in sessions.values { session.downstream.logins.closeAll() }
        for run in freeRuns { run.dissolve(into: loop.buffers) }
        freeRuns.removeAll()
    }

    /// Closes idle connections, here or else on the other loops: clients need the descriptors.
    private func relieve() {
        guard upstreams.closeOldest(Self.relief) == 0 else { return }
        for index in clients.tallies.indices where index != loop.index {
            clients.tell(index) { _ = $0.upstreams.closeOldest(Self.relief) }
        }
    }

    func retire(_ retirement: Retirement) {
        for session in sessions.values { session.retire(retirement) }
        upstreams.retire(retirement)
    }

    /// Takes no new client, closes the connections without work in progress, and lets the others finish.
    func drain() {
        upstreams.drain()
        for listener in listeners { listener.close() }
        listeners.removeAll()
        arrivals?.close()
        for session in sessions.values {
            if session.isIdle { session.close() } else { session.drain() }
        }
    }

    func flushLog() { lines.flush() }

    /// Sends the remaining spans to the collector at once.
    func endSpans() { spans?.end() }

    var hasSpans: Bool { spans.map { !$0.isIdle } ?? false }

    // MARK: - Room for a client at the limit of clients

    enum Displacement {
        case made
        /// A connection that a task serves ends soon.
        case underWay
        /// All connections that could make room are busy, or on other loops.
        case none
    }

    /// Closes one of this loop's connections that waits for its client, unless one on another loop must go first.
    func makeRoom(for address: IPAddress?, shortOf shortage: ClientCount.Reason) -> Displacement {
        let network = network(of: address, shortage)
        let result = displace(silent: true, in: network)
        if result != .none || network == nil && clients.loopWithSilent(besides: loop.index) != nil { return result }
        return displace(silent: false, in: network)
    }

    /// Has other loops make room, one after the other until one does: they notify this one when there is room.
    func askOthersForRoom(for address: IPAddress?, shortOf shortage: ClientCount.Reason) {
        let network = network(of: address, shortage)
        let first = network == nil ? clients.loopWithSilent(besides: loop.index) : nil
        ask(first ?? loop.index + 1, in: network, steps: clients.tallies.count - 1)
    }

    private func ask(_ index: Int, in network: IPAddress?, steps: Int) {
        guard steps > 0 else { return }
        let index = index % clients.tallies.count
        clients.tell(index) { worker in
            guard worker.displace(silent: true, in: network) == .none,
                worker.displace(silent: false, in: network) == .none
            else { return }
            worker.ask(index + 1, in: network, steps: steps - 1)
        }
    }

    /// The network whose connections may make room; nil for any.
    private func network(of address: IPAddress?, _ shortage: ClientCount.Reason) -> IPAddress? {
        shortage == .address ? address?.clientNetwork : nil
    }
}
