import Authentication
import HTTP
import IO
import Rules
import TLS
import Telemetry
import Transport

/// Makes a connection to an origin for an exchange: dialled and, where the origin is `https`, with TLS, whose trust is
/// decided before anything but the greeting is sent.
struct OriginConnector {
    let session: ClientSession
    let exchange: Exchange
    let destination: Destination

    private var origin: Origin { destination.origin }
    private var policy: Policy { exchange.policy }
    private var shared: SharedState { session.worker.shared }
    private var client: Rules.ClientIdentity {
        Rules.ClientIdentity(address: session.address, user: exchange.record.user)
    }

    /// The terms on which this exchange's connection is made, and on which a kept one may serve it.
    var terms: ConnectionTerms {
        destination.terms(for: client, by: policy.rules, identities: shared.identityGeneration)
    }

    /// - Throws: the refusal that the client is to be told; the record says then what was found.
    func connect() async throws(Refusal) -> OriginConnection {
        let started = session.worker.loop.now
        var connection = try await connect(resuming: true)
        // What a session carries on may have come to an end since it began.
        if !connection.isStillTrusted {
            connection.stream.close()
            connection = try await connect(resuming: false)
        }
        exchange.record.upstream = .opened
        exchange.record.isResumed = connection.security?.isResumed ?? false
        exchange.record.connectMilliseconds = Int(clamping: session.worker.loop.now &- started)
        return connection
    }

    private func connect(resuming: Bool) async throws(Refusal) -> OriginConnection {
        let stream = try await session.dialer(for: policy).connect(host: origin.hostText, port: origin.port)
        stream.wakeup = session.wakeup
        guard origin.isSecure else { return OriginConnection(stream: stream, terms: .plain) }
        do throws(Refusal) {
            return try await secure(stream, resuming: resuming)
        } catch {
            stream.close()
            throw error
        }
    }

    // MARK: - TLS

    private func secure(_ stream: ByteStream, resuming: Bool) async throws(Refusal) -> OriginConnection {
        let terms = terms
        let metrics = session.worker.metrics
        let choice = IdentityChoice(policy: policy, origin: origin.authority, client: client, metrics: metrics)
        let lists = try revocationLists()
        let key = SessionKey(host: origin.hostText, port: origin.port, terms: terms, policy: policy.number)
        var refusal: Refusal?
        do throws(HandshakeError) {
            try await stream.handshake(
                as: try context(), to: ServerName(origin.hostText),
                sessions: resuming ? shared.sessions.place(for: key) : nil,
                chooseIdentity: terms.identities > 0 ? { choice.identity(acceptedBy: $0) } : nil,
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
        guard let tls = stream.tls, let trust = tls.serverTrust, let decision = trust.decision as? SessionDecision
        else {
            throw Refusal(HandshakeError.tls(.trustRefused), host: origin.hostText, port: origin.port)
        }
        if let rule = choice.cancelling {
            throw Refusal(
                .badGateway, .httpRequestDenied,
                "\(origin.hostText) port \(origin.port) wants a client certificate, and rule \(rule) says no")
        }
        metrics.add(to: tls.isResumed ? .upstreamHandshakesResumed : .upstreamHandshakesFull)
        if let rule = decision.grant.rule, !decision.grant.forgiven.isEmpty {
            metrics.addTrustException(by: rule.label)
        }
        return OriginConnection(
            stream: stream, terms: terms, security: ConnectionSecurity(tls, trusted: trust, by: decision))
    }

    private func context() throws(HandshakeError) -> ClientTLSContext {
        var settings = ClientTLSSettings()
        if let minimum = destination.route.tls?.minimum.flatMap({ TLS.TLSVersion($0.rawValue) }) {
            settings = ClientTLSSettings(minimum: minimum)
        }
        do throws(TLSError) { return try ClientTLSContext.shared(for: settings) } catch { throw .tls(error) }
    }

    private func revocationLists() throws(Refusal) -> RevocationLists? {
        switch policy.trust.revocation(for: destination.route.tls) {
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
        let decision = ServerTrustDecision(evaluate: evaluate) { findings in
            policy.rules.decide(
                ChallengeQuery(
                    host: origin.hostText, port: origin.port, protocol: .https, method: .serverTrust, isSecure: true,
                    client: client, findings: findings, today: Day(epochSeconds: now)))
        }
        switch decision {
        case .trusted(let verified, let grant):
            return ServerTrust(verified, decision: SessionDecision(grant, identity: identity))
        case .refused(let refused):
            throw refused.refusal(host: origin.hostText, port: origin.port, evaluation: evaluate(nil))
        }
    }
}
