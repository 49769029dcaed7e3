import Authentication
import Bytes
import Forwarding
import HTTP
import IO
import Rules
import Telemetry
import Transport
import Upstream

/// The way of a request from its first byte, or that of a handshake, to the decision where it goes.
extension ClientSession {
    enum Plan {
        /// It goes to the exchange's destination.
        case forward
        case tunnel(Destination)
        /// It is for the proxy itself.
        case answerOptions
    }

    // MARK: - Reading

    func takeRequest(_ exchange: Exchange) {
        exchange.times.start = requester.loop.nanoseconds
        do throws(ExchangeFailure) {
            switch try RequestReading(session: self, exchange: exchange).read() {
            case .complete: try carryOut(exchange)
            case .incomplete: awaitRest(of: exchange)
            case .nothing:
                host.give(exchange)
                awaitRequest()
            case .ended:
                giveBack(exchange)
                end()
            }
        } catch { fail(exchange, error) }
    }

    /// A part of a head may be there, and the next to borrow the exchange is another client.
    func giveBack(_ exchange: Exchange) {
        exchange.reset()
        host.give(exchange)
    }

    /// Most handshakes begin with less.
    private static let helloCapacity = 512

    /// A client that sends its hello slowly has no more than the bytes that it has sent, as with a request's head.
    func receive(_ earlier: ByteBuffer?, for identity: ListenerIdentity) {
        let hello = earlier ?? ByteBuffer(capacity: Self.helloCapacity)
        phase = .arriving(identity, hello: hello)
        while !SpokenProtocol.hasFirstRecord(hello.readable) {
            if hello.writableCount == 0 { hello.reserve(1) }
            switch stream.tryRead(into: hello) {
            case .moved: break
            case .wouldBlock: return
            case .endOfStream, .failed: return end()
            }
        }
        let exchange = lend()
        exchange.times.start = requester.loop.nanoseconds
        exchange.inbound.append(hello.readable)
        serve(exchange, from: .arriving(identity))
    }

    private func awaitRest(of exchange: Exchange) {
        let inbound = exchange.inbound
        let head = PartialHead(
            inbound.readable, startedAt: exchange.times.start, limits: exchange.policy.limits.request)
        giveBack(exchange)
        phase = .receiving(head)
        stream.rest(telling: self)
        stream.setDeadline(after: host.policy.exchanges.timeouts.head)
        if stream.isReadable { receive(head) }
    }

    func receive(_ head: PartialHead) {
        while true {
            switch head.read(from: stream) {
            case .moved: break
            case .wouldBlock: return
            case .endOfStream, .failed: return end()
            }
            guard head.isDue else { continue }
            let exchange = exchange(for: head)
            do throws(ExchangeFailure) {
                if try RequestReading(session: self, exchange: exchange).parse() { return try carryOut(exchange) }
            } catch { return fail(exchange, error) }
            giveBack(exchange)
            head.noteParsing()
        }
    }

    /// The rest has not come in time.
    func refuse(_ head: PartialHead) {
        let exchange = exchange(for: head)
        _ = OwnResponse(session: self, exchange: exchange).write(.lateHead)
        guard stream.writeAtOnce(exchange.outbound) else {
            return serve(exchange, from: .answered(keepsConnection: false))
        }
        finish(exchange, goesOn: false, lingers: true)
    }

    private func exchange(for head: PartialHead) -> Exchange {
        let (exchange, bytes) = (lend(), head.bytes)
        exchange.times.start = head.startedAt
        exchange.inbound.append(bytes.readable)
        return exchange
    }

    // MARK: - Deciding

    /// Takes note of the request, and sends clients away that are not served.
    func admit(_ exchange: Exchange) throws(ExchangeFailure) {
        exchange.body.begin(exchange.request.framing, limits: exchange.policy.limits.request)
        record(exchange)
        // It was asked when the client came, of the rules of then.
        guard exchange.policy.rules.clients.permits(requester.address) else {
            throw .refused(.client(at: requester.address, by: exchange.policy.rules.clients))
        }
        guard isStillAdmitted() else {
            var refusal = Refusal(
                .forbidden, .httpRequestDenied,
                "the user who opened this tunnel may no longer use the proxy: open another")
            refusal.keepsConnection = false
            throw .refused(refusal)
        }
    }

