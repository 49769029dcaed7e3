import Authentication
import Bytes
import Challenges
import Credentials
import HTTP
import IO
import Model
import Rules
import Telemetry
import Upstream

/// One request in progress: its downstream side, the exchange and the destination. The state machines get it from their
/// caller at every step, and store none of it.
public struct ForwardingContext {
    public let downstream: Downstream
    public let exchange: Exchange
    public let destination: Destination

    public init(downstream: Downstream, exchange: Exchange, destination: Destination) {
        self.downstream = downstream
        self.exchange = exchange
        self.destination = destination
    }

    public var origin: UpstreamServer { destination.origin }
    public var policy: Policy { exchange.policy }
    /// The room for a copy of the request's body.
    public var room: ReplayRoom { ReplayRoom(policy.limits, in: downstream.shared.spool) }

    /// Keeps a copy of a small body, so that it can be sent again if the connection turns out to be dead.
    func keepSmallBody() {
        guard !exchange.body.isEmpty, exchange.request.method.isIdempotent,
            case .length(let length) = exchange.body.framing, length <= policy.limits.replayMemory
        else { return }
        exchange.body.keepCopy(in: room)
    }

    /// Keeps a copy of a body, as far as memory has room: the server of a shared connection may refuse any request
    /// unprocessed, for instance because it closes the connection.
    func keepBodyForStream() {
        if case .length(let length) = exchange.body.framing, length > policy.limits.replayMemory { return }
        exchange.body.keepCopy(in: memory)
    }

    /// Whether it is a call of gRPC on streams. It may be quiet for long: the connections are watched instead.
    private var isCall: Bool { exchange.upstream.isStream && downstream.isMultiplexed && exchange.asksByGRPC }

    /// The longest pause of a side in the middle of its message.
    var idleLimit: Milliseconds { isCall ? Self.callLimit : policy.timeouts.idle }

    /// The time for the head of the response.
    var responseLimit: Milliseconds { isCall ? Self.callLimit : policy.timeouts.response }

    /// The longest pause of both sides of a call.
    private static let callLimit: Milliseconds = .hours(2)

    /// The room for a copy of the request's body that needs no file.
    var memory: ReplayRoom {
        ReplayRoom(forPagesOf: policy.limits.replayMemory, policy.limits, in: downstream.shared.spool)
    }

    /// Writes the copy of the request's body to its file, or reads it back, when `RequestSending` asks for it.
    func workOnCopy() async throws(ExchangeFailure) {
        if exchange.body.wantsKeeping { return await exchange.body.keep(exchange.inbound) }
        guard await exchange.body.readBack() else { throw ExchangeFailure(.copyLost) }
    }

    // MARK: - The path

    /// Whether a parent could make the request itself. What changes to another protocol goes through a tunnel (RFC 6455
    /// section 4.1), and so does what only the origin may read. A parent may not know that the origin speaks HTTP/2 without
    /// TLS.
    var mayBeRelayed: Bool {
        !origin.isSecure && exchange.request.upgrade == nil && exchange.request.authority != nil
            && !hasPriorKnowledge
    }

    /// Whether the origin has no TLS and is known to speak HTTP/2: by the route, or by the client in its tunnel.
    var hasPriorKnowledge: Bool {
        origin.scheme == .http
            && (destination.route.http2 == .priorKnowledge || downstream.tunnel?.hasPriorKnowledge == true)
    }

    /// Sets the path of the request.
    /// - Returns: whether the path has changed.
    @discardableResult
    public func take(_ way: UpstreamPath) -> Bool {
        if let parent = way.parent, exchange.way.parent === parent { return false }
        if way.parent == nil, exchange.way.parent == nil { return false }
        exchange.credentials.challenges?.parent = .ignored
        exchange.way = way
        exchange.record.facts.parent = way.parent?.figures
        return true
    }

