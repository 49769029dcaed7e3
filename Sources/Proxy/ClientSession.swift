import Bytes
import HTTP
import IO
import Telemetry
import Transport

/// One client's connection: requests are read from it one after the other, and each is answered before the next is
/// looked at, so that pipelined ones are answered in their order.
///
/// While requests come, one task serves them. A connection that falls silent is parked: its task ends, which frees all
/// that the deepest exchange had piled up, and the first byte of the next request starts another.
final class ClientSession: ChannelObserver {
    private enum Phase {
        /// A request is being read or carried out; becomes `.waiting`, or ends.
        case busy
        /// The task waits for a request; becomes `.busy` or `.parked`, or ends.
        case waiting
        /// There is no task; becomes `.busy` with an event, or ends.
        case parked
    }

    /// What a wait for the next request came to.
    private enum Next {
        case request
        case silence
        case end
    }

    let worker: Worker
    let stream: ByteStream
    let wakeup = Wakeup()
    let address: IPAddress
    private var phase = Phase.busy

    /// Milliseconds without a request after which the connection is parked.
    private static let patience = 100
    /// What is read and thrown away after an answer that ends the connection, so that a client that is still sending
    /// gets to read it.
    private static let lingerBytes = 256 * 1024
    private static let lingerMilliseconds = 2000

    init(takingOwnership descriptor: Int32, of worker: Worker) throws(IOError) {
        self.worker = worker
        stream = try ByteStream(takingOwnership: descriptor, on: worker.loop)
        stream.wakeup = wakeup
        // A peer that is gone already has no address; its first read says so.
        address = stream.peerAddress?.address.unmapped ?? IPAddress(v4: 0)
    }

    /// Nothing is under way that should be finished.
    var isIdle: Bool {
        switch phase {
        case .busy: false
        case .waiting, .parked: true
        }
    }

    /// Serves until either side ends the connection, or it falls silent.
    func serve() async {
        while true {
            switch await next() {
            case .request:
                phase = .busy
                guard await serveRequests() else { return end() }
            case .silence: return park()
            case .end: return end()
            }
        }
    }

    /// Ends an idle connection.
    func close() {
        let isParked = phase == .parked
        stream.close()
        if isParked { end() }
    }

    /// Writes all of `buffer` to the client.
    func write(_ buffer: ByteBuffer) async throws(ExchangeFailure) {
        if stream.writeAtOnce(buffer) { return }
        stream.setDeadline(after: worker.policy.timeouts.idle)
        do throws(IOError) { try await stream.write(from: buffer) } catch { throw .clientLost }
    }

    func dialer(for policy: Policy) -> Dialer {
        Dialer(resolver: worker.resolver, policy: policy, loop: worker.loop, wakeup: wakeup)
    }

    private func next() async -> Next {
        if worker.isDraining || stream.isClosed { return .end }
        if stream.isReadable { return .request }
        phase = .waiting
        stream.setDeadline(after: Self.patience)
        do throws(IOError) {
            try await stream.untilReadable()
            return .request
        } catch {
            if stream.isReadable { return .request }
            return error == .timedOut ? .silence : .end
        }
    }

    private func park() {
        phase = .parked
        stream.wakeup = nil
        stream.socket.observer = self
        stream.setDeadline(after: worker.policy.timeouts.idle)
    }

    func channelChanged(_ channel: Channel) {
        guard phase == .parked else { return }
        if channel.isReadable {
            phase = .busy
            stream.socket.observer = nil
            stream.wakeup = wakeup
            worker.start(self)
        } else if !channel.isOpen {
            end()
        }
    }

    private func end() {
        phase = .busy
        stream.close()
        worker.forget(self)
    }

    /// Serves what the client has sent, pipelined requests included.
    /// - Returns: whether the connection can carry another request.
    private func serveRequests() async -> Bool {
        let exchange = worker.takeExchange()
        exchange.record.setClient(address)
        var goesOn = true
        repeat {
            goesOn = await serve(exchange)
            exchange.reset()
        } while goesOn && !exchange.inbound.isEmpty
        if !goesOn { await linger(exchange.inbound) }
        worker.give(exchange)
        return goesOn
    }

