import Authentication
import Bytes
import HTTP
import IO
import Rules
import Telemetry
import Transport

/// Sends one request to its origin and the response back, through as many challenges as it takes.
struct Forwarding: ~Copyable {
    private var sending: RequestSending
    private let destination: Destination
    private var session: ClientSession { sending.session }
    private var exchange: Exchange { sending.exchange }
    private var policy: Policy { exchange.policy }

    /// How much of a challenge's body is read so that its connection can be kept, and for how long.
    private static let discardLimit = 256 * 1024
    private static let discardMilliseconds = 5000

    init(session: ClientSession, exchange: Exchange, destination: Destination) {
        sending = RequestSending(session: session, exchange: exchange, upgrade: destination.upgrade)
        self.destination = destination
    }

    /// Sends a request that has no body on a kept connection, if that takes no waiting, not even for what answers its
    /// challenges. False: nothing was done.
    mutating func sendAtOnce() -> Bool {
        guard exchange.body.isEmpty, exchange.request.upgrade == nil else { return false }
        noteTarget()
        if mayAnswer {
            do throws(Refusal) { try beginSigning() } catch { return false }
        }
        if mayAnswer, exchange.signing == nil {
            var challenges = ChallengeLoop(session: session, exchange: exchange, origin: destination.origin)
            guard challenges.prepareAtOnce(), challenges.bodyDigest == nil else { return false }
            sending.prepareForChallenge(isAnswered: true)
            exchange.challenges = consume challenges
        }
        // Of a login, only what has come to its end needs no waiting.
        guard takeKept(true), exchange.upstream.login?.context?.isEstablished ?? true else {
            exchange.challenges = nil
            return false
        }
        claimOwnLogin()
        exchange.upstream.stream?.wakeup = nil
        sending.sendAtOnce()
        return true
    }

    /// - Parameter isSent: the request went out by `sendAtOnce`.
    /// - Returns: whether the client's connection can carry another request.
    mutating func run(isSent: Bool) async throws(ExchangeFailure) -> Bool {
        var isSent = isSent
        if !isSent {
            noteTarget()
            if mayAnswer {
                do throws(Refusal) { try beginSigning() } catch { throw .refused(error) }
                if exchange.signing == nil { await beginChallenges() }
            }
        } else if exchange.challenges != nil {
            // Should it go out again, then as it went out at first.
            sending.prepareForChallenge(isAnswered: true)
        }
        while true {
            try await send(isSent: isSent)
            isSent = false
            guard let verdict = await exchange.challenges?.judge() else { return try await relay(note: nil) }
            switch verdict {
            case .pass(let note): return try await relay(note: note)
            case .cancel(let refusal): throw .refused(refusal)
            case .again:
                guard exchange.body.canBeSent else { return try await relay(note: Self.bodyTooLarge) }
                await disposeOfResponse()
            }
        }
    }

    private func noteTarget() {
        let head = exchange.headBytes
        exchange.target.clear()
        exchange.request.target.appendOriginForm(head.readable, to: exchange.target)
    }

    private static let bodyTooLarge =
        "the challenge could be answered, but the request body is larger than this proxy keeps for sending it again "
        + "(limits replay-memory and replay-disk)"

    // MARK: - Challenges

    /// Whether a challenge of this origin is ours to answer: a rule speaks of it, or the URL or the storage has a
    /// credential, and the client brings no `Authorization` of its own that is to be kept. A TRACE response would show the credential.
    private var mayAnswer: Bool {
        let request = exchange.request
        let origin = destination.origin
        guard
            origin.mayAnswer(by: policy.rules) || request.target.userinfo != nil
                || origin.isKnown(to: session.worker.shared.storedOrigins)
        else { return false }
        guard request.method != .trace else { return false }
        guard request.fields.present.contains(.authorization) else { return true }
        let host = origin.host
        return policy.rules.authorization(
            host: host.span, port: origin.port, protocol: ChallengeProtocol(origin.authority.protocol),
            isSecure: origin.isSecure,
            client: ClientIdentity(address: session.address, user: exchange.record.user)) == .replace
    }

    private mutating func beginSigning() throws(Refusal) {
        exchange.signing = try RequestSigning(
            exchange, to: destination.origin,
            from: ClientIdentity(address: session.address, user: exchange.record.user), session.worker.shared)
        if exchange.signing != nil { sending.prepareForSignature() }
    }