    /// Whether there is a connection: the one in use, or an idle one.
    func takeKept(_ mayReuse: Bool) -> Bool {
        let (version, parentVersion) = exchange.credentials.challenges?.loginVersions ?? (nil, nil)
        if exchange.upstream.isConnected {
            // A client's own login serves every request that carries no login of the proxy.
            if exchange.upstream.serves(version, atParent: parentVersion) { return true }
            // A connection that is logged in carries only requests of that login.
            exchange.upstream.reset()
        }
        guard mayReuse, policy === downstream.upstreams.policy else { return false }
        if takeLogin(version, atParent: parentVersion) { return true }
        if version != nil || parentVersion != nil { return false }
        guard origin.mayShare && takeStream(of: origin) || takeIdle() else { return false }
        exchange.record.facts.upstream = .reused
        return true
    }

    private func takeIdle() -> Bool {
        guard destination.hops.isEmpty else { return takeByParent() }
        let terms = origin.isSecure || destination.address != nil ? terms : .plain
        guard let connection = origin.takeIdle(under: terms) else { return false }
        attach(connection, isReused: true)
        return true
    }

    /// Whether there is a connection on which this client, or every client, has this login. A login does not begin on
    /// an idle connection, which may be dead: the request that begins it cannot always be repeated.
    private func takeLogin(_ version: CredentialVersion?, atParent parentVersion: CredentialVersion?) -> Bool {
        // A probe makes a new login.
        guard downstream.mayHoldLogins, exchange.probe == nil else { return false }
        guard
            let connection = downstream.takeLogin(
                to: origin, through: exchange.way.peer(of: origin), version, atParent: parentVersion, under: terms)
        else { return false }
        attach(connection, isReused: true)
        exchange.record.facts.upstream = .reused
        return true
    }

    /// Reserves the connection for the client that logs in on it. A stream's client may not (RFC 4559 section 6).
    func claimOwnLogin() throws(ExchangeFailure) {
        let fields = exchange.request.fields.present
        guard fields.contains(.authorization), exchange.upstream.login == nil, exchange.bringsOwnLogin else { return }
        if downstream.isMultiplexed { throw .needsHTTP11 }
        exchange.upstream.claim(for: ConnectionLogin(to: origin))
    }

    func attach(_ connection: consuming OriginConnection, isReused: Bool) {
        downstream.hear(connection.stream)
        note(connection)
        exchange.upstream.attach(connection, isReused: isReused)
    }

    private func note(_ connection: OriginConnection) {
        if let security = connection.security { exchange.record.facts.security = security.record }
    }

    /// Records that the origin is asked by HTTP/2, if no TLS says so.
    func noteClearHTTP2() {
        if !origin.isSecure, exchange.way.relay == nil { exchange.record.facts.security = .clearHTTP2 }
    }

    /// Whether a parent may have stopped reading. Squid says that it keeps the connection of a `407`, but never reads
    /// on if the request had a large body, even one that it had not asked for yet.
    var mayBeWedged: Bool {
        guard exchange.way.relay != nil, !exchange.omitsBody, !exchange.upstream.isStream else { return false }
        guard case .length(let length) = exchange.body.framing else { return exchange.body.framing == .chunked }
        return length > Self.wedgeLimit
    }

    /// The number of bytes of a body that squid reads although it has already responded.
    private static let wedgeLimit = 64 * 1024

    // MARK: - Challenges that are ours

    var rules: RuleSet { policy.rules }

    /// Whether the proxy answers the origin's challenges: a rule matches, or the URL or the store has a credential, and
    /// the client brings no `Authorization` that is to be kept. Never for TRACE: its response would show the credential.
    public var mayAnswer: Bool {
        isConcerned && (!exchange.request.fields.present.contains(.authorization) || authorization != .keep)
    }

    var isConcerned: Bool {
        (exchange.request.target.userinfo != nil || destination.isConcerned(in: downstream.shared))
            && !exchange.request.method.isEchoed
    }

    /// How the rules treat the client's own credential.
    var authorization: Configuration.ChallengeRule.Authorization {
        let host = origin.host
        return rules.authorization(
            host: host.span, port: origin.port, protocol: origin.authority.protocol,
            isSecure: origin.isSecure, client: downstream.identity(in: exchange))
    }

    /// Whether a credential may go in its own place beside a kept `Authorization` of the client. Not beside the
    /// client's own login, whose connection is for that client alone.
    var mayPlace: Bool { rules.speaks(of: .places) && isConcerned && !exchange.bringsOwnLogin }

