import Authentication
import Bytes
import Challenges
import Crypto
import HTTP
import IO
import Model
import Rules
import Telemetry
import Upstream

/// One request on its way: the requester, the working set, and the destination. The machines that carry it get it from their
/// caller at every step, and hold none of it themselves.
public struct ForwardingContext {
    public let requester: Requester
    public let exchange: Exchange
    public let destination: Destination

    public init(requester: Requester, exchange: Exchange, destination: Destination) {
        self.requester = requester
        self.exchange = exchange
        self.destination = destination
    }

    public var origin: UpstreamServer { destination.origin }
    public var policy: Policy { exchange.policy }
    /// Where a copy of the request's body is kept.
    public var room: ReplayRoom { ReplayRoom(policy.limits, in: requester.shared.spool) }

    /// Sees to it that a small body can be sent again where the connection turns out to be dead.
    func keepSmallBody() {
        guard !exchange.body.isEmpty, exchange.request.method.isIdempotent,
            case .length(let length) = exchange.body.framing, length <= policy.limits.replayMemory
        else { return }
        exchange.body.keepCopy(in: room)
    }

    /// The digest of the request's whole body, of which a copy is kept; as `RequestBody.digest`.
    public func bodyDigest(_ algorithm: DigestAlgorithm, mayLeaveOut: Bool) async throws(ExchangeFailure) -> [UInt8]? {
        do throws(RequestBody.Failure) {
            return try await exchange.body.digest(
                algorithm, in: room, from: requester.stream, inbound: exchange.inbound, idle: policy.timeouts.idle,
                mayLeaveOut: mayLeaveOut)
        } catch { throw ExchangeFailure(error) }
    }

    /// Sends the copy of the request's body to its file, or reads it back, as `RequestSending` wants it.
    func workOnCopy() async throws(ExchangeFailure) {
        if exchange.body.wantsKeeping { return await exchange.body.keep(exchange.inbound) }
        guard await exchange.body.readBack() else { throw ExchangeFailure(.copyLost) }
    }

    // MARK: - The path

    /// Whether a parent could make the request itself. What changes to another protocol goes through a tunnel (RFC 6455
    /// section 4.1), and so does what only the origin may read.
    var mayBeRelayed: Bool {
        !origin.isSecure && exchange.request.upgrade == nil && exchange.request.authority != nil
    }

    /// From now on the request goes that way.
    /// - Returns: whether it is another than before.
    @discardableResult
    public func take(_ way: Way) -> Bool {
        if let parent = way.parent, exchange.way.parent === parent { return false }
        if way.parent == nil, exchange.way.parent == nil { return false }
        exchange.credentials.challenges?.parent = .ignored
        exchange.way = way
        exchange.record.parent = way.parent?.figures
        return true
    }

    /// Whether a connection is there: from the leg before, or one that was kept.
    func takeKept(_ mayReuse: Bool) -> Bool {
        let (version, parentVersion) = exchange.credentials.challenges?.loginVersions ?? (nil, nil)
        if exchange.upstream.isConnected {
            // A login of the client's own is good for all that goes out without one of ours.
            if exchange.upstream.serves(version, atParent: parentVersion) { return true }
            // Nothing goes on a connection that counts as somebody's but what is his.
            exchange.upstream.reset()
        }
        guard mayReuse, policy === requester.upstreams.policy else { return false }
        if takeLogin(version, atParent: parentVersion) { return true }
        if version != nil || parentVersion != nil { return false }
        guard let connection = takeIdle() else { return false }
        attach(connection, isReused: true)
        exchange.record.upstream = .reused
        return true
    }

    private func takeIdle() -> OriginConnection? {
        if destination.hops.isEmpty {
            return origin.takeIdle(under: origin.isSecure ? terms : .plain)
        }
        return exchange.way.peer(of: origin).takeIdle(under: terms)
    }

    /// Whether there is a connection on which this client, or every client, is logged in so. A login is not begun on one that rested, and
    /// may be dead: the request that begins it cannot always be repeated.
    private func takeLogin(_ version: CredentialVersion?, atParent parentVersion: CredentialVersion?) -> Bool {
        // A probe logs in anew.
        guard requester.mayHoldLogins, exchange.probe == nil else { return false }
        let wanted = HeldConnections.Wanted(
            peer: exchange.way.peer(of: origin), origin: origin, version: version, parentVersion: parentVersion,
            terms: terms)
        guard let connection = requester.takeLogin(wanted) else { return false }
        attach(connection, isReused: true)
        exchange.record.upstream = .reused
        return true
    }

    /// Makes the connection the client's on which it logs in itself.
    func claimOwnLogin() {
        guard exchange.request.fields.present.contains(.authorization), exchange.upstream.login == nil,
            exchange.bringsOwnLogin
        else { return }
        exchange.upstream.claim(for: ConnectionLogin(ofClientTo: origin))
    }

    func attach(_ connection: consuming OriginConnection, isReused: Bool) {
        requester.hear(connection.stream)
        note(connection)
        exchange.upstream.attach(connection, isReused: isReused)
    }

