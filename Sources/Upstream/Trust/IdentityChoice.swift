import Authentication
import Bytes
import Challenges
import Credentials
import Model
import Rules
import Synchronization
import TLS
import Telemetry

/// The choice of the certificate for a server that asks for one, at the first handshake or at any later moment of its
/// connection.
///
/// Each time the server asks is a challenge to the rules. `ChallengeTask` handles parked and refused certificates. Of
/// the certificates that the answering rule names, the first whose issuer the server accepts is shown. If the server
/// accepts none of them, a rule that names its hosts shows the first nevertheless, since its author knows the server. A
/// rule for any host shows none, since a certificate tells a stranger who we are. If the rules say `default`, or no
/// rule answers, the store's certificates for the server are used.
final class IdentityChoice {
    /// The certificate that the server has seen on this connection.
    let shown = IdentityChoice.Shown()
    let delegate: RuleDelegate
    let space: ProtectionSpace
    /// The progress of the request when the connection began.
    let beginning: IdentityProgress
    var progress: IdentityProgress
    /// The challenge that the rules were asked about first when the server last asked; nil: it has not asked.
    private(set) var challenge: AuthenticationChallenge?
    /// The issuers that the server accepts; empty: any.
    private(set) var issuers: [DistinguishedName] = []
    /// The number of times that the server has asked.
    private(set) var requests = 0
    /// Whether a request for a certificate on this connection is still to be recorded.
    var hasNews = false
    /// Whether the handshake is complete.
    var isOpen = false
    /// Whether the server last asked after the handshake, because of a request.
    private(set) var isAboutRequest = false
    /// The answers that this connection tries first, until the server's verdict.
    private var attempts: [Evidence.Attempt] = []
    /// Whether a TLS session may be resumed. In a resumed session the server checks no certificate.
    var mayResume = true
    /// Whether the server may see a certificate at all: a rule covers it, or one is stored for it.
    let mayShow: Bool
    private let metrics: Metrics
    private let now: () -> WallTime

    /// - Parameter mayShow: whether the server may see a certificate at all.
    init(
        _ delegate: RuleDelegate, for origin: Origin, mayShow: Bool, after progress: IdentityProgress = .init(),
        metrics: Metrics, now: @escaping () -> WallTime
    ) {
        self.delegate = delegate
        space = ProtectionSpace(clientCertificateOf: origin)
        self.mayShow = mayShow
        beginning = progress
        self.progress = progress
        self.metrics = metrics
        self.now = now
    }

    /// Returns the certificate to show; nil for none.
    /// - Parameter issuers: the issuers that the server accepts; empty: any.
    func identity(acceptedBy issuers: [DistinguishedName]) -> Identity? {
        self.issuers = issuers
        progress = beginning
        let offer = offer
        challenge = AuthenticationChallenge(of: space, acceptedBy: offer.distinguishedNames)
        hasNews = true
        requests += 1
        isAboutRequest = isOpen
        guard mayShow, !progress.task.isFinished else {
            progress.end = progress.end ?? .declined(.nothingToAnswer)
            return nil
        }
        progress.end = nil
        let answer = settle(progress.task.challenged(nil, offers: [offer], refusal: nil))
        guard let credential = answer?.credential, let identity = credential.identity as? Identity else { return nil }
        shown.credential = credential
        let rule = challenge.flatMap { delegate.rule(for: $0).rule?.label }
        metrics.addIdentityAnswer(rule: rule, credential: credential.version.name)
        return identity
    }

    /// Handles the server's refusal of the certificate that it was shown.
    func refused() -> ChallengeTask.Action { progress.task.challenged(nil, offers: [offer], refusal: .refused) }

