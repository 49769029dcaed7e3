import Bytes
import HTTP
import IO
import Rules
import Telemetry
import Upstream

/// The connections of one loop that are not yet sessions, or never will be.
///
/// The client's address is checked before anything else, before TLS too. At a limit the client that has been silent
/// longest makes room, then the one that has been idle longest (`IdleEviction`). If none can, a new client waits a
/// second and is then refused. A client without TLS gets a status, once it has sent bytes; one with TLS gets nothing.
/// Their number is limited, no matter how many connect.
final class AdmissionQueue {
    private unowned let worker: Worker
    private let clients: ClientCount
    /// The limit of waiting connections, and of those that are being refused.
    private let room: Int
    private var waiting: [PendingConnection] = []
    private var refused: [PendingConnection] = []
    /// The connections of balancers that have not said whose they are.
    private var announced: [PendingConnection] = []

    /// The time that a client waits for room.
    private static let patience: Milliseconds = 1000
    /// The time between two checks for sessions that have become idle.
    private static let step: Milliseconds = 100
    /// The limit of sessions that make room for one client: after a reload there may be more than the new limit.
    private static let displacements = 64

    init(at worker: Worker, counting clients: ClientCount, room: Int) {
        self.worker = worker
        self.clients = clients
        self.room = room
    }

    func accept(_ connection: AcceptedConnection, at listener: ClientListener) {
        let peer = ClientListener.Peer(connection.peer)
        guard listener.balancers.isEmpty else { return announce(connection, from: peer, at: listener) }
        let address = peer.address
        let isPermitted = worker.policy.exchanges.rules.clients.permits(address)
        // A client with TLS would need a handshake to read a response.
        if !isPermitted, listener.identity != nil {
            connection.close()
            return count(.foreignAddress, of: address)
        }
        // If registering failed, the descriptor is closed, which the client sees.
        guard let socket = try? Socket(takingOwnership: connection.descriptor, on: worker.loop) else { return }
        let arrival = PendingConnection(socket, on: worker.loop, from: peer, at: listener, to: self)
        guard isPermitted else { return refuse(arrival, .foreignAddress) }
        take(arrival)
    }

    /// Admits a client at an address that is permitted, or lets it wait.
    private func take(_ arrival: PendingConnection) {
        let address = arrival.address
        // Connections that have waited go first.
        admitWaiting()
        guard let shortage = admit(address, isNew: true) else { return begin(arrival) }
        guard waiting.count < room else { return refuse(arrival, shortage) }
        waiting.append(arrival)
        arrival.wait(Self.step)
    }

    // MARK: - Behind a balancer

    /// Waits for the header that says whose connection it is. Only the balancers that the rules name may connect.
    private func announce(_ connection: AcceptedConnection, from peer: ClientListener.Peer, at listener: ClientListener)
    {
        guard let address = peer.address, listener.balancers.contains(where: { $0.contains(address) }) else {
            connection.close()
            return count(.foreignAddress, of: peer.address)
        }
        guard let socket = try? Socket(takingOwnership: connection.descriptor, on: worker.loop) else { return }
        if announced.count >= room { announced[0].close() }
        let arrival = PendingConnection(socket, on: worker.loop, from: peer, at: listener, to: self)
        announced.append(arrival)
        arrival.awaitHeader(within: worker.policy.exchanges.timeouts.head)
    }

    /// The header of the connection has come: it is the client's from here on.
    private func noteHeader(of arrival: PendingConnection) {
        announced.removeAll { $0 === arrival }
        guard worker.policy.exchanges.rules.clients.permits(arrival.address) else {
            return refuse(arrival, .foreignAddress)
        }
        take(arrival)
    }

    /// Admits waiting clients, if there is room again.
    func admitWaiting() {
        var next = 0
        while next < waiting.count {
            switch clients.enter(waiting[next].address, on: worker.loop.index) {
            case nil: begin(waiting.remove(at: next))
            case .clients: return
            case .address, .foreignAddress: next += 1
            }
        }
    }

    /// Closes all connections.
    func close() {
        for arrival in waiting + refused + announced { arrival.close() }
    }

