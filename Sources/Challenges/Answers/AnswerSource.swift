import Authentication
import Bytes
import Credentials
import HTTP
import IO
import Model
import Rules

/// Finds the credentials and answers for one request, before it is sent and after a challenge. A class, because a
/// request passes it on a dozen times.
public final class AnswerSource {
    /// The result of looking for a preemptive answer.
    public enum Finding {
        case answer(PreparedAnswer, by: RuleReference?)
        /// An answer whose credential the server has not accepted yet, or has refused.
        case unproven(PreparedAnswer, by: RuleReference?)
        /// The reason why a credential cannot be sent that a rule sends with every request.
        case unusable(String, credential: String)
        /// The target was last seen to ask for no credential.
        case open
        /// The target's space is known, and its rule gives no preemptive answer there.
        case answeredWhenAsked
        /// An answer exists once the credential has been exchanged for a token in that space.
        case awaitsToken(WantedToken)
        /// An answer exists once a program has given the credential.
        case awaitsHelper(HelperQuestion)
        case unknown
    }

    /// A token that a credential can be exchanged for. A class, so that a finding, which most requests make, is small.
    public final class WantedToken {
        /// The credential of the rule file.
        let credential: Credential
        /// The credential with the grant of exactly this token: for one resource and its scopes.
        let exact: Credential
        let space: ProtectionSpace

        init(for credential: Credential, exactly exact: Credential? = nil, in space: ProtectionSpace) {
            self.credential = credential
            self.exact = exact ?? credential
            self.space = space
        }
    }

    public let delegate: RuleDelegate
    public let challenger: Challenger
    /// The credential in the request's URL, which is for its origin.
    public let urlCredential: Credential?
    /// The learning from clients' answers; nil if no rule learns.
    public let learning: Learning?
    public let loop: EventLoop
    /// The request's credentials that are being stored.
    private let storage: Learning.PendingStorage
    public var terms = AnswerSource.PreemptiveTerms()

    public init(
        delegate: RuleDelegate, challenger: Challenger, urlCredential: Credential?, learning: Learning?,
        loop: EventLoop, storage: Learning.PendingStorage = Learning.PendingStorage()
    ) {
        self.storage = storage
        self.delegate = delegate
        self.challenger = challenger
        self.urlCredential = urlCredential
        self.learning = learning
        self.loop = loop
    }

    var policy: ChallengePolicy { delegate.policy }
    var state: ChallengeState { delegate.state }
    private var client: ClientIdentity { delegate.client }

    // MARK: - Answers without a challenge

    /// Finds the answer to give to that target.
    ///
    /// - Parameters:
    ///   - token: the token that the credential was just exchanged for; nil: one that is kept will do.
    ///   - holdsLogin: whether the client has a connection that is logged in with that version.
    public func find(
        for target: ByteBuffer, with token: Credential? = nil, holdsLogin: (CredentialVersion) -> Bool
    ) -> Finding {
        if let placed = placed(at: target, with: token) { return placed }
        if terms.keepsAuthorization { return .open }
        let finding = findKnown(for: target, with: token, holdsLogin: holdsLogin)
        switch finding {
        case .open, .answeredWhenAsked, .unknown: return preempted(at: target, with: token) ?? finding
        case .answer, .unproven, .unusable, .awaitsToken, .awaitsHelper: return finding
        }
    }

    /// Finds the answer that the target's space has accepted.
    private func findKnown(
        for target: ByteBuffer, with token: Credential?, holdsLogin: (CredentialVersion) -> Bool
    ) -> Finding {
        // Read first, so that a later change counts as newer.
        let generation = state.generation(of: policy)
        guard let known = knownOrigin else { return .unknown }
        guard let space = known.space(covering: target.readable) else {
            return known.isOpen(target.readable) ? .open : .unknown
        }
        let rule = delegate.rule(for: space.space, failures: 0)
        guard rule.isPreemptive else { return known.isOpen(target.readable) ? .open : .answeredWhenAsked }
        guard let named = credential(rule, for: space.space) else {
            return helperQuestion(for: space.space, by: rule).map { Finding.awaitsHelper($0) } ?? .unknown
        }
        guard let exact = exact(named, at: target) else {
            return known.isOpen(target.readable) ? .open : .answeredWhenAsked
        }
        guard let credential = token ?? state.current(exact, at: loop.wallTime) else {
            return .awaitsToken(WantedToken(for: named, exactly: exact, in: space.space))
        }
        if let answer = answer(in: space, of: known, to: target, by: rule, with: credential, holdsLogin) {
            let isSent = !answer.wantsLogin || !holdsLogin(credential.version)
            // The account is asked when a ticket is fetched, not when it is shown.
            let isJudged = space.space.authenticationMethod != .negotiate
            if isSent, isJudged, !evidence(of: credential).isGood { return .unproven(answer, by: rule.rule) }
            if exact === named { remember(answer, for: named, in: space, of: known, by: rule, as: generation) }
            return .answer(answer, by: rule.rule)
        }
        return isLeftOpen(target, in: known, to: credential, holdsLogin) ? .open : .unknown
    }