    private mutating func beginChallenges() async {
        exchange.challenges = ChallengeLoop(session: session, exchange: exchange, origin: destination.origin)
        await exchange.challenges?.prepare()
        sending.prepareForChallenge(isAnswered: exchange.challenges?.isPreempted == true)
    }

    /// Frees the connection of the challenge's body, or gives the connection up.
    private func disposeOfResponse() async {
        let upstream = exchange.upstream
        let isSent = exchange.challenges?.omitsBody == true || exchange.body.isSent
        guard isSent, upstream.head.keepAlive else { return upstream.reset() }
        await upstream.discardBody(
            upTo: Self.discardLimit, limits: policy.limits.response, within: Self.discardMilliseconds)
    }

    // MARK: - One way there

    /// Sends the request and reads the response's head; on a new connection if the kept one turns out to be dead.
    private mutating func send(isSent: Bool) async throws(ExchangeFailure) {
        var mayReuse = true
        var isSent = isSent
        while true {
            // What was sent is answered where it went, whoever the connection belongs to.
            if !isSent, !takeKept(mayReuse) { try await connect() }
            claimOwnLogin()
            if destination.origin.maySeeIdentity(by: policy.rules) { sending.prepareForIdentity() }
            do throws(ExchangeFailure) {
                return isSent ? try await sending.receive() : try await sending.send()
            } catch {
                isSent = false
                guard case .upstreamFailed(.died) = error, exchange.upstream.isReused, mayReuse,
                    exchange.request.method.isIdempotent, exchange.body.canBeSent
                else { throw error }
                exchange.upstream.reset()
                mayReuse = false
            }
        }
    }

    /// Whether a connection is there: from the leg before, or one that was kept.
    private func takeKept(_ mayReuse: Bool) -> Bool {
        let (exchange, session, origin) = (sending.exchange, sending.session, destination.origin)
        let upstream = exchange.upstream
        let version = exchange.challenges?.loginVersion
        if upstream.stream != nil {
            // A login of the client's own is good for all that goes out without one of ours.
            guard let login = upstream.login, login.version != version else { return true }
            // Nothing goes on a connection that counts as somebody's but what is his.
            upstream.reset()
        }
        guard mayReuse, exchange.policy === session.worker.policy else { return false }
        if takeLogin(version) { return true }
        if version != nil { return false }
        let terms = origin.isSecure ? connector.terms : .plain
        guard let connection = origin.takeIdle(under: terms, for: session.wakeup) else { return false }
        attach(connection, isReused: true)
        exchange.record.upstream = .reused
        return true
    }

    /// Whether there is a connection on which this client is logged in so. A login is not begun on one that rested, and
    /// may be dead: the request that begins it cannot always be repeated.
    private func takeLogin(_ version: CredentialVersion?) -> Bool {
        guard !session.logins.isEmpty else { return false }
        let origin = destination.origin
        guard let held = session.logins.take(to: origin, under: connector.terms, as: version, for: session.wakeup)
        else {
            return false
        }
        attach(held.connection, isReused: true, login: held.login)
        exchange.record.upstream = .reused
        return true
    }

    /// Makes the connection the client's on which it logs in itself.
    private func claimOwnLogin() {
        guard exchange.request.fields.present.contains(.authorization), exchange.upstream.login == nil,
            exchange.bringsOwnLogin
        else { return }
        exchange.upstream.claim(for: ConnectionLogin(to: destination.origin, heldBy: session.logins))
    }

    private func attach(_ connection: OriginConnection, isReused: Bool, login: ConnectionLogin? = nil) {
        exchange.upstream.attach(connection, isReused: isReused, login: login)
        if let security = connection.security { exchange.record.security = security.record }
    }

    private func connect() async throws(ExchangeFailure) {
        do throws(Refusal) {
            attach(try await connector.connect(), isReused: false)
        } catch { throw .refused(error) }
    }

    private var connector: OriginConnector {
        OriginConnector(session: session, exchange: exchange, destination: destination)
    }

    private func relay(note: String?) async throws(ExchangeFailure) -> Bool {
        let relay = ResponseRelay(session: session, exchange: exchange, destination: destination, note: note)
        guard let keeps = relay.relayAtOnce() else { return try await relay.relay() }
        if !exchange.outbound.isEmpty { try await session.write(exchange.outbound) }
        return keeps
    }
}