    private func begin(_ arrival: PendingConnection) {
        worker.metrics.note(.queue, from: arrival.since, to: worker.loop.now)
        worker.begin(arrival.release(), from: arrival.peer, at: arrival.listener)
    }

    /// Counts a client in. Closes connections that wait for their clients, if that makes room.
    /// - Parameter isNew: whether the client is not waiting yet.
    /// - Returns: the reason why there is no room; nil if the client is counted in.
    private func admit(_ address: IPAddress?, isNew: Bool) -> ClientCount.Reason? {
        guard var shortage = clients.enter(address, on: worker.loop.index) else { return nil }
        if isNew { note(shortage, of: address) }
        for _ in 0..<Self.displacements {
            switch worker.makeRoom(for: address, shortOf: shortage) {
            case .made: break
            case .underWay: return shortage
            case .none:
                if !isNew || waiting.count < room { worker.askOthersForRoom(for: address, shortOf: shortage) }
                return shortage
            }
            guard let next = clients.enter(address, on: worker.loop.index) else { return nil }
            shortage = next
        }
        return shortage
    }

    // MARK: - Clients that are not served

    private func refuse(_ arrival: PendingConnection, _ reason: ClientCount.Reason) {
        count(reason, of: arrival.address)
        guard arrival.listener.identity == nil else { return arrival.close() }
        if refused.count >= room { refused[0].close() }
        refused.append(arrival)
        arrival.refuse(reason, within: worker.policy.exchanges.timeouts.head)
    }

    private func count(_ reason: ClientCount.Reason, of address: IPAddress?) {
        worker.metrics.add(to: reason.counter)
        // A limit was reported before.
        if reason == .foreignAddress { note(reason, of: address) }
    }

    private func note(_ reason: ClientCount.Reason, of address: IPAddress?) {
        clients.shortages.note(reason, of: address, limits: clients.limits, at: worker.loop.now)
    }

    // MARK: - From an arrival

    /// It has waited for a step.
    func askAgain(for arrival: PendingConnection) {
        guard let shortage = admit(arrival.address, isNew: false) else {
            waiting.removeAll { $0 === arrival }
            return begin(arrival)
        }
        if worker.loop.now < arrival.since + Self.patience { return arrival.wait(Self.step) }
        waiting.removeAll { $0 === arrival }
        refuse(arrival, shortage)
    }

    /// Returns the response to a refused client, which has sent bytes.
    func answer(_ arrival: PendingConnection, _ reason: ClientCount.Reason) -> ByteBuffer {
        let refusal = reason.refusal(of: arrival.address, by: worker.policy.exchanges.rules)
        let record = ExchangeRecord(keeping: [])
        arrival.peer.note(in: record)
        record.facts.status = Int(refusal.status.rawValue)
        record.facts.error = refusal.error
        record.facts.details = refusal.sentence
        worker.close(record)
        let buffer = worker.loop.buffers.take()
        refusal.write(into: buffer, connection: "close", withBody: true)
        return buffer
    }

    func forget(_ arrival: PendingConnection) {
        waiting.removeAll { $0 === arrival }
        refused.removeAll { $0 === arrival }
        announced.removeAll { $0 === arrival }
    }

    /// A client's connection that waits for room, or is refused. It holds neither task nor buffer.
    final class PendingConnection: Channel.Observer {
        var address: IPAddress? { peer.address }

        private enum Phase {
            /// Waits for room. Becomes `.refused` or `.over`.
            case waiting
            /// Waits for a balancer's header. Becomes `.waiting`, `.refused` or `.over`.
            case announced
            /// Waits for bytes of the client to respond to. Becomes `.answered` or `.over`.
            case refused(ClientCount.Reason)
            /// Waits for the client's end; up to `rest` more bytes are read and dropped. Becomes `.over`.
            case answered(rest: Int)
            /// The connection is closed, or belongs to a session. Final.
            case over
        }

        private(set) var peer: ClientListener.Peer
        let listener: ClientListener
        /// The time of its arrival.
        let since: LoopInstant
        private let socket: Socket
        private let loop: EventLoop
        private unowned let arrivals: AdmissionQueue
        private var phase = Phase.waiting