    func plan(_ exchange: Exchange) throws(ExchangeFailure) -> Plan {
        let request = exchange.request
        let head = exchange.headBytes
        do throws(HTTPError) { try exchange.body.check(exchange.inbound) } catch { throw .refused(Refusal(error)) }
        if Via.ours.occurs(in: request.fields, of: head.readable) {
            throw .refused(
                Refusal(.badGateway, .proxyLoopDetected, "the request came back to this proxy: there is a loop"))
        }
        if let tunnel = requester.tunnel {
            try checkTarget(of: exchange, in: tunnel)
        } else {
            if request.target.form == .authority { return .tunnel(try destination(of: exchange)) }
            if request.target.form == .asterisk, request.target.authority == nil { return .answerOptions }
            try checkTarget(of: exchange)
        }
        if request.maxForwards == 0 {
            if request.method == .options { return .answerOptions }
            throw .refused(
                Refusal(.methodNotAllowed, .httpRequestDenied, "this proxy does not answer TRACE requests itself"))
        }
        exchange.destination = try destination(of: exchange)
        return .forward
    }

    // MARK: - Whom it is for

    private func checkTarget(of exchange: Exchange) throws(ExchangeFailure) {
        let target = exchange.request.target
        switch target.scheme {
        case .http, .https: return
        case nil:
            throw .refused(
                Refusal(
                    .badRequest, .httpRequestError,
                    "this is a forward proxy: set http_proxy in the client, so that it sends complete URLs"))
        case .ftp:
            guard [.get, .head, .put].contains(exchange.request.method) else {
                var refusal = Refusal(
                    .methodNotAllowed, .httpRequestError, "for ftp URLs only GET, HEAD and PUT are supported")
                refusal.fields = [(name: "Allow", value: "GET, HEAD, PUT")]
                throw .refused(refusal)
            }
        case .other:
            throw .refused(Refusal(.notImplemented, .httpRequestError, "only http, https and ftp URLs are forwarded"))
        }
    }

    /// A request in a tunnel is for the server that the tunnel was opened to, or for nobody: on its way there it may
    /// get a credential, which is for that server alone.
    private func checkTarget(
        of exchange: Exchange, in tunnel: InterceptedTunnel
    ) throws(ExchangeFailure) {
        let request = exchange.request
        let head = exchange.headBytes
        if let misdirection = tunnel.misdirection { throw .refused(misdirection) }
        if request.target.form == .authority {
            throw .refused(
                Refusal(.notImplemented, .httpRequestError, "this proxy opens no tunnel inside a tunnel"))
        }
        // Some tools leave the port out of Host; a URL without one has that of its scheme.
        let isHost = request.target.authority == nil
        let usualPort = isHost ? tunnel.port : tunnel.scheme.defaultPort
        let isForTunnel =
            (request.target.scheme ?? tunnel.scheme) == tunnel.scheme
            && request.authority.map { tunnel.leads(to: $0, in: head.readable, usualPort: usualPort) } ?? true
        guard isForTunnel else {
            let place = String(decoding: tunnel.bracketedHost, as: UTF8.self)
            throw .refused(
                Refusal(
                    .misdirectedRequest, .httpRequestError,
                    "the tunnel was opened to \(place) port \(tunnel.port), but the request in it is for another server"
                ))
        }
        if isHost, request.authority?.explicitPort == nil, tunnel.port != tunnel.scheme.defaultPort {
            request.assume(port: tunnel.port)
        }
        if let failure = tunnel.takeFailure() { throw .refused(failure) }
    }

    /// Whom the request is for, by the rules that apply to it.
    private func destination(of exchange: Exchange) throws(ExchangeFailure) -> Destination {
        let destination = try namedDestination(of: exchange)
        if let rule = destination.route.rule { exchange.record.route = rule.name }
        if destination.isTraced { trace(exchange, to: destination) }
        if destination.route.action == .deny {
            let origin = destination.origin
            throw .refused(
                Refusal(
                    .forbidden, .httpRequestDenied,
                    "the rules of this proxy do not allow requests to \(origin.hostText) port \(origin.port)"))
        }
        if let address = destination.relayedAddress { try check(address, of: destination, asked: exchange) }
        return destination
    }

    /// Where a name leads that a parent looks up, nobody here knows; an address is judged all the same.
    private func check(
        _ address: IPAddress, of destination: Destination, asked exchange: Exchange
    ) throws(ExchangeFailure) {
        let (origin, egress) = (destination.origin, exchange.policy.rules.egress)
        if let kind = requester.shared.ownListeners.kind(at: address, port: origin.port),
            kind == .proxy || !exchange.asksForPractice
        {
            throw .refused(Refusal(kind, host: origin.hostText, port: origin.port))
        }
        if destination.isProhibited {
            throw .refused(.prohibited([address], of: origin.hostText, port: origin.port, by: egress))
        }
    }

