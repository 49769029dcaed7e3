import Bytes
import Crypto
import Forwarding
import HTTP
import IO
import Rules
import Telemetry
import Transport
import Upstream

/// The beginning of a connection, before its first request.
extension ClientSession {
    /// Waits for the first request, after a handshake if the listener uses TLS.
    func begin(at listener: ClientListener) {
        if let user = listener.user { login.recognise(user) }
        speaksSOCKS = listener.protocols.contains(.socks)
        acceptsPreface = listener.protocols.contains(.http2)
        if listener.isTransparent {
            awaitRedirected()
        } else if let identity = listener.identity {
            phase = .arriving(identity, hello: nil)
            stream.channel.observer = self
            stream.setDeadline(after: host.policy.exchanges.timeouts.head)
        } else if speaksSOCKS {
            awaitGreeting(newGreeting)
        } else {
            awaitRequest()
        }
        // A connection that has waited for admission may already have data; no new event will come.
        if stream.channel.isReadable { channelChanged(stream.channel) }
    }

    // MARK: - TLS

    /// The initial size of a buffer for a handshake; most begin with less.
    private static let helloCapacity = 512

    /// Reads the beginning of a handshake. A client that sends its hello slowly costs no more than the bytes it has
    /// sent, as with a request's head.
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
        let run = lend()
        run.exchange.times.start = downstream.loop.now
        run.exchange.inbound.append(hello.readable)
        serve(run, from: .arriving(identity))
    }

    // MARK: - Redirected connections

    /// The limit of bytes that tell whether a client speaks HTTP.
    private static let tellingBytes = 64

    /// Waits for the first bytes of a client that has connected to a server, and was redirected here.
    private func awaitRedirected() {
        guard let target = stream.socket?.originalAddress, let peer = stream.peerAddress else { return end() }
        let isLoop =
            Redirection.isOwn(peer)
            || downstream.shared.ownListeners.kind(at: target.address, port: target.port) == .proxy
        if isLoop { return refuseLoop(to: target) }
        phase = .redirected(target)
        stream.rest(telling: self)
        // A server that speaks first is called after a while, if the client may have a tunnel there.
        stream.setDeadline(after: maySpeakFirst(target) ? TunnelOpening.patience : host.policy.exchanges.timeouts.head)
    }

    private func maySpeakFirst(_ target: SocketAddress) -> Bool {
        host.policy.exchanges.rules.egress.permitsConnect(port: target.port)
    }

    private func refuseLoop(to target: SocketAddress) {
        let run = lend()
        run.exchange.times.start = downstream.loop.now
        run.exchange.record.facts.isRedirected = true
        conclude(
            run,
            after: .handshakeFailed(
                .proxyLoopDetected,
                "a connection of this proxy, or to it, was redirected back to it (\(target)): exempt the proxy from the redirect, "
                    + "see 'attache help transparent'"))
    }

    /// Handles the first bytes of the client, or the end of the time for them.
    func meet(_ target: SocketAddress) {
        guard let socket = stream.socket else { return end() }
        guard socket.isOpen else {
            guard !socket.isClosed, maySpeakFirst(target) else { return end() }
            socket.clearTimeout()
            return openTunnel(to: target)
        }
        guard socket.isReadable else { return }
        let buffer = downstream.loop.buffers.take()
        defer { downstream.loop.buffers.give(buffer) }
        switch socket.tryPeek(into: buffer, limit: Self.tellingBytes) {
        case .moved: break
        case .wouldBlock: return
        case .endOfStream, .failed: return end()
        }
        switch SpokenProtocol.told(by: buffer.readable) {
        case .http: takeRequests(for: target)
        case .tls, .http2, .other: openTunnel(to: target)
        case nil:
            if socket.hasPeerEnded { return openTunnel(to: target) }
            stream.setDeadline(after: host.policy.exchanges.timeouts.head)
        }
    }

    /// Takes requests for the server at that address. The first may name it.
    private func takeRequests(for target: SocketAddress) {
        downstream.tunnel = InterceptedTunnel(
            scheme: .http, host: Array("\(target.address)".utf8), port: target.port,
            naming: .open(passesUnproved: true))
        login.enterTunnel(as: login.user, by: host.policy.clientAuthentication)
        takeRequest(lend())
    }

    /// Carries out the CONNECT that the connection stands for.
    private func openTunnel(to target: SocketAddress) {
        let run = lend()
        run.exchange.record.facts.isRedirected = true
        run.exchange.inbound.append("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\r\n")
        takeRequest(run)
    }

    // MARK: - SOCKS

    /// The greeting of this client, of which nothing has come.
    var newGreeting: SOCKSGreeting {
        let authentication = login.user == nil ? host.policy.clientAuthentication : nil
        return SOCKSGreeting(wanting: authentication.map { $0.takesPasswords ? .password : .other } ?? .none)
    }

    /// Waits for the client's first bytes, which tell whether it speaks SOCKS or HTTP.
    private func awaitGreeting(_ greeting: SOCKSGreeting) {
        phase = .greeting(greeting)
        stream.rest(telling: self)
        stream.setDeadline(after: greeting.rest(of: host.policy.exchanges.timeouts.head, at: downstream.loop.now))
    }

    /// Continues with the greeting after work of a task.
    func resume(_ greeting: SOCKSGreeting, after run: Forwarding) {
        giveBack(run)
        if stream.isClosed || downstream.upstreams.isDraining { return end() }
        awaitGreeting(greeting)
        advance(greeting)
    }

    /// Handles what the client has sent.
    func advance(_ greeting: SOCKSGreeting) {
        switch greeting.advance(on: stream) {
        case .awaitsBytes: break
        case .ended: end()
        case .speaksHTTP: takeRequest(run(with: greeting))
        case .offersPassword(let user, let password):
            serve(lend(), from: .login(greeting, user: user, password: password))
        case .asks(let target):
            let run = run(with: greeting, asking: target)
            run.exchange.record.facts.socks = target.version
            takeRequest(run)
        case .refused(let sentence):
            let run = lend()
            run.exchange.times.start = downstream.loop.now
            run.exchange.record.facts.socks = greeting.version
            conclude(run, after: .handshakeFailed(.httpRequestError, sentence))
        }
    }

    /// Lends an exchange with the bytes that the greeting has not consumed, behind the CONNECT that it stands for.
    private func run(with greeting: SOCKSGreeting, asking target: SOCKSNegotiation.Target? = nil) -> Forwarding {
        let run = lend()
        let (inbound, received) = (run.exchange.inbound, greeting.received)
        if let target {
            inbound.append("CONNECT \(target.authority) HTTP/1.1\r\nHost: \(target.authority)\r\n\r\n")
        }
        inbound.append(received.readable)
        return run
    }
}
