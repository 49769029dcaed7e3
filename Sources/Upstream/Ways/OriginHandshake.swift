import Authentication
import HTTP
import IO
import Model
import Rules
import TLS
import Telemetry
import Transport

/// Puts TLS on a connection to an origin or a parent, whose trust is decided before anything but the greeting is sent.
public struct OriginHandshake {
    public let requester: Requester
    public let policy: Policy
    /// The client as rules see it.
    public let client: ClientIdentity
    /// Set for a request of our own: it brings its certificate, and no other connection goes on in its name.
    public var own: OwnRequest?
    public let origin: UpstreamServer
    public let terms: ConnectionTerms

    public init(
        requester: Requester, policy: Policy, client: ClientIdentity, own: OwnRequest? = nil, origin: UpstreamServer,
        terms: ConnectionTerms
    ) {
        self.requester = requester
        self.policy = policy
        self.client = client
        self.own = own
        self.origin = origin
        self.terms = terms
    }

    /// How TLS is spoken; nil: nothing is said of it, as of no parent.
    private var tls: TLSTerms? { origin.isProxy ? nil : terms.tls }

    private var shared: SharedState { requester.shared }

    /// - Parameter resuming: whether an earlier session may be taken up again.
    /// - Throws: the refusal that the client is to be told. The stream is closed then.
    public func secure(_ stream: ByteStream, resuming: Bool) async throws(Refusal) -> ConnectionSecurity {
        do throws(Refusal) { return try await shake(stream, resuming: resuming) } catch {
            stream.close()
            throw error
        }
    }

    private func shake(_ stream: ByteStream, resuming: Bool) async throws(Refusal) -> ConnectionSecurity {
        let metrics = requester.metrics
        await policy.trust.prepare()
        let choice = IdentityChoice(
            rules: policy.rules, credentials: policy.credentials, storage: shared.storage, origin: origin.authority,
            client: client,
            metrics: metrics)
        let lists = try revocationLists()
        let key = SessionKey(
            host: origin.hostText, isProxy: origin.isProxy, port: origin.port, terms: terms, policy: policy.number)
        var refusal: Refusal?
        do throws(HandshakeError) {
            try await stream.handshake(
                as: try context(), to: ServerName(origin.hostText),
                sessions: resuming && own == nil ? shared.sessions.place(for: key) : nil,
                chooseIdentity: own.map { own in { _ in own.identity } }
                    ?? (origin.maySeeIdentity(by: policy.rules) ? { choice.identity(acceptedBy: $0) } : nil),
                within: policy.timeouts.connect
            ) { chain in
                do throws(Refusal) {
                    return try judge(chain, lists: lists, identity: choice.shown)
                } catch {
                    refusal = error
                    return nil
                }
            }
        } catch {
            throw refusal ?? Refusal(error, host: origin.hostText, port: origin.port)
        }
        guard let connection = stream.tls, let trust = connection.serverTrust,
            let decision = trust.decision as? SessionDecision
        else {
            throw Refusal(HandshakeError.tls(.trustRefused), host: origin.hostText, port: origin.port)
        }
        if let rule = choice.cancelling {
            throw Refusal(
                .badGateway, .httpRequestDenied,
                "\(origin.hostText) port \(origin.port) wants a client certificate, and rule \(rule) says no")
        }
        metrics.add(to: connection.isResumed ? .upstreamHandshakesResumed : .upstreamHandshakesFull)
        if let label = decision.grant.label, !decision.grant.forgiven.isEmpty {
            metrics.addTrustException(by: label)
        }
        return ConnectionSecurity(connection, trusted: trust, by: decision)
    }

    private func context() throws(HandshakeError) -> ClientTLSContext {
        var settings = ClientTLSSettings()
        if let minimum = tls?.minimum {
            settings = ClientTLSSettings(minimum: minimum)
        }
        do throws(TLSError) { return try ClientTLSContext.shared(for: settings) } catch { throw .tls(error) }
    }

    private func revocationLists() throws(Refusal) -> RevocationLists? {
        switch policy.trust.revocation(for: tls) {
        case .unasked: return nil
        case .lists(let lists): return lists
        case .unknown:
            throw Refusal(
                .internalServerError, .proxyConfigurationError,
                "the revocation lists that a route names for \(origin.hostText) could not be read")
        }
    }

    /// The answer to the server-trust challenge.
    private func judge(
        _ chain: PresentedChain, lists: RevocationLists?, identity: ShownIdentity
    ) throws(Refusal) -> ServerTrust {
        let now = SystemClock.epochMilliseconds / 1000
        func evaluate(_ terms: TrustTerms?) -> TrustEvaluation {
            TrustEvaluation.of(
                chain, for: ServerName(terms?.name ?? origin.hostText), anchors: policy.trust.anchors(for: terms),
                revocation: lists, at: now)
        }
        let decision = ServerTrustDecision(evaluate: evaluate) {
            // A connection whose terms say nothing of exceptions would outlive the one that it was trusted by.
            guard self.terms.tlsAnswers != 0 else { return [] }
            return shared.storage.trustExceptions(for: origin.hostText, port: origin.port)
                .holding(on: Day(epochSeconds: now))
        } ask: { findings in
            var query = ChallengeQuery.serverTrust(
                host: origin.hostText, port: origin.port, client: client, findings: findings,
                today: Day(epochSeconds: now))
            query.isProxy = origin.isProxy
            return policy.rules.decide(query)
        }
        switch decision {
        case .trusted(let verified, let grant):
            policy.trust.note(unlisted: verified.unlisted, by: tls)
            return ServerTrust(verified, decision: SessionDecision(grant, identity: identity))
        case .refused(let refused):
            throw refused.refusal(host: origin.hostText, port: origin.port, evaluation: evaluate(nil))
        }
    }
}