    /// Carries out the actions of the challenge task until an answer or a refusal is reached.
    /// - Returns: the answer to show; nil for none, and `progress` has the reason.
    @discardableResult
    func settle(_ first: ChallengeTask.Action) -> Answer? {
        var action = first
        while true {
            switch action {
            case .lookUpDefault: action = progress.task.foundDefault(choose(among: stored, from: .storage))
            case .ask(let challenge): action = progress.task.decided(decide(challenge))
            case .answer(let answer):
                guard let pause = hold(answer) else { return answer }
                metrics.add(to: .credentialsParked)
                action = progress.task.heldBack(nil, offers: [offer], for: pause.time)
            case .pass(let reason):
                progress.end = .declined(reason)
                return nil
            case .cancel(let reason):
                progress.end = .cancelled(reason: reason)
                return nil
            // These actions follow a refusal and were carried out before.
            case .resend, .sendUnanswered, .reread, .park: return nil
            }
        }
    }

    private var offer: Offer {
        Offer(
            space: space, challenge: HeaderChallenge(scheme: space.authenticationMethod.rawValue), strength: 0,
            distinguishedNames: issuers.map(\.description))
    }

    // MARK: - The delegate

    private func decide(_ challenge: AuthenticationChallenge) -> Decision {
        let rule = delegate.rule(for: challenge)
        var (chosen, otherwise) = (Credential?.none, Disposition.rejectProtectionSpace)
        if rule.isReport {
            return Decision(.rejectProtectionSpace, reason: rule.reason, report: rule.action.words)
        }
        switch rule.action {
        case .use(let names):
            let named = names.compactMap(delegate.policy.credentials.certificate)
            chosen = choose(among: named, from: .rule(rule.rule), besides: challenge.refused)
        case .performDefault:
            chosen = choose(among: stored, from: .storage, besides: challenge.refused)
            otherwise = .performDefaultHandling
        case .ask: return ask(challenge, by: rule)
        case .reject, .cancel, .trust: return delegate.decide(challenge, by: rule, at: now()).decision
        }
        return Decision(chosen.map { .useCredential($0) } ?? otherwise, attempts: rule.answers, reason: rule.reason)
    }

    /// Takes a stored certificate, else the answer of an operator.
    private func ask(_ challenge: AuthenticationChallenge, by rule: RuleDecision) -> Decision {
        let reason = rule.reason
        var chosen = choose(among: stored, from: .storage, besides: challenge.refused)
        switch progress.word ?? delegate.standingAct(for: challenge, by: rule) {
        case .use(let name)?:
            chosen = delegate.policy.credentials.certificate(named: name) ?? stored.first { $0.version.isNamed(name) }
        case .reject?:
            progress.isRejectedByOperator = true
            return Decision(.rejectProtectionSpace, reason: reason)
        case .cancel?:
            return Decision(
                .cancelAuthenticationChallenge, reason: "\(reason) asks the operator, who refused")
        case .password?, .trust?, nil: break
        }
        if let chosen, !challenge.refused.contains(chosen.version), pause(of: chosen.version) == nil {
            return Decision(.useCredential(chosen), attempts: rule.answers, reason: reason)
        }
        var subject = delegate.question(about: challenge, by: rule)
        subject?.response = progress.response
        subject?.details = issuers.map { "accepts \($0)" }
        progress.question = subject
        return Decision(.cancelAuthenticationChallenge, reason: "\(reason) asks the operator")
    }

    /// The stored certificates, the space's default first.
    var stored: [Credential] {
        let storage = delegate.state.storage
        let usual = storage.defaultCredential(for: space)
        let others = storage.credentials(for: space).sorted { $0.key < $1.key }.map(\.value)
            .filter { $0.version != usual?.version }
        return ((usual.map { [$0] } ?? []) + others).filter { $0.identity is Identity }
    }

    /// The source of candidates.
    private enum Source {
        case rule(RuleReference?)
        case storage
    }

    /// - Parameter refused: versions that are chosen only if there is no other.
    private func choose(
        among credentials: [Credential], from source: Source, besides refused: [CredentialVersion] = []
    ) -> Credential? {
        let eligible = eligible(credentials, from: source)
        let open = eligible.filter { !refused.contains($0.version) }
        return open.first { pause(of: $0.version) == nil } ?? open.first ?? eligible.last
    }

