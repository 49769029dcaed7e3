import Authentication
import Bytes
import Challenges
import Credentials
import HTTP
import IO
import Model
import Rules
import TLS
import Telemetry
import Transport

/// Starts TLS on a connection to an origin or a parent. Its trust is decided before anything but the greeting is sent.
public struct OriginHandshake {
    public let downstream: Downstream
    public let policy: Policy
    /// The client as rules see it.
    public let client: ClientIdentity
    /// Set for an internal request. It brings its own certificate, and its TLS session is not resumed by others.
    public var own: InternalRequest?
    /// The request's challenges for certificates; nil if the request makes only this connection.
    public var identities: IdentityChallenges?
    /// The trace of the request that needs the connection.
    public var trace: RequestTrace?
    /// Whether the server may choose HTTP/2.
    public var offersHTTP2 = false
    public let origin: UpstreamServer
    public let terms: ConnectionTerms

    public init(
        downstream: Downstream, policy: Policy, client: ClientIdentity, own: InternalRequest? = nil,
        origin: UpstreamServer,
        terms: ConnectionTerms
    ) {
        self.downstream = downstream
        self.policy = policy
        self.client = client
        self.own = own
        self.origin = origin
        self.terms = terms
    }

    /// The route's `tls` settings; nil if it has none, and always for parents.
    private var tls: Configuration.TLSTerms? { origin.isProxy ? nil : terms.tls }

    private var shared: SharedState { downstream.shared }

    private var delegate: RuleDelegate {
        RuleDelegate(policy: policy.challenges, state: shared.challenges, client: client)
    }

    /// - Parameter resuming: whether an earlier session may be resumed.
    /// - Throws: the refusal for the client. The stream is closed then.
    public func secure(_ stream: ByteStream, resuming: Bool) async throws(Refusal) -> ConnectionSecurity {
        do throws(Refusal) { return try await shake(stream, resuming: resuming) } catch {
            stream.close()
            throw error
        }
    }

    private func shake(_ stream: ByteStream, resuming: Bool) async throws(Refusal) -> ConnectionSecurity {
        let metrics = downstream.metrics
        await policy.trust.prepare()
        let choice = await makeChoice()
        let lists = try policy.revocationLists(for: tls, of: origin.hostText)
        let key = SessionKey(
            host: ExactText(origin.hostText), isProxy: origin.isProxy, port: origin.port, terms: terms,
            policy: policy.number)
        // A connection apart from the others leaves no session to them.
        let mayResume = resuming && own == nil && choice.mayResume && identities?.isApart(origin) != true
        var refusal: Refusal?
        let started = downstream.loop.now
        do throws(HandshakeError) {
            try await stream.handshake(
                as: try context(), to: ServerName(origin.hostText),
                sessions: mayResume ? shared.sessions.slot(for: key) : nil,
                chooseIdentity: own.map { own in { _ in own.identity } } ?? { choice.identity(acceptedBy: $0) },
                within: policy.timeouts.connect
            ) { chain in
                do throws(Refusal) {
                    return try await judge(chain, lists: lists, identity: choice.shown)
                } catch {
                    refusal = error
                    return nil
                }
            }
        } catch {
            let refusal = refusal ?? self.refusal(error, choice)
            trace?.note(.handshake, of: origin.hostText, from: started, error: refusal.sentence)
            throw refusal
        }
        guard let connection = stream.tls, let trust = connection.serverTrust,
            let decision = trust.decision as? ConnectionSecurity.SessionDecision
        else {
            throw Refusal(HandshakeError.tls(.trustRefused), host: origin.hostText, port: origin.port)
        }
        if let refusal = Refusal(choice.progress, of: choice) { throw noted(refusal, choice) }
        choice.isOpen = true
        metrics.note(.handshake, from: started, to: downstream.loop.now)
        metrics.add(to: connection.isResumed ? .upstreamHandshakesResumed : .upstreamHandshakesFull)
        if let label = decision.grant.label, !decision.grant.forgiven.isEmpty {
            metrics.addTrustException(by: label)
        }
        let security = ConnectionSecurity(
            connection, trusted: trust, by: decision, showing: own == nil ? choice : nil)
        if let trace {
            trace.note(.handshake, of: origin.hostText, from: started)
            trace.note(security.record, isResumed: security.isResumed)
        }
        return security
    }

    // MARK: - Our certificate

    /// Makes the choice. Reads the files of parked certificates again before.
    private func makeChoice() async -> IdentityChoice {
        let loop = downstream.loop
        let choice = IdentityChoice(
            delegate, for: origin.authority, mayShow: origin.maySeeIdentity(by: policy.rules),
            after: identities?.progress(with: origin) ?? IdentityProgress(), metrics: downstream.metrics
        ) { loop.wallTime }
        if own == nil, choice.mayShow, policy.credentials.hasHelpers { await readHelpers(for: choice.space) }
        let held = shared.spaces.accounts.standings(at: origin.authority.serverName, now: loop.wallTime)
        if own == nil, choice.mayShow, !held.isEmpty {
            choice.mayResume = false
            await shared.challenges.refresh(policy.credentials)
        }
        return choice
    }

