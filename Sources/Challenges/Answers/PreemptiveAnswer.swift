import Authentication
import Bytes
import HTTP
import Model
import Telemetry

/// The known answer of a request, or none if its target needs none. It is all that a request needs, unless a challenge
/// comes; a `ChallengeLoop` then continues from here.
///
/// It is small, and finding it allocates nothing: most requests with an answer need no more.
public struct PreemptiveAnswer {
    /// The answer; nil if the request is sent without one.
    private var prepared: PreparedAnswer?
    private var isSent = false
    /// The ticket of the request that the answer was sent with; nil if the answer belongs to the connection.
    private var ticket: AuthorizationTicket?
    /// The position in the order in which answers with its credential are sent; 0 if it belongs to the connection.
    private(set) var place = 0

    /// Creates it; nil if no answer is known. Also nil if the answer needs a digest of the body, has a nonce that
    /// serves one request, or belongs to a session, whose pages must be read.
    public init?(_ finding: AnswerSource.Finding, to challenger: Challenger, noting record: ExchangeRecord) {
        switch finding {
        case .answer(let prepared, let rule):
            self.init(giving: prepared)
            record.note(AnswerRecord(prepared, by: rule), to: challenger)
        case .open, .answeredWhenAsked: self.init(giving: nil)
        case .unproven, .unusable, .awaitsToken, .awaitsHelper, .unknown: return nil
        }
    }

    private init?(giving prepared: PreparedAnswer?) {
        if let prepared {
            if !prepared.isRepeatable { return nil }
            if case .session = prepared.binding { return nil }
        }
        self.prepared = prepared
    }

    /// The previous request's answer, if it also fits this one. It is what an `AnswerSource` would find, at lower cost.
    public static func again(
        _ target: Span<UInt8>, of client: () -> ClientIdentity, to challenger: Challenger, by policy: ChallengePolicy,
        in state: ChallengeState, noting record: ExchangeRecord
    ) -> PreemptiveAnswer? {
        guard let latest = challenger.latestAnswer, latest.covers(target, of: client, by: policy, in: state),
            let known = PreemptiveAnswer(giving: latest.prepared)
        else { return nil }
        record.note(latest.record, to: challenger)
        return known
    }

    /// The state of the answer, for a loop that continues from here.
    public var state: PreparedAnswer.State {
        guard let prepared else { return .none }
        return isSent ? .sent(prepared, ticket) : .prepared(prepared)
    }

    public var answer: Answer? { prepared?.answer }

    /// The credential whose login the connection must have; nil if requests may share it.
    public var loginVersion: CredentialVersion? { wantsLogin ? prepared?.answer.credential.version : nil }

    /// Whether the connection needs a login.
    public var wantsLogin: Bool { prepared?.wantsLogin ?? false }

    /// The fields and query parameters that a preemptive credential is written to; nil if it is written to the usual
    /// field.
    public var placement: RequestPlacement? { prepared?.placement }

    /// Appends the value of the field that answers; false if no answer is due: the connection is logged in already, or
    /// the answer cannot be made and the server challenges again.
    public mutating func authorize(method: Span<UInt8>, target: Span<UInt8>, into value: ByteBuffer) -> Bool {
        do throws(AuthenticationError) {
            ticket = try prepared?.authorize(method: method, target: target, bodyDigest: nil, into: value)
            isSent = true
            guard ticket != nil else { return false }
            place = prepared?.evidence?.send() ?? 0
            return true
        } catch {
            value.clear()
            prepared = nil
            return false
        }
    }

    /// Whether the server's acceptance must be reported to the credential's account, after a response that `passes`.
    /// It counts the acceptance. Call it once.
    public func isNews(_ status: Status) -> Bool {
        // The optionals are looked at in their place: a copy of them would cost references for each response.
        guard place > 0, status.rawValue < (prepared?.answer.isPreemptive == true ? 400 : 500) else { return false }
        return prepared?.evidence?.countAcceptance() ?? false
    }

    /// Reports to the account that the server has accepted the answer.
    ///
    /// - Parameters:
    ///   - sample: the request, if it can be repeated.
    ///   - client: the client of the request; nil for the proxy's own.
    public func noteAcceptance(
        at target: Span<UInt8>, sample: Account.Sample?, of client: ClientIdentity?, now: WallTime
    ) {
        prepared?.evidence?.judge(place, .accepted, at: target, sample: sample, by: client, now: now)
    }

    /// Whether the client gets a response unchanged; if not, a loop judges it, and nothing has happened yet.
    ///
    /// - Parameters:
    ///   - information: the value of `Authentication-Info`, or of a proxy's corresponding field.
    ///   - target: the request target as the server sees it.
    public func passes(
        _ status: Status, information: Span<UInt8>?, target: Span<UInt8>, from fields: ChallengeFields
    ) -> Bool {
        if status == fields.status { return false }
        guard isSent else { return true }
        // A parent may refuse its own answer with this status.
        if status == .unauthorized, fields.status != .unauthorized, ticket != nil { return false }
        return prepared?.passes(status, ticket: ticket, information: information, target: target) ?? true
    }
}