    /// The credential for exactly the token that the target needs: itself, unless servers announce its tokens; nil if
    /// this server has announced none for the target.
    private func exact(_ credential: Credential, at target: ByteBuffer) -> Credential? {
        guard credential.isAnnounced else { return credential }
        if credential.isRegistry {
            let place = RegistryPlace(of: terms.method, at: target.readable)
            return state.registries.exact(for: credential.version, at: challenger.origin, place)
        }
        return state.announced.exact(for: credential.version, at: challenger.origin, target: target.readable)
    }

    /// Keeps an answer that depends only on the generation, the space, the time and perhaps the client. It must come from
    /// a credential of the rules, and belong to a request or connection.
    private func remember(
        _ answer: PreparedAnswer, for named: Credential, in space: KnownSpace, of known: KnownOrigin,
        by rule: RuleDecision, as generation: Int
    ) {
        if case .session = answer.binding { return }
        guard case .use = rule.action, !policy.credentials.isGiven(named.version.name) else { return }
        let end = named.version.isGrant ? state.tokens.renewal(of: named.version) : .distantFuture
        guard let end else { return }
        challenger.latestAnswer = Challenger.LatestAnswer(
            answer, by: rule.rule, for: challenger.answersDependOnClient(by: policy.rules) ? client : nil,
            until: (end, on: loop), of: (known, space), as: (policy, generation))
    }

    var knownOrigin: KnownOrigin? {
        let host = challenger.host
        return state.spaces.known(
            host: host.span, port: challenger.port, protocol: challenger.origin.protocol, isProxy: challenger.isProxy)
    }

    private func answer(
        in space: KnownSpace, of known: KnownOrigin, to target: ByteBuffer, by rule: RuleDecision,
        with credential: Credential, _ holdsLogin: (CredentialVersion) -> Bool
    ) -> PreparedAnswer? {
        guard
            let authenticator = space.authenticator(for: credential.version)
                ?? successor(in: space, at: target, with: credential)
        else { return nil }
        switch authenticator.binding {
        case .request: break
        case .connection: guard !isLeftOpen(target, in: known, to: credential, holdsLogin) else { return nil }
        case .session(let session): guard session.isOpen else { return nil }
        }
        return PreparedAnswer(
            authenticator: authenticator,
            answer: space.answer(
                with: credential, kept: rule.persistence, by: evidence(of: credential)))
    }

    /// Whether a login would be begun for a target that was last seen to need none. No requests then carry an answer,
    /// only connections, and the client has none that is logged in.
    private func isLeftOpen(
        _ target: ByteBuffer, in known: KnownOrigin, to credential: Credential,
        _ holdsLogin: (CredentialVersion) -> Bool
    ) -> Bool {
        known.isOpen(target.readable) && !holdsLogin(credential.version)
    }

    /// The authenticator of a space that has none yet, but needs no challenge. Its credential is a token that replaces
    /// an accepted one, or a version that an earlier process or another one saw accepted.
    private func successor(
        in space: KnownSpace, at target: ByteBuffer, with credential: Credential
    ) -> (any Authenticator)? {
        let method = space.space.authenticationMethod
        guard !method.traits.needsChallenge else { return nil }
        let isAccepted =
            method.traits.credential == .token
            ? credential.token != nil && space.knows(credential.version.name)
            : space.hasAccepted(credential.version)
        guard isAccepted else { return nil }
        let realm = space.space.realm.map { HeaderChallenge.Parameter(name: "realm", value: Array($0.utf8)) }
        let answer = Answer(
            space: space.space,
            challenge: HeaderChallenge(scheme: method.rawValue, parameters: realm.map { [$0] } ?? []),
            credential: credential)
        guard let authenticator = try? policy.order.authenticator(for: answer, at: target.readable) else { return nil }
        state.spaces.remember(authenticator, for: answer, isLasting: isLasting(answer))
        return authenticator
    }

