import Bytes
import Forwarding
import HTTP
import HTTP2
import IO
import Rules
import Telemetry
import Transport
import Upstream

/// A connection that speaks HTTP/2, and the sessions of its streams.
extension ClientSession {
    /// Continues with the streams of the connection, on which both sides have agreed. Their first bytes may be in `inbound`.
    func multiplex(after run: Forwarding) {
        do throws(ServerConnection.OutOfMemory) {
            let streams = try ClientStreams(of: self)
            let inbound = run.exchange.inbound
            streams.receive(inbound.readable)
            host.give(run)
            phase = .multiplexed(streams)
            stream.rest(telling: self)
            // The time for the handshake, or for the first head, is over.
            stream.setDeadline(after: nil)
            streams.advance()
        } catch {
            host.give(run)
            end()
        }
    }

    /// Ends a request that could not be read, or not be carried out. If the connection begins with the preface of HTTP/2, which
    /// says `PRI * HTTP/2.0` in the place of a request (RFC 9113 section 3.4), it continues with streams, or the client gets
    /// the reason why not.
    func conclude(unread run: Forwarding, after failure: ExchangeFailure) {
        let inbound = run.exchange.inbound
        guard isSilent, downstream.isProxy, stream.tls == nil, SpokenProtocol.told(by: inbound.readable) == .http2
        else {
            return conclude(run, after: failure)
        }
        guard acceptsPreface else { return conclude(run, after: .refused(.prefaceOnListener)) }
        // Such a login belongs to the connection.
        guard authentication?.methods.contains(.negotiate) != true else {
            return conclude(run, after: .refused(.prefaceBesideNegotiate))
        }
        run.reset()
        multiplex(after: run)
    }

    /// Serves the request on the stream.
    /// - Parameter defect: the reason why it is refused; nil to serve it.
    func begin(refusing defect: Defect?) {
        stream.channel.observer = self
        let run = lend()
        guard let defect else { return takeRequest(run) }
        run.exchange.times.start = downstream.loop.now
        conclude(run, after: .refused(Refusal(HTTPError(.client, defect))))
    }

    /// Lets the session serve another stream of its connection, as a client of HTTP/1.1 makes several requests.
    /// - Returns: false if it must end with its stream.
    func park() -> Bool {
        guard let carrier, case .multiplexed(let streams) = carrier.phase,
            let channel = stream.channel as? ClientStream, channel.isOpen, !channel.isBroken,
            callAlarm?.hasRung != true, !downstream.presence.hasLeft, !downstream.presence.isOver,
            downstream.tunnel === carrier.downstream.tunnel
        else { return false }
        phase = .idle
        callAlarm?.cancel()
        callAlarm = nil
        stream.rest(telling: self)
        stream.setDeadline(after: nil)
        channel.leave()
        streams.park(self)
        return true
    }

    /// Continues with the next stream.
    func carryNext(_ next: RequestStream) {
        guard let carrier, let channel = stream.channel as? ClientStream else { return }
        login = carrier.login
        channel.carryNext(next)
    }

    /// Takes note of a request on a stream. A call of gRPC may have a deadline, which no wait of the proxy outlasts.
    func noteStream(_ exchange: Exchange) {
        exchange.request.note(.http2)
        guard let channel = stream.channel as? ClientStream, channel.isCall, let timeout = exchange.callTimeout
        else { return }
        let alarm = Alarm(on: downstream.loop) { [unowned self] in endCall() }
        alarm.set(after: timeout)
        callAlarm = alarm
    }

    /// The client waits no longer for its call. If the response has not begun, the request ends as if the client had left,
    /// and the client gets the reason.
    private func endCall() {
        switch phase {
        case .exchanging(let run), .served(let run):
            let exchange = run.exchange
            guard exchange.record.facts.status == 0 else { return }
            downstream.presence.leave(awaitingVerdict: exchange.policy.timeouts.connect / 2, on: downstream.loop)
        default: return
        }
    }

    /// Whether the request has ended at the deadline of its call, and the client can be told.
    func isLate(_ exchange: Exchange) -> Bool {
        callAlarm?.hasRung == true && exchange.record.facts.status == 0 && !stream.isClosed && !stream.channel.isBroken
    }

    /// Lets the other streams of the connection use what the client has proved.
    func shareLogin() {
        guard let carrier, downstream.isMultiplexed, let accepted = login.accepted else { return }
        carrier.login.accepted = accepted
    }

    /// Has the client ask again by HTTP/1.1, on a connection that is its request's alone.
    func refuseStream(of run: Forwarding) {
        let exchange = run.exchange
        exchange.record.facts.error = .httpRequestDenied
        exchange.record.facts.details =
            "the client logs in on its connection (NTLM, Negotiate), which streams of HTTP/2 share: it must ask by HTTP/1.1"
        exchange.upstream.reset()
        (stream.channel as? ClientStream)?.refuse(with: .http11Required)
        finish(run, goesOn: false)
    }

    /// The reset that ended the server's stream, if the client has a stream, too, on which it can be passed on.
    func passedReset(of exchange: Exchange) -> StreamReset? {
        downstream.isMultiplexed ? exchange.upstream.streamReset : nil
    }

    /// Resets the client's stream with CANCEL if the server has done so, and else with an error of the same class.
    func refuse(by reset: StreamReset) {
        guard let channel = stream.channel as? ClientStream else { return }
        channel.refuse(with: StreamError(passing: reset.code, toCall: channel.isCall))
    }

    /// Takes no more requests, and ends the connection after those in progress.
    func drain() {
        downstream.logins.closeAll()
        if case .multiplexed(let streams) = phase { streams.drain() }
    }

    /// The stream of the connection that has waited longest for its client; nil if none waits for it.
    var longestStream: ClientStream? {
        if case .multiplexed(let streams) = phase { streams.longest } else { nil }
    }

    /// Closes the connections to servers that the retirement names, of this client.
    func retire(_ retirement: Retirement) {
        downstream.retire(retirement)
        if case .multiplexed(let streams) = phase { streams.retire(retirement) }
    }
}

extension Refusal {
    /// The answer to a call whose client waits no longer.
    static var lateCall: Refusal {
        Refusal(.gatewayTimeout, .httpResponseTimeout, "the call was not answered within its grpc-timeout")
    }

    /// The answer to the preface of HTTP/2 on a listener without TLS and without `h2c`.
    fileprivate static var prefaceOnListener: Refusal {
        refusedPreface(
            "the client began with HTTP/2 without TLS, and this port of the proxy takes only HTTP/1.1: add 'h2c' to its 'listen', or "
                + "let the client use HTTP/1.1")
    }

    fileprivate static var prefaceBesideNegotiate: Refusal {
        refusedPreface(
            "the client began with HTTP/2, where clients may log in by Negotiate ('authenticate'), which is impossible on a stream: "
                + "let the client use HTTP/1.1")
    }

    private static func refusedPreface(_ sentence: String) -> Refusal {
        Refusal(.httpVersionNotSupported, .httpRequestError, sentence, keepsConnection: false)
    }
}