    /// - Returns: whether the connection can carry another request.
    private func serve(_ exchange: Exchange) async -> Bool {
        exchange.startedAt = worker.loop.now
        do throws(ExchangeFailure) {
            if try !readHeadAtOnce(exchange) {
                guard try await readHead(exchange) else { return false }
            }
            let goesOn = try await carryOut(exchange)
            finish(exchange.record, since: exchange.startedAt)
            return goesOn
        } catch {
            let goesOn = await conclude(exchange, after: error)
            finish(exchange.record, since: exchange.startedAt)
            return goesOn
        }
    }

    /// Most heads come whole, in one piece or behind the request before. False: more is to be read.
    private func readHeadAtOnce(_ exchange: Exchange) throws(ExchangeFailure) -> Bool {
        if !exchange.inbound.isEmpty, try parseHead(exchange) { return true }
        guard case .moved = stream.tryRead(into: exchange.inbound) else { return false }
        return try parseHead(exchange)
    }

    /// Reads the rest of the request's head. False: the client has ended, with or without a part of one.
    private func readHead(_ exchange: Exchange) async throws(ExchangeFailure) -> Bool {
        let inbound = exchange.inbound
        if !inbound.isEmpty { stream.setDeadline(after: exchange.policy.timeouts.head) }
        while true {
            if inbound.writableCount == 0 { inbound.reserve(inbound.capacity) }
            do throws(IOError) {
                let isFirst = inbound.isEmpty
                guard try await stream.read(into: inbound) > 0 else { return false }
                if isFirst { stream.setDeadline(after: exchange.policy.timeouts.head) }
            } catch {
                guard error == .timedOut, !inbound.isEmpty else { return false }
                throw .refused(.lateHead)
            }
            if try parseHead(exchange) { return true }
        }
    }

    private func carryOut(_ exchange: Exchange) async throws(ExchangeFailure) -> Bool {
        let plan = RequestPlanning(session: self, exchange: exchange)
        try plan.admitClient()
        if let authentication = exchange.policy.clientAuthentication { try await authentication.check(exchange) }
        switch try plan.plan() {
        case .forward(let destination):
            var forwarding = Forwarding(session: self, exchange: exchange, destination: destination)
            return try await forwarding.run()
        case .tunnel(let destination):
            return try await TunnelOpening(session: self, exchange: exchange, destination: destination).open()
        case .answerOptions:
            return try await Answer(session: self, exchange: exchange).sendOptions()
        }
    }

    private func parseHead(_ exchange: Exchange) throws(ExchangeFailure) -> Bool {
        let inbound = exchange.inbound
        do throws(HTTPError) {
            guard case .complete(let length) = try exchange.request.parse(inbound.readable) else { return false }
            exchange.headBytes.append(inbound.readable.extracting(first: length))
            inbound.consume(length)
            return true
        } catch { throw .refused(Refusal(error)) }
    }

    private func conclude(_ exchange: Exchange, after failure: ExchangeFailure) async -> Bool {
        let record = exchange.record
        switch failure {
        case .clientLost:
            stream.abort()
            return false
        case .cutShort(let error, let sentence):
            record.error = error
            record.details = sentence
            stream.abort()
            return false
        case .upstreamFailed(let failure):
            return await conclude(exchange, after: .refused(Refusal(failure)))
        case .refused(let refusal):
            record.error = refusal.error
            record.details = refusal.sentence
            return await Answer(session: self, exchange: exchange).send(refusal)
        }
    }

    private func finish(_ record: ExchangeRecord, since start: UInt64) {
        record.milliseconds = Int(clamping: worker.loop.now &- start)
        worker.close(record)
    }

    /// Ends our side and reads what still comes for a moment: closing at once would reset the connection, and a reset
    /// may destroy the answer before it was read.
    private func linger(_ buffer: ByteBuffer) async {
        guard !stream.isClosed else { return }
        stream.shutdownWrite()
        stream.setDeadline(after: Self.lingerMilliseconds)
        var rest = Self.lingerBytes
        while rest > 0 {
            buffer.clear()
            guard let count = try? await stream.read(into: buffer), count > 0 else { return }
            rest -= count
        }
    }
}