    // MARK: - Credentials

    /// The evidence that the challenger has given about a credential.
    func evidence(of credential: Credential) -> Evidence {
        if let latest = challenger.latestEvidence, latest.isGood, latest.version == credential.version,
            !credential.isBrought
        {
            return latest
        }
        let evidence = state.spaces.accounts.evidence(
            of: credential, at: challenger.serverName, broughtBy: owner(of: credential))
        challenger.latestEvidence = credential.isBrought ? nil : evidence
        return evidence
    }

    /// The client that brought the credential; nil if it is in the rule file or the store. All addresses of an IPv6 /64
    /// network are one client, because a peer may use any of them.
    func owner(of credential: Credential) -> String? {
        credential.isBrought
            ? "\(client.address.map { "\($0.unmapped.network)" } ?? ClientIdentity.local) \(client.user ?? "")" : nil
    }

    /// The terms of the rule for versions that were refused.
    func retryTerms(for space: ProtectionSpace) -> Evidence.RetryTerms {
        Evidence.RetryTerms(delegate.rule(for: space, failures: 0), isProxy: space.isProxy)
    }

    /// The credential that the rules give this client there.
    private func credential(_ rule: RuleDecision, for space: ProtectionSpace) -> Credential? {
        switch rule.action {
        case .use(let names): named(delegate.choice(among: names, for: space, at: loop.wallTime), for: space)
        case .performDefault where space.authenticationMethod == .negotiate && !rule.namesMethod: nil
        case .performDefault: urlCredential ?? kept(for: space)
        case .ask: urlCredential ?? kept(for: space) ?? standing(for: space, by: rule)
        case .reject, .cancel, .trust: nil
        }
    }

    /// A credential of the rule file. A value that is about to end is read again.
    private func named(_ name: String, for space: ProtectionSpace) -> Credential? {
        renewAhead(name)
        return (try? delegate.configured(name, for: space.origin))?.answering(in: space)
    }

    /// Has the program that gives the credential run again, if its value is about to end.
    private func renewAhead(_ name: String) {
        guard policy.credentials.hasHelpers,
            let question = policy.credentials.renewal(
                name, for: challenger.origin, path: delegate.path, at: loop.wallTime)
        else { return }
        let (state, credentials) = (state, policy.credentials)
        loop.spawn { _ = await state.ask(question, of: credentials) }
    }

    private func helperQuestion(for space: ProtectionSpace, by rule: RuleDecision) -> HelperQuestion? {
        policy.credentials.hasHelpers
            ? delegate.helperQuestion(for: space, by: rule, at: loop.wallTime) : nil
    }

    /// The credential that an operator has named.
    private func standing(for space: ProtectionSpace, by rule: RuleDecision) -> Credential? {
        let challenge = AuthenticationChallenge(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil)
        guard
            case .use(let name)? = state.questions.standing(for: OperatorQuestion.Subject(challenge, by: rule.rule).key)
        else {
            return nil
        }
        return try? state.credential(named: name, for: space, by: policy)
    }

    /// The stored credential for the space: from this client's session, else the one that this response has just proven
    /// the client to know, else the store's default.
    public func kept(for space: ProtectionSpace) -> Credential? {
        let ofSession = state.sessionCredentials.credential(
            for: space, of: client, at: loop.wallTime, limit: policy.timeouts.session)
        if let ofSession { return ofSession }
        if let learning, let proven = learning.proven(for: space) { return proven }
        return challenger.isServed(by: state) ? state.storage.proposedCredential(for: space) : nil
    }

    /// The current value of the credential in the answer.
    ///
    /// - Parameter isFresh: whether the rule file's credentials have just been read.
    /// - Returns: nil if they must be read first.
    public func reread(_ answer: Answer, isFresh: Bool) -> ChallengeTask.Reread? {
        let (version, space) = (answer.credential.version, answer.space)
        if let named = try? delegate.configured(version.name, for: space.origin) {
            if named.grant != nil { return .fetched }
            if named.version != version { return .newer(named) }
            return isFresh ? .unchanged : nil
        }
        let stored = state.storage.proposedCredential(for: space)
        guard let stored, let user = stored.user, answer.credential.user?.hasSameBytes(as: user) == true else {
            return .unchanged
        }
        return stored.version == version ? .unchanged : .newer(stored)
    }

