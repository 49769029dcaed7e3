import Authentication
import Bytes
import Crypto
import HTTP
import Model
import Telemetry

/// An answer with its authenticator. A class, because it is passed on several times for each request.
public final class PreparedAnswer {
    public let authenticator: any Authenticator
    public let answer: Answer
    /// The authenticator's `binding`, which each request with an answer needs.
    let binding: AuthenticatorBinding
    /// The authenticator, if it answers request by request.
    private let requests: (any RequestAuthenticator)?
    /// The server's verdicts on the credential; nil if the answer was made for a challenge.
    let evidence: Evidence?
    private let isBearer: Bool
    /// Whether the answer belongs to a connection.
    let wantsLogin: Bool
    /// The weak mechanisms that the answer uses.
    let dated: WeakMechanisms

    public init(authenticator: any Authenticator, answer: Answer) {
        self.authenticator = authenticator
        self.answer = answer
        evidence = answer.evidence
        isBearer = answer.space.authenticationMethod == .bearer
        binding = authenticator.binding
        requests = if case .request(let requests) = binding { requests } else { nil }
        wantsLogin = if case .connection = binding { true } else { false }
        dated = WeakMechanisms(of: answer.space, usesMD5: requests?.usesMD5 ?? false)
    }

    /// Whether the answer can be sent with any number of requests, and without a digest of their bodies.
    var isRepeatable: Bool { requests?.isRepeatable ?? true }

    /// The number of requests that can still be sent with the answer.
    var uses: AnswerUses { requests?.uses ?? .many }

    /// The digest of the whole body that the answer needs next; nil if none.
    var bodyDigest: DigestAlgorithm? { requests?.bodyDigest }

    /// The fields and query parameters that a preemptive credential is written to; nil if it is written to the usual
    /// field, or is not preemptive.
    var placement: RequestPlacement? { requests?.placement }

    /// Appends the value of the field that answers a request.
    /// - Returns: nil where it does not belong to the request.
    func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) throws(AuthenticationError) -> AuthorizationTicket? {
        try requests?.authorize(method: method, target: target, bodyDigest: bodyDigest, into: value)
    }

    /// Whether the client gets a response unchanged that is not a challenge, to a request with this preemptive answer.
    ///
    /// - Parameters:
    ///   - ticket: the ticket of the request; nil if the answer belongs to the connection.
    ///   - information: the value of `Authentication-Info`, or of a proxy's corresponding field.
    ///   - target: the request target as the server sees it.
    func passes(
        _ status: Status, ticket: AuthorizationTicket?, information: Span<UInt8>?, target: Span<UInt8>
    ) -> Bool {
        if status.rawValue < 400 { evidence?.noteAccepted(target) }
        if status.mayBeAboutAnswer, answer.isUnproven(at: target) { return false }
        // The response may name a scope that a token lacks.
        if status == .forbidden, isBearer { return false }
        guard let ticket, status.rawValue < 500, let requests else { return true }
        switch requests.accepted(information, ticket: ticket, target: target, bodyDigest: nil) {
        case .verified, .unverified, .ignored: return true
        case .needsBody, .mismatch: return false
        }
    }

    /// The state of a request's answer.
    public enum State {
        /// The request is sent without an answer.
        case none
        /// The answer goes with the request's next head. Becomes `.sent`, or `.none` if the answer cannot be made.
        case prepared(PreparedAnswer)
        /// The answer was sent. The ticket is nil if the answer belongs to the connection. Becomes `.prepared` or
        /// `.none` after a challenge.
        case sent(PreparedAnswer, AuthorizationTicket?)

        /// The answer, whether sent or not.
        public var prepared: PreparedAnswer? {
            switch self {
            case .none: nil
            case .prepared(let prepared), .sent(let prepared, _): prepared
            }
        }

        /// The ticket by which a sent answer is judged.
        public var ticket: AuthorizationTicket? {
            if case .sent(_, let ticket) = self { ticket } else { nil }
        }

        /// Records that the answer is sent with this ticket.
        public mutating func send(_ ticket: AuthorizationTicket?) {
            if let prepared { self = .sent(prepared, ticket) }
        }

        /// Prepares to resend the request that the server accepted: the answer now counts as preemptive.
        public mutating func renew() {
            guard let prepared else { return }
            let answer = prepared.answer
            self = .prepared(
                PreparedAnswer(
                    authenticator: prepared.authenticator,
                    answer: Answer(space: answer.space, challenge: nil, credential: answer.credential)))
        }
    }
}

extension WeakMechanisms {
    fileprivate init(of space: ProtectionSpace, usesMD5: Bool) {
        let method = space.authenticationMethod
        let shown: WeakMechanisms = method.traits.credential == .password ? .passwordInClear : .tokenInClear
        self = method == .ntlm ? .ntlm : usesMD5 ? .md5 : space.receivesCredentialSecurely ? [] : shown
    }
}

extension ExchangeRecord {
    /// Records an answer to the challenger.
    func note(_ answer: AnswerRecord, to challenger: Challenger) {
        if challenger.isProxy { facts.parentAnswer = answer } else { facts.answer = answer }
    }

    /// Records an answer, with the rule that was recorded last.
    func note(_ prepared: PreparedAnswer, to challenger: Challenger) {
        let rule = answer(to: challenger)?.rule
        if let latest = challenger.latestRecord, latest.is(of: prepared, by: rule) {
            return note(latest, to: challenger)
        }
        let record = AnswerRecord(prepared, by: rule)
        challenger.latestRecord = record
        note(record, to: challenger)
    }

    /// Records the rule that decides about the challenger's challenges.
    public func note(_ rule: RuleReference?, about challenger: Challenger) {
        let former = answer(to: challenger)
        note(
            AnswerRecord(
                scheme: former?.scheme, credential: former?.credential, dated: former?.dated ?? [],
                rule: rule),
            to: challenger)
    }

    private func answer(to challenger: Challenger) -> AnswerRecord? {
        challenger.isProxy ? facts.parentAnswer : facts.answer
    }

    /// Counts an answer that was sent.
    func countAnswer(to challenger: Challenger) { if !challenger.isProxy { facts.attempts += 1 } }
}

extension AnswerRecord {
    convenience init(_ prepared: PreparedAnswer, by rule: RuleReference?) {
        let answer = prepared.answer
        self.init(
            scheme: AnsweredScheme(answer.space.authenticationMethod), credential: answer.credential.version.name,
            dated: prepared.dated, rule: rule)
    }

    /// Whether the initializer with these arguments would make this value.
    fileprivate func `is`(of prepared: PreparedAnswer, by rule: RuleReference?) -> Bool {
        self.rule === rule && dated == prepared.dated
            && scheme == AnsweredScheme(prepared.answer.space.authenticationMethod)
            && credential?.hasSameBytes(as: prepared.answer.credential.version.name) == true
    }
}