    /// The client's own answer in `Authorization`, if a rule learns from it.
    var learnableAnswer: Exchange.LearnableAnswer? {
        guard exchange.credentials.challenges?.origin.isOurs != true, exchange.credentials.placeholder == nil,
            exchange.credentials.signing?.usesAuthorization != true,
            destination.challenger.mayLearn(by: rules), let field = exchange.request.fields.first(.authorization)
        else { return nil }
        let head = exchange.headBytes
        return Exchange.LearnableAnswer(
            head.readable.extracting(field.value), in: exchange.texts.fieldValue,
            learning: Learning(from: exchange, of: downstream, at: destination.challenger))
    }

    // MARK: - The origin's challenges

    /// Has the origin's challenges answered from now on.
    ///
    /// - Parameter keepsAuthorization: whether the client's own `Authorization` is forwarded. Then no challenge is answered.
    /// - Returns: whether it is known what answer is given, if any; else the loop waits for its work.
    func beginAnswering(keepsAuthorization: Bool = false) throws(Refusal) -> Bool {
        if exchange.probe == nil, !rules.speaks(of: .forms), !rules.speaks(of: .places),
            let known = downstream.latestAnswer(of: destination.challenger, in: exchange, at: exchange.target)
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
        // A page that may ask for a login must be looked at.
        if !rules.speaks(of: .forms) || keepsAuthorization,
            let known = PreemptiveAnswer(finding, to: source.challenger, noting: exchange.record)
        {
            exchange.credentials.begin(.known(known))
            return true
        }
        let loop = ChallengeLoop(challengeContext(by: source))
        exchange.credentials.begin(.met(loop))
        return loop.prepare(with: finding)
    }

    private func originSource(keepsAuthorization: Bool) -> AnswerSource {
        let source = AnswerSource(of: destination.challenger, for: exchange, of: downstream)
        source.terms.keepsAuthorization = keepsAuthorization
        source.terms.isReadOnTheWay = !origin.isSecure && !destination.hops.isEmpty
        source.terms.hasPlaceholder = exchange.credentials.placeholder != nil
        if rules.speaks(of: .places) {
            source.terms.keeps = { self.keeps($0) }
            exchange.credentials.replacesOwn = authorization == .replace
        }
        return source
    }

    /// Whether the client itself sends something in that place, which is kept instead of the credential.
    private func keeps(_ placement: CredentialPlacement) -> Bool {
        let head = exchange.headBytes
        let target = exchange.target
        switch placement.place {
        case .field(let name):
            let isSaid = exchange.request.fields.contains { field in
                !field.isNominated && head.readable.extracting(field.name).equalsIgnoringCase(name.utf8Span.span)
            }
            return isSaid && authorization == .keep
        case .parameter(let name):
            guard QueryParameters.contain(name.utf8Span.span, in: target.readable) else { return false }
            exchange.record.hideParameter(name.utf8Span.span)
            return authorization == .keep
        case .placeholder: return false
        }
    }

    /// The refusal of a request whose rule names a credential that cannot be used.
    private func unusable(_ credential: String, _ reason: String) -> Refusal {
        exchange.record.facts.details = reason
        downstream.shared.report(reason)
        return Refusal(
            .badGateway, .httpRequestDenied,
            "every request to this server needs credential \(credential), which cannot be used; the proxy's log says why"
        )
    }

    private func challengeContext(by source: AnswerSource) -> ChallengeContext {
        let readsPages = !source.terms.keepsAuthorization
        return ChallengeContext(
            by: source, on: connection(at: origin), for: exchange, target: exchange.target,
            pages: readsPages ? exchange.requests.pages(of: exchange, to: destination, for: downstream) : nil)
    }

    // MARK: - The parent's challenges

    /// The parent that makes the request, if a challenge of it could be answered.
    var answerableParent: Parent? {
        guard let parent = exchange.way.relay, parent.mayBeAnswered(by: policy, in: downstream.shared)
        else { return nil }
        let head = exchange.headBytes
        exchange.texts.parentTarget.clear()
        exchange.request.appendTarget(head.readable, form: .absolute(.http), to: exchange.texts.parentTarget)
        return parent
    }