    /// Whether later processes will have the credential too: the rule file names it, or it is stored.
    public func isLasting(_ answer: Answer) -> Bool {
        let version = answer.credential.version
        if policy.credentials.isGiven(version.name) { return false }
        if (try? policy.credentials.credential(named: version.name)) != nil { return true }
        return ([answer.space] + answer.space.moreGeneral).contains { space in
            answer.credential.storedName(for: space).map { state.storage.version(of: $0, for: space) == version }
                ?? false
        }
    }

    /// Stores the accepted credential of the request's URL, for as long as a rule says. A credential of the rule file
    /// stays there.
    public func keep(_ answer: Answer) {
        if answer.credential.version == urlCredential?.version { keepForLater(answer) }
    }

    /// Stores an accepted credential, for as long as its persistence says.
    func keepForLater(_ answer: Answer) {
        storage.keep(answer.credential, for: answer.space, by: delegate, on: loop)
        if answer.credential.persistence == .session { state.sessionOrigins.insert([answer.space.origin]) }
    }
}

extension Evidence.RetryTerms {
    /// - Parameter isProxy: whether the server is a parent, which is only asked for what clients asked it for.
    public init(_ ruling: RuleDecision, isProxy: Bool) {
        self.init(retry: ruling.retry)
        switch ruling.probe {
        case .sample: break
        case .no: mayProbe = false
        case .path(let path):
            if isProxy { break }
            sample = Account.Sample(target: Evidence.hash(path.utf8.span), content: Array("GET \(path)\r\n".utf8))
        }
    }
}

/// Credentials that rules send with every request, with or without a challenge.
extension AnswerSource {
    /// The parts of a request that affect preemptive credentials.
    public struct PreemptiveTerms {
        /// Whether the client's own `Authorization` is kept, beside which no challenge is answered.
        public var keepsAuthorization = false
        public var method = Method.get
        /// Whether a parent proxy could read what is sent.
        public var isReadOnTheWay = false
        /// Whether the request has the placeholder of the credential of its rule.
        public var hasPlaceholder = false
        /// Whether the client itself sends something in that place, which is kept.
        public var keeps: ((CredentialPlacement) -> Bool)?
    }

    /// The answer that a rule gives in its own place.
    func placed(at target: ByteBuffer, with token: Credential?) -> Finding? {
        policy.rules.speaks(of: .places) ? preemptive([.default], at: target, with: token) : nil
    }

    /// The preemptive answer that a rule gives in the usual field.
    func preempted(at target: ByteBuffer, with token: Credential?) -> Finding? {
        policy.rules.speaks(of: .preemption) ? preemptive([.bearer, .basic, .other], at: target, with: token) : nil
    }

    /// The answer that a rule gives with that credential in each request; nil if none.
    func preemptiveAnswer(with credential: Credential, at target: ByteBuffer) -> PreparedAnswer? {
        let token = credential.token == nil ? nil : credential
        switch placed(at: target, with: token) ?? preempted(at: target, with: token) {
        case .answer(let prepared, _)?, .unproven(let prepared, _)?:
            return prepared.answer.credential.version == credential.version ? prepared : nil
        default: return nil
        }
    }

    /// The assumed challenge that a preemptive answer belongs to, because the server sends none. A refusal is judged
    /// against it.
    func preemptiveOffer() -> Offer? {
        let rules = policy.rules
        guard rules.speaks(of: .places) || rules.speaks(of: .preemption) else { return nil }
        let methods: [AuthenticationMethod] =
            terms.keepsAuthorization ? [.default] : [.default, .bearer, .basic, .other]
        guard let (space, _, name) = preemptiveRule(for: methods),
            let named = try? delegate.configured(name, for: space.origin), !isKept(named)
        else { return nil }
        return Offer(space: space, challenge: .preemptive, strength: 0)
    }

    /// The reason why a program has given no credential that a rule sends with every request; nil if it has.
    func unreadPreemptive() -> CredentialError? {
        let rules = policy.rules
        guard policy.credentials.hasHelpers, rules.speaks(of: .places) || rules.speaks(of: .preemption),
            let (space, _, name) = preemptiveRule(for: [.default, .bearer, .basic, .other])
        else { return nil }
        do throws(CredentialError) {
            _ = try delegate.configured(name, for: space.origin)
            return nil
        } catch { return error.isOfProgram ? error : nil }
    }