    private func eligible(_ credentials: [Credential], from source: Source) -> [Credential] {
        let accepted = credentials.filter(isAccepted)
        if !accepted.isEmpty { return accepted }
        switch source {
        case .rule(let rule): return issuers.isEmpty || namesHosts(rule) ? credentials : []
        // The user who stored the default knows the server.
        case .storage:
            let usual = delegate.state.storage.defaultCredential(for: space)
            return credentials.filter { $0.version == usual?.version }
        }
    }

    /// Whether the server says that it accepts certificates of this issuer.
    func isAccepted(_ credential: Credential) -> Bool {
        guard let identity = credential.identity as? Identity else { return false }
        return ([identity.leaf] + identity.intermediates).compactMap(\.issuer).contains { issuers.contains($0) }
    }

    private func namesHosts(_ rule: RuleReference?) -> Bool {
        delegate.policy.rules.configuration.challenges.contains { $0.rule == rule && $0.namesHosts }
    }

    /// The time for which a version is not shown.
    struct Pause: Equatable {
        /// The duration; nil: until the credential's value changes.
        let time: Milliseconds?
    }

    /// - Returns: nil if the version may be shown.
    func pause(of version: CredentialVersion) -> Pause? {
        if attempts.contains(where: { $0.version == version }) { return nil }
        let now = now()
        let end = delegate.state.spaces.accounts.hold(
            on: version, at: space.origin.serverName, for: Evidence.hash([UInt8]().span), now: now)
        return end.map { Pause(time: $0 == .distantFuture ? nil : max(0, $0 - now)) }
    }

    private func evidence(of credential: Credential) -> Evidence {
        delegate.state.spaces.accounts.evidence(of: credential, at: space.origin.serverName)
    }

    /// Asks the account of the certificate whether it may be shown. A handshake cannot wait. So if another connection
    /// awaits a verdict first, this one shows the certificate at the same time.
    /// - Returns: nil if the certificate may be shown.
    private func hold(_ answer: Answer) -> Pause? {
        let (evidence, now) = (evidence(of: answer.credential), now())
        if attempts.contains(where: { $0.version == answer.credential.version }) { return nil }
        var terms = Evidence.RetryTerms(retry: delegate.rule(for: space, failures: 0).retry)
        terms.mayProbe = false
        switch evidence.admit([UInt8]().span, under: terms, now: now) {
        case .send(let attempt): attempts.append(attempt)
        case .wait(let waiter):
            waiter.expire()
            attempts.append(Evidence.Attempt(sentAt: evidence.send(), evidence, for: [UInt8]().span))
        case .refused(_, let nextTry): return Pause(time: nextTry.map { max(0, $0 - now) })
        }
        return nil
    }

    /// Records the server's verdict on a certificate that it was shown.
    func settle(_ credential: Credential, _ verdict: Account.Verdict, because reason: String? = nil) {
        let evidence = evidence(of: credential)
        let attempt =
            attempts.first { $0.version == credential.version }
            ?? Evidence.Attempt(sentAt: evidence.send(), evidence, for: [UInt8]().span)
        attempts.removeAll { $0.version == credential.version }
        attempt.settle(verdict, because: reason, by: delegate.client, now: now())
    }

    /// The credential whose certificate a server has seen, once it has: perhaps long after the handshake.
    final class Shown: Sendable {
        private let shown = Mutex<Credential?>(nil)

        var credential: Credential? {
            get { shown.withLock { $0 } }
            set { shown.withLock { $0 = newValue } }
        }

        var name: String? { credential?.version.name }
    }
}

extension AuthenticationChallenge {
    init(of space: ProtectionSpace, acceptedBy issuers: [String], failures: Int = 0) {
        self.init(protectionSpace: space, proposedCredential: nil, previousFailureCount: failures, failureResponse: nil)
        distinguishedNames = issuers
    }
}

extension ConfiguredCredentials {
    /// The credential with a certificate and its current value.
    func certificate(named name: String) -> Credential? {
        (try? credential(named: name)).flatMap { $0.identity is Identity ? $0 : nil }
    }
}