    private func note(_ connection: OriginConnection) {
        if let security = connection.security { exchange.record.security = security.record }
    }

    /// Connects by the way that the request takes.
    public func connect() async throws(Refusal) { attach(try await openConnection(), isReused: false) }

    /// Whether a parent may have stopped reading: squid says that it keeps the connection of a `407`, and never reads on
    /// where the request had a large body, even one that it had not asked for yet.
    var mayBeWedged: Bool {
        guard exchange.way.relay != nil, !exchange.omitsBody else { return false }
        guard case .length(let length) = exchange.body.framing else { return exchange.body.framing == .chunked }
        return length > Self.wedgeLimit
    }

    /// Bytes of a body that squid reads although it has answered already.
    private static let wedgeLimit = 64 * 1024

    // MARK: - Challenges that are ours

    private var rules: RuleSet { policy.rules }

    /// Whether a challenge of this origin is ours to answer: a rule speaks of it, or the URL or the storage has a
    /// credential, and the client brings no `Authorization` of its own that is to be kept. A TRACE response would show the
    /// credential.
    public var mayAnswer: Bool {
        isConcerned && (!exchange.request.fields.present.contains(.authorization) || !keepsClientsWord)
    }

    private var isConcerned: Bool {
        (exchange.request.target.userinfo != nil || destination.isConcerned(in: requester.shared))
            && !exchange.request.method.isEchoed
    }

    /// Whether what the client itself says in the place of a credential goes on.
    private var keepsClientsWord: Bool {
        let host = origin.host
        return rules.authorization(
            host: host.span, port: origin.port, protocol: origin.authority.protocol,
            isSecure: origin.isSecure, client: requester.identity(in: exchange)) == .keep
    }

    /// Whether a credential may go in a place of its own beside a client's `Authorization` that is kept. Not beside a login
    /// of the client's own, whose connection is nobody else's.
    var mayPlace: Bool { rules.speaks(of: .places) && isConcerned && !exchange.bringsOwnLogin }

    /// The signing of the request; nil where no rule has it signed.
    func signing() throws(Refusal) -> RequestSigning? {
        try RequestSigning(
            exchange, to: origin, from: requester.identity(in: exchange), requester.shared)
    }

    /// The client's own answer that goes to the origin in `Authorization`, where a rule wants to learn from it.
    var learnableAnswer: LearnableAnswer? {
        guard exchange.credentials.challenges?.origin.isOurs != true, exchange.credentials.signing == nil,
            destination.challenger.mayLearn(by: rules)
        else { return nil }
        return LearnableAnswer(in: exchange, of: requester, to: destination.challenger)
    }

    // MARK: - The origin's challenges

    /// Has the origin's challenges answered from now on.
    ///
    /// - Parameter keepsAuthorization: whether the client's own goes on, and nothing is answered beside it.
    /// - Returns: whether it is known what answer is given, if any; else the loop waits for its work.
    func beginAnswering(keepsAuthorization: Bool = false) throws(Refusal) -> Bool {
        if exchange.probe == nil, !rules.speaks(of: .forms), !rules.speaks(of: .places),
            let known = requester.latestAnswer(of: destination.challenger, in: exchange, at: exchange.target)
        {
            exchange.credentials.begin(.known(known))
            return true
        }
        let source = originSource(keepsAuthorization: keepsAuthorization)
        if exchange.probe != nil {
            let loop = ChallengeLoop(challengeContext(by: source))
            exchange.credentials.begin(.met(loop))
            return loop.prepare()
        }
        let finding = find(by: source, at: origin, exchange.target)
        if case .unusable(let reason, let credential) = finding { throw unusable(credential, reason) }
        if case .open = finding, keepsAuthorization { return true }
        // A page has to be looked at that may ask for a login.
        if !rules.speaks(of: .forms) || keepsAuthorization,
            let known = KnownAnswer(finding, to: source.challenger, noting: exchange.record)
        {
            exchange.credentials.begin(.known(known))
            return true
        }
        let loop = ChallengeLoop(challengeContext(by: source))
        exchange.credentials.begin(.met(loop))
        return loop.prepare(with: finding)
    }

    private func originSource(keepsAuthorization: Bool) -> AnswerSource {
        let source = AnswerSource(of: destination.challenger, for: exchange, of: requester)
        source.terms.keepsAuthorization = keepsAuthorization
        source.terms.isReadOnTheWay = !origin.isSecure && !destination.hops.isEmpty
        if rules.speaks(of: .places) { source.terms.keeps = { self.keeps($0) } }
        return source
    }

    /// Whether the client itself says something in that place, which goes on in the place of a credential's.
    private func keeps(_ placement: CredentialPlacement) -> Bool {
        let (head, target) = (exchange.headBytes, exchange.target)
        switch placement.place {
        case .field(let name):
            let isSaid = exchange.request.fields.contains { field in
                !field.isNominated && head.readable.extracting(field.name).equalsIgnoringCase(name.utf8Span.span)
            }
            return isSaid && keepsClientsWord
        case .parameter(let name):
            guard QueryParameters.contain(name.utf8Span.span, in: target.readable) else { return false }
            exchange.record.hideParameter(name.utf8Span.span)
            return keepsClientsWord
        }
    }