    /// Has the programs run that give the certificates of the rule, since the handshake cannot wait for them.
    private func readHelpers(for space: ProtectionSpace) async {
        let rule = delegate.rule(for: space, failures: 0)
        guard case .use(let names) = rule.action, !rule.isReport else { return }
        for name in names {
            let question = policy.credentials.question(
                name, for: space.origin, at: downstream.loop.wallTime)
            if let question { _ = await shared.challenges.ask(question, of: policy.credentials) }
        }
    }

    /// The client's answer after a failed handshake.
    private func refusal(_ error: HandshakeError, _ choice: IdentityChoice) -> Refusal {
        let usual = Refusal(error, host: origin.hostText, port: origin.port)
        guard own == nil, choice.challenge != nil else { return usual }
        switch error {
        case .tls(.alert(let alert)) where alert.refusesCertificate && choice.shown.credential != nil:
            identities?.note(IdentityRefusal(choice: choice, server: origin, words: "\(alert)"))
            return usual
        case .tls(.alert(let alert)), .tls(.identityWanted(let alert)):
            return noted(Refusal(choice.progress, of: choice) ?? Refusal(alert, of: choice), choice)
        default: return usual
        }
    }

    /// Records a refusal in the journal.
    private func noted(_ refusal: Refusal, _ choice: IdentityChoice) -> Refusal {
        choice.hasNews = false
        let report = IdentityReport(choice).note(.cancelled, at: downstream.loop.wallTime)
        if let report { shared.report(report) }
        return refusal
    }

    // MARK: - The server's certificate

    private func context() throws(HandshakeError) -> ClientTLSContext {
        do throws(TLSError) { return try .shared(for: ClientTLSContext.Settings(tls, offersHTTP2: offersHTTP2)) } catch
        {
            throw .tls(error)
        }
    }

    /// The question for an operator about the refusal, if the rule asks one.
    private func question(about refused: TrustRefusal, _ evaluation: TrustEvaluation) -> OperatorQuestion.Subject? {
        let challenge = AuthenticationChallenge(trustOf: origin.authority, findings: refused.findings)
        var subject = delegate.question(about: challenge, by: delegate.rule(for: challenge))
        subject?.details = evaluation.findings.map { "\($0)" }
        subject?.pin = evaluation.leaf.publicKeyPin
        return subject
    }

    /// Checks the name of a server whose address the client has named. A certificate that is valid proves it. One whose
    /// problems are forgiven proves nothing, so DNS must give the name this address.
    private func confirmName(after grant: TrustGrant) async throws(Refusal) {
        guard !origin.isProxy, let address = terms.address, !grant.forgiven.isEmpty,
            await !downstream.dialer(for: policy).confirms(address, of: origin.hostText)
        else { return }
        throw Refusal(
            .misdirectedRequest, .httpRequestError,
            "the certificate at \(address) is only trusted by a rule, and DNS does not give \(origin.hostText) this address: "
                + "the client must open its tunnel by the name")
    }

    /// The answer to the server-trust challenge.
    private func judge(
        _ chain: PresentedChain, lists: RevocationLists?, identity: IdentityChoice.Shown
    ) async throws(Refusal) -> ServerTrust {
        let now = SystemClock.wallTime
        let (policy, delegate, storage, authority) = (policy, delegate, shared.storage, origin.authority)
        let (host, port, hasExceptions) = (origin.hostText, origin.port, terms.tlsPolicyEpoch != 0)
        let evaluate = { @Sendable (terms: Configuration.TrustTerms?) in
            TrustEvaluation.of(
                chain, for: terms?.name.map { ServerName(ofRule: $0) } ?? ServerName(host),
                anchors: policy.trust.anchors(for: terms),
                revocation: lists, at: now)
        }
        let decide = { @Sendable () -> (decision: ServerTrustDecision<VerifiedChain>, refused: TrustEvaluation?) in
            let decision = ServerTrustDecision(evaluate: evaluate) {
                // A connection whose terms do not include exceptions would outlive the exception that it was trusted
                // by.
                guard hasExceptions else { return [] }
                return storage.trustExceptions(for: host, port: port).holding(on: Day(of: now))
            } ask: { findings in
                delegate.rule(for: AuthenticationChallenge(trustOf: authority, findings: findings))
            }
            return if case .refused = decision { (decision, evaluate(nil)) } else { (decision, nil) }
        }
        let (decision, found) = chain.isCostly ? await BlockingPool.shared.run(decide) : decide()
        switch decision {
        case .trusted(let verified, let grant):
            try await confirmName(after: grant)
            policy.trust.note(unlisted: verified.unlisted, by: tls)
            delegate.note(grant, of: origin.authority, at: now)
            return ServerTrust(verified, decision: ConnectionSecurity.SessionDecision(grant, identity: identity))
        case .refused(let refused):
            let evaluation = found ?? evaluate(nil)
            shared.noteUntrusted(origin.authority, chain)
            var refusal = refused.refusal(host: origin.hostText, port: origin.port, evaluation: evaluation)
            refusal.question = question(about: refused, evaluation)
            delegate.note(
                refused, of: origin.authority, evaluation, isAsked: refusal.question != nil, at: now)
            throw refusal
        }
    }
}
