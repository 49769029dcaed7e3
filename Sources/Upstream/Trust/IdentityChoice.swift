import Authentication
import Bytes
import Challenges
import Credentials
import Model
import Rules
import TLS
import Telemetry

/// Which certificate a server is shown that asks for one: at the first handshake, or at any later moment of its connection.
///
/// Each time it asks is a challenge to the rules, which `ChallengeTask` takes through parked and refused certificates. Of
/// those that the answering rule names, the first whose issuer the server accepts is shown. Where it accepts none of them, a
/// rule that names its hosts shows the first nevertheless, as its author knows the server; one for any host shows none, since
/// a certificate tells a stranger who we are. Where the rules say `default`, or nothing, the store is asked for what was kept
/// for the server.
final class IdentityChoice {
    /// The certificate that the server has seen on this connection.
    let shown = ShownIdentity()
    let delegate: RuleDelegate
    let space: ProtectionSpace
    /// Where the request stood when the connection began.
    let beginning: IdentityProgress
    var progress: IdentityProgress
    /// The challenge that the rules were asked about first, when the server asked last; nil: it has not asked.
    private(set) var challenge: AuthenticationChallenge?
    /// The issuers that it accepts; empty: any.
    private(set) var issuers: [DistinguishedName] = []
    /// How often it has asked.
    private(set) var requests = 0
    /// Whether anything of the connection's requests for certificates is still to be noted.
    var hasNews = false
    /// Whether the handshake is done.
    var isOpen = false
    /// Whether it was behind the handshake, about a request, that the server asked last.
    private(set) var isAboutRequest = false
    /// The answers that this connection leads with, until the server's verdict.
    private var attempts: [Attempt] = []
    /// Whether a TLS session may be resumed, in which the server judges no certificate.
    var mayResume = true
    /// Whether the server may see a certificate at all: a rule speaks of it, or one is stored for it.
    let mayShow: Bool
    private let metrics: Metrics
    private let now: () -> Int

    /// - Parameters:
    ///   - mayShow: whether the server may see a certificate at all.
    ///   - now: milliseconds since 1970.
    init(
        _ delegate: RuleDelegate, for origin: Origin, mayShow: Bool, after progress: IdentityProgress = .init(),
        metrics: Metrics, now: @escaping () -> Int
    ) {
        self.delegate = delegate
        space = ProtectionSpace(clientCertificateOf: origin)
        self.mayShow = mayShow
        beginning = progress
        self.progress = progress
        self.metrics = metrics
        self.now = now
    }

    /// - Parameter issuers: those that the server accepts; none: any.
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

    /// The server has refused the certificate that it was shown.
    func refused() -> ChallengeTask.Action { progress.task.challenged(nil, offers: [offer], refusal: .refused) }

    /// Goes on until it is known what is shown.
    /// - Returns: nil for nothing; `progress` says why.
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
                action = progress.task.heldBack(nil, offers: [offer], for: pause.milliseconds)
            case .pass(let reason):
                progress.end = .declined(reason)
                return nil
            case .cancel(let reason):
                progress.end = .cancelled(reason: reason)
                return nil
            // These follow a refusal, and are carried out before.
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
            let reason = rule.reason
            return Decision(.rejectProtectionSpace, reason: reason, report: rule.action.words)
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
        let reason = rule.reason
        return Decision(
            chosen.map { .useCredential($0) } ?? otherwise, attempts: rule.answers, reason: reason)
    }

    /// What is stored, else what an operator says.
    private func ask(_ challenge: AuthenticationChallenge, by rule: Ruling) -> Decision {
        let reason = rule.reason
        let kept = choose(among: stored, from: .storage, besides: challenge.refused)
        var chosen = kept
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

    /// The stored ones, the space's default first.
    var stored: [Credential] {
        let storage = delegate.state.storage
        let usual = storage.defaultCredential(for: space)
        let others = storage.credentials(for: space).sorted { $0.key < $1.key }.map(\.value)
            .filter { $0.version != usual?.version }
        return ((usual.map { [$0] } ?? []) + others).filter { $0.identity is Identity }
    }

    /// Where candidates come from.
    private enum Source {
        case rule(RuleReference?)
        case storage
    }

    /// - Parameter refused: versions that are chosen only where there is no other.
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
        // Whoever stored the default knows the server.
        case .storage:
            let usual = delegate.state.storage.defaultCredential(for: space)
            return credentials.filter { $0.version == usual?.version }
        }
    }

    /// Whether the server says that it takes certificates of its issuers.
    func isAccepted(_ credential: Credential) -> Bool {
        (credential.identity as? Identity)?.isIssued(byOneOf: issuers) ?? false
    }

    private func namesHosts(_ rule: RuleReference?) -> Bool {
        delegate.policy.rules.configuration.challenges.contains { $0.rule == rule && !$0.hosts.isEmpty }
    }

    /// For how long a version is not shown.
    struct Pause: Equatable {
        /// Nil: until its value is set anew.
        let milliseconds: Int?
    }

    /// - Returns: nil where it may be shown.
    func pause(of version: CredentialVersion) -> Pause? {
        if attempts.contains(where: { $0.version == version }) { return nil }
        let now = now()
        let end = delegate.state.spaces.accounts.hold(
            on: version, at: space.origin.serverName, for: Evidence.hash([UInt8]().span), now: now)
        return end.map { Pause(milliseconds: $0 == .max ? nil : max(0, $0 - now)) }
    }

    private func evidence(of credential: Credential) -> Evidence {
        delegate.state.spaces.accounts.evidence(of: credential, at: space.origin.serverName)
    }

    /// Asks the account of the certificate whether it may be shown. A handshake cannot wait: where the verdict on another
    /// connection comes first, it is shown beside that one.
    /// - Returns: nil where it may.
    private func hold(_ answer: Answer) -> Pause? {
        let (evidence, now) = (evidence(of: answer.credential), now())
        if attempts.contains(where: { $0.version == answer.credential.version }) { return nil }
        var terms = RetryTerms(retry: delegate.rule(for: space, failures: 0).retry)
        terms.mayProbe = false
        switch evidence.admit([UInt8]().span, under: terms, now: now) {
        case .send(let attempt): attempts.append(attempt)
        case .wait(let waiter):
            waiter.expire()
            attempts.append(Attempt(sentAt: evidence.send(), evidence, for: [UInt8]().span))
        case .refused(_, let nextTry): return Pause(milliseconds: nextTry.map { max(0, $0 - now) })
        }
        return nil
    }

    /// The server's verdict on a certificate that it was shown.
    func settle(_ credential: Credential, _ verdict: AnswerVerdict, because reason: String? = nil) {
        let evidence = evidence(of: credential)
        let attempt =
            attempts.first { $0.version == credential.version }
            ?? Attempt(sentAt: evidence.send(), evidence, for: [UInt8]().span)
        attempts.removeAll { $0.version == credential.version }
        attempt.settle(verdict, because: reason, by: delegate.client, now: now())
    }
}

extension AuthenticationChallenge {
    fileprivate init(of space: ProtectionSpace, acceptedBy issuers: [String]) {
        self.init(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil)
        distinguishedNames = issuers
    }
}

extension Identity {
    func isIssued(byOneOf issuers: [DistinguishedName]) -> Bool {
        ([leaf] + intermediates).contains { certificate in
            certificate.issuer.map { issuers.contains($0) } ?? false
        }
    }
}

extension ConfiguredCredentials {
    /// A credential with a certificate, as it is at this moment.
    func certificate(named name: String) -> Credential? {
        (try? credential(named: name)).flatMap { $0.identity is Identity ? $0 : nil }
    }
}
