import Authentication
import Bytes
import Challenges
import HTTP
import IO
import Telemetry
import Transport
import Upstream

/// Has a parent open a tunnel by CONNECT (RFC 9110 section 9.3.6), through as many challenges as it takes. What the parent
/// answers is never the origin's: the client does not get it.
struct TunnelRequest {
    let connector: ParentConnector
    let origin: UpstreamServer

    private var requester: Requester { connector.requester }
    private var exchange: Exchange { connector.exchange }
    private var parent: Parent { connector.parent }
    private var policy: Policy { exchange.policy }

    /// How often a connection that a parent gave up between two requests is made anew.
    private static let redials = 3

    /// - Throws: the refusal that the client is to be told.
    func open(resuming: Bool) async throws(Refusal) -> ParentConnector.Tunnel {
        let loop = requester.loop
        let upstream = UpstreamConnection(limits: policy.limits.response, on: loop)
        defer {
            upstream.reset()
            loop.buffers.give(upstream.inbound)
        }
        let target = origin.connectTarget
        var challenges: ChallengeLoop?
        if parent.mayBeAnswered(by: policy, in: requester.shared) {
            let connection = ChallengedConnection(upstream, at: parent.origin, for: requester, in: exchange)
            challenges = ChallengeLoop(
                ChallengeContext(
                    by: AnswerSource(of: parent.challenger, for: exchange, of: requester), on: connection,
                    for: exchange,
                    target: target, as: .tunnel))
            await challenges?.prepared()
        }
        var redials = Self.redials
        while true {
            if upstream.stream == nil {
                let connection = try await exchange.credentials.beginIdentities().connect(for: requester) {
                    () async throws(Refusal) in
                    try await connector.connect(under: connector.tunnelTerms, resuming: resuming)
                }
                upstream.attach(connection, isReused: false)
            }
            await challenges?.prepareLogin()
            do throws(UpstreamConnection.Failure) {
                try await ask(upstream, for: target, challenges)
            } catch {
                let identities = exchange.credentials.beginIdentities()
                let refusedIdentity = upstream.identityRefusal(after: error, in: identities, at: target)
                if try await identities.follow(for: requester) {
                    upstream.reset()
                    continue
                }
                if refusedIdentity != nil { requester.noteRefusal(on: upstream.peerSecurity) }
                guard case .died = error, upstream.isReused, redials > 0 else {
                    // Nothing has happened yet that another parent would repeat. This one may have nothing against
                    // other origins.
                    var refusal = refusedIdentity?.of(parent) ?? Refusal(error, of: parent.origin.title)
                    if case .invalid = error { refusal = refusal.of(parent) }
                    refusal.mayGoAnotherWay = true
                    throw refusal
                }
                redials -= 1
                upstream.reset()
                continue
            }
            if let security = upstream.peerSecurity {
                let isGood = upstream.head.status.rawValue < 400
                requester.noteIdentity(on: security, isGood: isGood, at: target)
            }
            if let tunnel = try await judge(upstream, challenges) { return tunnel }
        }
    }

    private func ask(
        _ upstream: UpstreamConnection, for target: ByteBuffer, _ challenges: ChallengeLoop?
    ) async throws(UpstreamConnection.Failure) {
        guard let stream = upstream.stream else { throw .died }
        let (out, value) = (exchange.outbound, exchange.texts.fieldValue)
        out.clear()
        value.clear()
        let method = Array("CONNECT".utf8)
        let writer = HeadWriter(method: .connect, target: target.readable, host: target.readable.text, into: out)
        // Proxies that are each other's parents open no tunnels in a circle.
        let head = exchange.headBytes
        writer.via(.ours, behind: exchange.request.fields, of: head.readable, received: exchange.request.version)
        if challenges?.authorize(method: method.span, target: target.readable, bodyDigest: nil, into: value) == true {
            writer.field("Proxy-Authorization", value.readable)
            exchange.record.trace?.answersParent(by: exchange.record.parentScheme)
        }
        if let trace = exchange.record.trace {
            value.clear()
            trace.beginLeg("CONNECT", for: exchange.record).append(to: value)
            writer.field("traceparent", value.readable)
        }
        writer.end()
        stream.setDeadline(after: policy.timeouts.response)
        do throws(IOError) { try await stream.write(from: out) } catch {
            // Whatever it said before it closed is still to be read.
            if error == .timedOut { throw .timedOut }
        }
        out.clear()
        // Interim responses give nobody more time.
        let loop = requester.loop
        let end = loop.now &+ UInt64(clamping: policy.timeouts.response)
        repeat {
            upstream.forgetHead()
            guard loop.now < end else { throw .timedOut }
            try await upstream.receiveHead(answering: .connect, within: Int(clamping: end &- loop.now))
        } while upstream.head.status.isInterim
    }

    /// - Returns: nil when the parent is to be asked again.
    private func judge(
        _ upstream: UpstreamConnection, _ challenges: ChallengeLoop?
    ) async throws(Refusal) -> ParentConnector.Tunnel? {
        let status = upstream.head.status
        defer { exchange.record.trace?.endLeg(status: Int(status.rawValue)) }
        // What answers a CONNECT is the parent: a `401` is its own.
        let isChallenge = status == .proxyAuthenticationRequired || status == .unauthorized
        let wants = isChallenge ? upstream.challenges(in: ChallengeFields.proxy) : []
        switch ResponseVerdict(await challenges?.judged() ?? .pass(note: nil)) {
        case .cancel(let refusal):
            if !wants.isEmpty { takeNote(of: upstream, challenges, refusal.sentence) }
            throw refusal
        case .again:
            guard upstream.head.keepAlive else {
                upstream.reset()
                return nil
            }
            await upstream.discardBody(
                upTo: Forwarding.discardLimit, limits: policy.limits.response, within: Forwarding.discardMilliseconds)
            return nil
        case .pass(let note):
            if isChallenge {
                takeNote(of: upstream, challenges, note)
                throw .unanswered(by: parent, challenges: wants, note: note ?? challenges?.rejection, status)
            }
            guard status.isSuccessful else { throw .tunnelRefused(by: parent, to: origin, status: status) }
        }
        upstream.consumeHead()
        let inbound = upstream.inbound
        var early: ByteBuffer?
        if !inbound.isEmpty {
            let copy = ByteBuffer(capacity: inbound.count)
            copy.append(inbound.readable)
            early = copy
        }
        guard let connection = upstream.detach() else { throw Refusal(.died, of: parent.origin.title) }
        return ParentConnector.Tunnel(connection: connection, early: early)
    }

    private func takeNote(of upstream: UpstreamConnection, _ challenges: ChallengeLoop?, _ note: String?) {
        parent.refusedLogin()
        UnansweredNote(requester: requester, exchange: exchange, upstream: upstream)
            .take(of: parent.challenger, challenges, note, .cancelled)
    }
}