    private func namedDestination(of exchange: Exchange) throws(ExchangeFailure) -> Destination {
        if let tunnel = requester.tunnel {
            let host = tunnel.host
            return requester.destination(tunnel.scheme, host: host.span, port: tunnel.port, by: exchange.policy)
        }
        guard let authority = exchange.request.authority else {
            throw .refused(Refusal(HTTPError(.client, .missingHost)))
        }
        let head = exchange.headBytes
        // A tunnel is made for https, whatever is said in it.
        let scheme = exchange.request.target.scheme ?? .https
        return requester.destination(
            scheme, host: head.readable.extracting(authority.host), port: port(of: authority, in: exchange),
            by: exchange.policy)
    }

    private func port(of authority: Authority?, in exchange: Exchange) -> UInt16 {
        authority?.explicitPort ?? exchange.request.target.scheme?.defaultPort ?? 80
    }

    // MARK: - For the record

    /// Notes all that the log and the metrics will know of the request.
    private func record(_ exchange: Exchange) {
        let request = exchange.request
        exchange.record.minorVersion = request.version == .http11 ? 1 : 0
        if let user = user { exchange.record.user = user }
        guard exchange.record.parts.contains(.requestLine) else { return }
        if let tunnel = requester.tunnel { return record(exchange, in: tunnel) }
        let head = exchange.headBytes
        let authority = request.authority
        let form: ExchangeRecord.TargetForm =
            switch (request.target.form, request.target.scheme) {
            case (.authority, _): .authority
            case (_, .https): .https
            case (_, .ftp): .ftp
            case (_, nil): .path
            default: .http
            }
        let isPath = form == .path
        exchange.record.setTarget(
            method: head.readable.extracting(request.methodName), form: form,
            host: head.readable.extracting(isPath ? 0..<0 : authority.map(\.bracketedHost) ?? 0..<0),
            port: Int(port(of: authority, in: exchange)),
            path: head.readable.extracting(isPath ? request.target.text : request.target.path))
        recordAgent(of: exchange)
    }

    private func recordAgent(of exchange: Exchange) {
        guard exchange.record.parts.contains(.agent) else { return }
        let (head, fields) = (exchange.headBytes, exchange.request.fields)
        var index = fields.firstIndex(of: .referer)
        while let line = index {
            exchange.record.addReferer(head.readable.extracting(fields[line].value))
            index = fields.index(of: .referer, after: line)
        }
        index = fields.firstIndex(of: .userAgent)
        while let line = index {
            exchange.record.addAgent(head.readable.extracting(fields[line].value))
            index = fields.index(of: .userAgent, after: line)
        }
    }

    private func record(_ exchange: Exchange, in tunnel: InterceptedTunnel) {
        let request = exchange.request
        let (head, host) = (exchange.headBytes, tunnel.bracketedHost)
        exchange.record.setTarget(
            method: head.readable.extracting(request.methodName), form: tunnel.scheme == .https ? .https : .http,
            host: host.span, port: Int(tunnel.port), path: head.readable.extracting(request.target.path))
        recordAgent(of: exchange)
    }
}

/// Reads a request's head from the client, without waiting.
private struct RequestReading {
    enum Progress {
        case complete
        case incomplete
        /// Not a byte of a request is there.
        case nothing
        /// The client has ended, with or without a part of a request.
        case ended
    }

    let session: ClientSession
    let exchange: Exchange

    /// Most heads come whole, in one piece or behind the request before.
    func read() throws(ExchangeFailure) -> Progress {
        let inbound = exchange.inbound
        if !inbound.isEmpty {
            if try parse() { return .complete }
            // Behind many requests the last one's beginning may fill the buffer to its end.
            if inbound.writableCount == 0 { inbound.reserve(1) }
        }
        switch session.stream.tryRead(into: inbound) {
        case .moved: return try parse() ? .complete : .incomplete
        case .wouldBlock: return exchange.inbound.isEmpty ? .nothing : .incomplete
        case .endOfStream, .failed: return .ended
        }
    }

    /// Whether the head is whole; then it has moved to `headBytes`.
    func parse() throws(ExchangeFailure) -> Bool {
        let inbound = exchange.inbound
        do throws(HTTPError) {
            guard case .complete(let length) = try exchange.request.parse(inbound) else { return false }
            exchange.headBytes.append(inbound.readable.extracting(first: length))
            inbound.consume(length)
            return true
        } catch { throw .refused(Refusal(error)) }
    }
}