    /// The refusal of a request that a rule's credential is to go with, and cannot.
    private func unusable(_ credential: String, _ reason: String) -> Refusal {
        exchange.record.details = reason
        requester.shared.report(reason)
        return Refusal(
            .badGateway, .httpRequestDenied,
            "every request to this server needs credential \(credential), which cannot be used; the proxy's log says why"
        )
    }

    private func challengeContext(by source: AnswerSource) -> ChallengeContext {
        let readsPages = !source.terms.keepsAuthorization
        return ChallengeContext(
            by: source, on: connection(at: origin), for: exchange, target: exchange.target,
            pages: readsPages ? LoginForms.of(requester: requester, exchange: exchange, destination: destination) : nil)
    }

    // MARK: - The parent's challenges

    /// The parent that makes the request, if a challenge of it could be answered.
    var answerableParent: Parent? {
        guard let parent = exchange.way.relay, parent.mayBeAnswered(by: policy, in: requester.shared)
        else { return nil }
        let head = exchange.headBytes
        exchange.texts.parentTarget.clear()
        exchange.request.appendTarget(head.readable, form: .absolute(.http), to: exchange.texts.parentTarget)
        return parent
    }

    /// As above, of the parent.
    ///
    /// - Parameter behindOrigin: whether the origin's loop waits for its work. Nobody waits for another request while one of
    ///   his is the first at the parent.
    func beginAnswering(at parent: Parent, behindOrigin waits: Bool) -> Bool {
        if exchange.probe == nil,
            let known = requester.latestAnswer(of: parent.challenger, in: exchange, at: exchange.texts.parentTarget)
        {
            exchange.credentials.beginAtParent(.known(known))
            return true
        }
        let source = AnswerSource(of: parent.challenger, for: exchange, of: requester)
        if exchange.probe != nil {
            let loop = ChallengeLoop(challengeContext(by: source, at: parent))
            exchange.credentials.beginAtParent(.met(loop))
            return !waits && loop.prepare()
        }
        let finding = find(by: source, at: parent.origin, exchange.texts.parentTarget)
        if let known = KnownAnswer(finding, to: source.challenger, noting: exchange.record) {
            exchange.credentials.beginAtParent(.known(known))
            return true
        }
        let loop = ChallengeLoop(challengeContext(by: source, at: parent))
        exchange.credentials.beginAtParent(.met(loop))
        return !waits && loop.prepare(with: finding)
    }

    private func challengeContext(by source: AnswerSource, at parent: Parent) -> ChallengeContext {
        ChallengeContext(
            by: source, on: connection(at: parent.origin), for: exchange, target: exchange.texts.parentTarget)
    }

    // MARK: - Both

    func connection(at server: UpstreamServer) -> ChallengedConnection {
        ChallengedConnection(exchange.upstream, at: server, for: requester, in: exchange)
    }

    private func find(by source: AnswerSource, at server: UpstreamServer, _ target: ByteBuffer) -> AnswerSource.Finding
    {
        let requester = requester
        return source.find(for: target) { requester.holdsLogin($0, to: server) }
    }

    /// Has loops go on where the answers were known: a login is due, or a response is to be looked at.
    public func meetChallenges() {
        guard let challenges = exchange.credentials.challenges else { return }
        if let known = challenges.origin.known {
            let source = originSource(keepsAuthorization: !mayAnswer)
            challenges.origin = .met(ChallengeLoop(challengeContext(by: source), after: known))
        }
        if let known = challenges.parent.known, let parent = exchange.way.relay {
            let source = AnswerSource(of: parent.challenger, for: exchange, of: requester)
            challenges.parent = .met(ChallengeLoop(challengeContext(by: source, at: parent), after: known))
        }
    }

    // MARK: - Its phases

    /// A challenge has come that is answered.
    func noteChallenge() {
        exchange.record.trace?.endLeg(status: Int(exchange.upstream.head.status.rawValue))
        if exchange.times.challenge == nil { exchange.times.challenge = requester.loop.nanoseconds }
    }

    /// The response goes to the client.
    func notePassage() {
        guard let start = exchange.times.challenge else { return }
        exchange.times.challenge = nil
        requester.metrics.note(.challenge, from: start, to: requester.loop.nanoseconds)
    }

    /// Takes note of the origin's challenge that the client is about to get.
    func noted(_ note: String?) -> PassedNote? {
        switch exchange.upstream.head.status {
        case .unauthorized:
            return unanswered.take(
                of: destination.challenger, exchange.credentials.challenges?.origin.loop, note, .passed)
        case .proxyAuthenticationRequired:
            let note = note ?? Self.foreignChallenge
            exchange.record.details = exchange.record.details ?? note
            return PassedNote(note)
        // An initializer that fails has allocated the object all the same.
        default: return note.map { PassedNote($0) }
        }
    }

    /// A parent's challenge never reaches the client (RFC 9110 section 11.7.1: it is the next proxy's affair).
    private static var foreignChallenge: String {
        "the origin answers 407 as if it were a proxy, which this proxy answers for parents only"
    }
}