    /// The challenge that a server left out of its `401`: a rule gives it tokens of a named issuer. Some servers
    /// announce their tokens in well-known metadata alone (RFC 9728 section 3.1).
    ///
    /// - Returns: the challenge, and the credential for it.
    func assumedOffer() -> (offer: Offer, credential: Credential)? {
        if terms.keepsAuthorization || challenger.isProxy { return nil }
        let space = ProtectionSpace(origin: challenger.origin, realm: nil, authenticationMethod: .bearer)
        guard case .use(let names) = delegate.rule(for: space, failures: 0).action else { return nil }
        let named = names.compactMap { try? policy.credentials.credential(named: $0, for: space.origin) }
        guard let named = named.first(where: { $0.grant?.server.issuer != nil }) else { return nil }
        return (Offer(space: space, challenge: HeaderChallenge(scheme: "bearer"), strength: 0), named)
    }

    /// Whether the answer has the token that is held for the credential, and the token has not expired.
    func isValid(_ answer: Answer, of named: Credential, at target: ByteBuffer) -> Bool {
        guard let exact = exact(named, at: target) else { return false }
        return state.tokens.holds(answer.credential.version, for: exact.version, at: loop.wallTime)
    }

    private func preemptiveRule(for methods: [AuthenticationMethod]) -> (ProtectionSpace, RuleDecision, String)? {
        guard !terms.isReadOnTheWay, [.http, .https].contains(challenger.origin.protocol) else { return nil }
        for method in methods {
            let space = ProtectionSpace(origin: challenger.origin, realm: nil, authenticationMethod: method)
            let rule = delegate.rule(for: space, failures: 0)
            // A rule that also matches origins sends nothing preemptively to a parent.
            if challenger.isProxy, !rule.isForParents { continue }
            if rule.hasPlaceholder, !terms.hasPlaceholder { continue }
            guard method == .default ? rule.isPlaced : rule.preemption == .always else { continue }
            guard case .use(let names) = rule.action, let name = names.first else { return nil }
            return (space, rule, name)
        }
        return nil
    }

    /// Whether the client itself sends something in the credential's place.
    private func isKept(_ credential: Credential) -> Bool {
        guard let keeps = terms.keeps else { return false }
        return credential.placements.contains(where: keeps)
    }

    /// - Returns: nil if there is no answer, or it is not sent preemptively to that target.
    private func preemptive(
        _ methods: [AuthenticationMethod], at target: ByteBuffer, with token: Credential?
    ) -> Finding? {
        guard let (space, rule, name) = preemptiveRule(for: methods) else { return nil }
        let named: Credential
        renewAhead(name)
        do throws(CredentialError) {
            named = try delegate.configured(name, for: space.origin)
        } catch {
            if let question = helperQuestion(for: space, by: rule) { return .awaitsHelper(question) }
            // The server then says what it wants.
            return error.isOfProgram ? nil : .unusable("\(error)", credential: name)
        }
        if isKept(named) { return nil }
        let fetched = token.flatMap { $0.version.isNamed(name) ? $0 : nil }
        guard let exact = exact(named, at: target) else { return nil }
        guard let credential = fetched ?? state.current(exact, at: loop.wallTime) else {
            return .awaitsToken(WantedToken(for: named, exactly: exact, in: space))
        }
        let known = knownOrigin?.space(space)
        let answer =
            known?.answer(
                with: credential, kept: rule.persistence, isForAll: true, by: evidence(of: credential))
            ?? Answer(
                space: space, challenge: .preemptive, credential: credential.with(rule.persistence),
                evidence: evidence(of: credential))
        var authenticator = known?.authenticator(for: credential.version)
        do throws(AuthenticationError) {
            if authenticator == nil {
                authenticator = try policy.order.authenticator(for: answer, at: target.readable)
            }
        } catch { return .unusable("\(error)", credential: name) }
        return authenticator.flatMap { authenticator in
            let prepared = PreparedAnswer(authenticator: authenticator, answer: answer)
            return evidence(of: credential).isGood
                ? .answer(prepared, by: rule.rule) : .unproven(prepared, by: rule.rule)
        }
    }
}