        /// The limit of bytes that are read and dropped after a response, so that a client which is still sending can read
        /// it.
        private static let lingerBytes = 64 * 1024
        private static let lingerTime: Milliseconds = 1000

        init(
            _ socket: Socket, on loop: EventLoop, from peer: ClientListener.Peer, at listener: ClientListener,
            to arrivals: AdmissionQueue
        ) {
            self.socket = socket
            self.loop = loop
            self.peer = peer
            self.listener = listener
            self.arrivals = arrivals
            since = loop.now
        }

        func wait(_ time: Milliseconds) {
            socket.observer = self
            socket.clearTimeout()
            socket.setDeadline(after: time)
        }

        /// Waits for the header of a balancer.
        func awaitHeader(within limit: Milliseconds) {
            phase = .announced
            wait(limit)
            if socket.isReadable { readHeader() }
        }

        /// Reads the header and no byte after it: what follows may be the beginning of a handshake.
        private func readHeader() {
            guard socket.isOpen else { return close() }
            let buffer = loop.buffers.take()
            defer { loop.buffers.give(buffer) }
            guard case .moved = socket.tryPeek(into: buffer, limit: BalancerHeader.longest) else {
                // Nothing has come, or the balancer has left.
                return socket.isAtEnd() || socket.isBroken ? close() : ()
            }
            switch BalancerHeader(buffer.readable) {
            case .incomplete: if socket.hasPeerEnded { close() }
            case .malformed: close()
            case .complete(let length, let client):
                buffer.clear()
                guard case .moved(length) = socket.tryRead(into: buffer, limit: length) else { return close() }
                if let client { peer = ClientListener.Peer(address: client.unmapped) }
                phase = .waiting
                arrivals.noteHeader(of: self)
            }
        }

        /// Gives up the connection, and returns its socket.
        func release() -> Socket {
            phase = .over
            socket.observer = nil
            socket.setDeadline(after: nil)
            socket.clearTimeout()
            return socket
        }

        /// Refuses the client, once it has sent bytes: some clients treat an unexpected response as an error.
        func refuse(_ reason: ClientCount.Reason, within limit: Milliseconds) {
            phase = .refused(reason)
            wait(limit)
            if socket.isReadable { answer(reason) }
        }

        func close() {
            if case .over = phase { return }
            phase = .over
            socket.close()
            arrivals.forget(self)
        }

        func channelChanged(_ channel: Channel) {
            switch phase {
            case .waiting: if !channel.isOpen { arrivals.askAgain(for: self) }
            case .announced: if channel.isReadable { readHeader() } else if !channel.isOpen { close() }
            case .refused(let reason):
                if channel.isReadable {
                    answer(reason)
                } else if !channel.isOpen {
                    close()
                }
            case .answered(let rest):
                if channel.isReadable {
                    discard(rest)
                } else if !channel.isOpen {
                    close()
                }
            case .over: break
            }
        }

        private func answer(_ reason: ClientCount.Reason) {
            switch read(Self.lingerBytes) {
            case .moved: break
            case .wouldBlock: return
            case .endOfStream, .failed: return close()
            }
            let buffer = arrivals.answer(self, reason)
            defer { loop.buffers.give(buffer) }
            // The response is shorter than what any socket takes at once.
            guard case .moved = socket.tryWrite(from: buffer), buffer.isEmpty else { return close() }
            socket.shutdownWrite()
            wait(Self.lingerTime)
            discard(Self.lingerBytes)
        }

        private func discard(_ limit: Int) {
            var rest = limit
            while rest > 0 {
                switch read(rest) {
                case .moved(let count): rest -= count
                case .wouldBlock:
                    phase = .answered(rest: rest)
                    return
                case .endOfStream, .failed: return close()
                }
            }
            close()
        }

        private func read(_ limit: Int) -> Transfer {
            let buffer = loop.buffers.take()
            defer { loop.buffers.give(buffer) }
            return socket.tryRead(into: buffer, limit: limit)
        }
    }
}