    /// Starts to answer the parent's challenges. Returns whether the answer is known; if false, the loop waits for its
    /// work.
    ///
    /// - Parameter behindOrigin: whether the origin's loop waits for its work. A request that leads a single flight at
    ///   the parent must not wait for another request.
    func beginAnswering(at parent: Parent, behindOrigin waits: Bool) -> Bool {
        if exchange.probe == nil,
            let known = downstream.latestAnswer(of: parent.challenger, in: exchange, at: exchange.texts.parentTarget)
        {
            exchange.credentials.beginAtParent(.known(known))
            return true
        }
        let source = AnswerSource(of: parent.challenger, for: exchange, of: downstream)
        if exchange.probe != nil {
            let loop = ChallengeLoop(challengeContext(by: source, at: parent))
            exchange.credentials.beginAtParent(.met(loop))
            return !waits && loop.prepare()
        }
        let finding = find(by: source, at: parent.origin, exchange.texts.parentTarget)
        if let known = PreemptiveAnswer(finding, to: source.challenger, noting: exchange.record) {
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
        ChallengedConnection(exchange.upstream, at: server, for: downstream, in: exchange)
    }

    private func find(by source: AnswerSource, at server: UpstreamServer, _ target: ByteBuffer) -> AnswerSource.Finding
    {
        let downstream = downstream
        return source.find(for: target) { downstream.holdsLogin($0, to: server) }
    }

    /// Replaces known answers by loops: a login is due, or a response must be looked at.
    public func meetChallenges() {
        guard let challenges = exchange.credentials.challenges else { return }
        if let known = challenges.origin.known {
            let source = originSource(keepsAuthorization: !mayAnswer)
            challenges.origin = .met(ChallengeLoop(challengeContext(by: source), after: known))
        }
        if let known = challenges.parent.known, let parent = exchange.way.relay {
            let source = AnswerSource(of: parent.challenger, for: exchange, of: downstream)
            challenges.parent = .met(ChallengeLoop(challengeContext(by: source, at: parent), after: known))
        }
    }

    // MARK: - Judging

    /// Whether the client gets the response at once: no challenges are ours, or the response is as the known answers led
    /// to expect. If so, it also reports to the accounts of these answers that the servers have accepted them, if that is
    /// news.
    func passesAsKnown() -> Bool {
        let way = exchange.way
        let upstream = exchange.upstream
        if way.relay != nil, upstream.head.status == .proxyAuthenticationRequired { return false }
        guard let challenges = exchange.credentials.challenges else { return true }
        let parentTarget = exchange.texts.parentTarget
        let atParent =
            way.relay == nil
            ? .passes : challenges.parent.passage(of: upstream, upstream.head.status, .proxy, at: parentTarget)
        if atParent == .isMet { return false }
        let atOrigin = challenges.origin.passage(of: upstream, exchange.judgedStatus, .origin, at: exchange.target)
        if atOrigin == .isMet { return false }
        if atParent == .passesAsNews { noteAcceptance(by: challenges.parent, at: parentTarget) }
        if atOrigin == .passesAsNews { noteAcceptance(by: challenges.origin, at: exchange.target) }
        return true
    }

    private func noteAcceptance(by server: ExchangeChallenges.Server, at target: ByteBuffer) {
        guard case .known(let known) = server else { return }
        known.noteAcceptance(
            at: target.readable, sample: exchange.sample(at: target),
            of: exchange.isOwn ? nil : downstream.identity(in: exchange), now: downstream.loop.wallTime)
    }

    /// Judges a response of the parent that makes the request.
    /// - Returns: nil if work must be done first.
    func judgeByParent() -> Verdict? {
        guard let parent = exchange.way.relay else { return .pass(note: nil) }
        let challenges = exchange.credentials.challenges
        let upstream = exchange.upstream
        guard let verdict = (challenges?.parent ?? .ignored).judge() else { return nil }
        guard exchange.isChallengedByParent, case .pass(let note) = verdict else { return Verdict(verdict) }
        // The parent challenges the proxy, not the client.
        var refusal = Refusal.unanswered(
            by: parent, challenges: upstream.challenges(in: ChallengeFields.proxy),
            note: note ?? challenges?.parent.loop?.rejection, upstream.head.status)
        refusal.isTransient = challenges?.parent.loop?.mayBeAnsweredLater ?? false
        return .cancel(refusal)
    }

    /// Judges a response of the origin.
    /// - Returns: nil if work must be done first.
    func judgeByOrigin() -> Verdict? {
        let challenges = exchange.credentials.challenges
        guard let verdict = (challenges?.origin ?? .ignored).judge() else { return nil }
        if case .again = verdict { challenges?.parent.loop?.renew() }
        // The client of a call takes the server's refusal for the last word.
        if case .pass(let note?) = verdict, challenges?.origin.loop?.mayBeAnsweredLater == true, isCall,
            exchange.judgedStatus == .unauthorized
        {
            var refusal = Refusal(.badGateway, .httpRequestDenied, note)
            refusal.isTransient = true
            return .cancel(refusal)
        }
        return Verdict(verdict)
    }

    // MARK: - Phases

    /// A challenge has come that is answered.
    func noteChallenge() {
        exchange.record.facts.trace?.endLeg(status: Int(exchange.upstream.head.status.rawValue))
        if exchange.times.challenge == nil { exchange.times.challenge = downstream.loop.now }
    }

    /// Records that the response goes to the client.
    func notePassage() {
        guard let start = exchange.times.challenge else { return }
        exchange.times.challenge = nil
        let end = downstream.loop.now
        exchange.record.facts.answering = end.nanoseconds(since: start)
        downstream.metrics.note(.challenge, from: start, to: end)
    }

    /// Stores the cookies of an origin's response that the client does not get. A session's cookies are not stored
    /// here: they are not the client's. Nor are those of a parent's `407`, which concerns the connection (RFC 9110
    /// section 11.7).
    func takeCookiesOfChallenge() {
        let upstream = exchange.upstream
        let target = exchange.target
        guard let challenges = exchange.credentials.challenges, challenges.origin.isOurs else { return }
        if challenges.origin.loop?.answersByCookies == true {
            challenges.cookies = nil
            return
        }
        guard upstream.head.fields.present.contains(.setCookie), upstream.head.status != .proxyAuthenticationRequired
        else { return }
        var cookies = challenges.cookies ?? ChallengeCookies(of: origin.authority)
        let now = downstream.loop.wallTime
        upstream.withHeadBytes { bytes in
            for field in upstream.head.fields where field.known == .setCookie && !field.isNominated {
                cookies.take(bytes.extracting(field.value), at: target.readable, now: now)
            }
        }
        challenges.cookies = cookies
    }

    // MARK: - Certificates that the server wants

    // It may refuse one behind the handshake. Since TLS 1.3 it always does so there.

    /// Keeps the content as long as the server may still refuse the certificate that it is sent behind.
    func keepBodyForIdentity() {
        let upstream = exchange.upstream
        if upstream.hasShownIdentity, upstream.peerSecurity?.hasIdentityNews == false { return }
        exchange.body.keepCopy(in: exchange.asksByGRPC ? memory : room)
    }

    /// Whether the server has refused a certificate, so that another connection may succeed.
    ///
    /// - Throws: the refusal for the client, if it says more than the failure: the server wanted a certificate and got
    ///   none, or a gateway knows the reason.
    func hasRefusedIdentity(by failure: ExchangeFailure) throws(ExchangeFailure) -> Bool {
        guard case .upstreamFailed(let failure) = failure else { return false }
        if let refusal = exchange.upstream.gatewayRefusal { throw .refused(refusal) }
        if exchange.own != nil { return false }
        let (upstream, identities) = (exchange.upstream, exchange.credentials.beginIdentities())
        guard let refusal = upstream.identityRefusal(after: failure, in: identities, at: exchange.target) else {
            return false
        }
        if identities.isToBeFollowed { return true }
        downstream.noteRefusal(on: upstream.peerSecurity)
        guard exchange.opensTunnel, let parent = exchange.way.relay else { throw .refused(refusal) }
        // Nothing has happened yet that another parent would repeat.
        var ofParent = refusal.of(parent)
        ofParent.mayGoAnotherWay = true
        throw .refused(ofParent)
    }

    /// Publishes the refusal.
    func followIdentity() async throws(ExchangeFailure) {
        let security = exchange.upstream.peerSecurity
        exchange.upstream.reset()
        try await settleIdentity(on: security)
        guard exchange.body.canBeSent else {
            throw .refused(
                Refusal(
                    .badGateway, .httpRequestError,
                    "\(exchange.way.peer(of: origin).title) refused a client certificate, and the request body is larger "
                        + "than this proxy keeps for sending it again with another"))
        }
    }

    private func settleIdentity(on security: ConnectionSecurity?) async throws(ExchangeFailure) {
        do throws(Refusal) {
            do throws(Refusal) { _ = try await exchange.credentials.beginIdentities().follow(for: downstream) } catch {
                // The exchange that needs the tunnel asks the operator.
                if exchange.opensTunnel { throw error }
                try await follow(error)
            }
        } catch {
            if !exchange.opensTunnel { downstream.noteRefusal(on: security) }
            throw .refused(error)
        }
    }

    /// Whether the response may be a refusal of the certificate that the origin got.
    var mayRefuseIdentity: Bool {
        let upstream = exchange.upstream
        guard [.badRequest, .certificateError].contains(upstream.head.status), origin.isSecure, exchange.own == nil
        else { return false }
        return upstream.security?.awaitsIdentityVerdict ?? false
    }

    /// Publishes the refusal that the response contains, if it does.
    ///
    /// - Returns: whether another connection may succeed; if false, the client gets the response.
    func followIdentityPage() async throws(ExchangeFailure) -> Bool {
        let upstream = exchange.upstream
        let limits = policy.limits.response
        if upstream.awaitsContent { _ = await connection(at: origin).awaitText() }
        guard let page = upstream.certificatePage(by: limits), page.isVerdict else { return false }
        let identities = exchange.credentials.beginIdentities()
        let response = upstream.excerpt(hiding: exchange.mask(EchoMask()), by: limits)
        upstream.noteIdentityRefusal(onPage: page.words, response, in: identities)
        try await settleIdentity(on: upstream.security)
        guard identities.hasAlternative(at: origin), exchange.body.canBeSent else { return false }
        upstream.reset()
        return true
    }

    /// Records the version and the TLS of the connection that a response came on, and whether the server took a certificate
    /// that it has asked for since its last response.
    @inline(__always)
    func noteSecurity() {
        let upstream = exchange.upstream
        if origin.isSecure, let security = upstream.security {
            if upstream.isStream { upstream.head.note(.http2) }
            if security.hasIdentityNews { noteIdentity(on: security) }
            exchange.record.facts.security = security.record
            if upstream.isNotable { exchange.record.facts.asksParentByHTTP2 = upstream.asksParentByHTTP2 }
        } else if upstream.isNotable {
            if upstream.isStream { upstream.head.note(.http2) }
            exchange.record.facts.asksParentByHTTP2 = upstream.asksParentByHTTP2
            if let security = upstream.peerSecurity { noteIdentity(on: security) }
        }
    }

    private func noteIdentity(on security: ConnectionSecurity) {
        let upstream = exchange.upstream
        let sentence = downstream.noteIdentity(
            on: security, isGood: upstream.head.status.rawValue < 400,
            onPage: upstream.certificatePage(by: policy.limits.response)?.words, at: exchange.target)
        exchange.record.facts.details = exchange.record.facts.details ?? sentence
    }
}

extension UpstreamConnection {
    /// The status and words of a page by which nginx refuses a request over the client's certificate, long after the
    /// handshake, and whether it judges a certificate that it got; nil for any other page.
    ///
    /// The page of nginx has these words in its title, and comes with status 400. Behind `error_page` the status is one
    /// of nginx's own.
    fileprivate func certificatePage(by limits: Limits) -> (words: String, isVerdict: Bool)? {
        switch head.status {
        case .certificateError: return ("495", true)
        case .certificateRequired: return ("496", false)
        case .badRequest:
            guard let text = excerpt(hiding: EchoMask(), by: limits).text else { return nil }
            let words = ["No required SSL certificate was sent", "The SSL certificate error"]
            guard let index = words.firstIndex(where: { text.hasPrefix("400 \($0)") }) else { return nil }
            return ("400, \"\(words[index])\"", index == 1)
        default: return nil
        }
    }
}

extension Status {
    /// The statuses "SSL Certificate Error" and "SSL Certificate Required" of nginx.
    fileprivate static let certificateError = Status(rawValue: 495)
    fileprivate static let certificateRequired = Status(rawValue: 496)
}
