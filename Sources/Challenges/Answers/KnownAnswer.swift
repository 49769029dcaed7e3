import Authentication
import Bytes
import HTTP
import Model
import Rules
import Telemetry

/// The answer that a request is given unasked, or none where its target was seen to need none: all that there is to know of
/// its challenges, as long as none comes. Then a `ChallengeLoop` goes on from here.
///
/// It is a few words, and finding it allocates nothing: most requests with an answer need no more.
public struct KnownAnswer {
    /// Nil: the request goes out without one.
    private var prepared: PreparedAnswer?
    private var isSent = false
    /// Of the request that it was sent with; nil where it belongs to the connection.
    private var ticket: AuthorizationTicket?
    /// Its place in the order in which answers with its credential are sent; 0: it belongs to the connection.
    private(set) var place = 0

    /// Finds it; nil where nothing is known, and where the answer needs a digest of the body, has a nonce that serves one
    /// request, or belongs to a session, whose pages have to be looked at.
    public init?(_ finding: AnswerSource.Finding, to challenger: Challenger, noting record: ExchangeRecord) {
        switch finding {
        case .answer(let prepared, let rule):
            self.init(giving: prepared)
            record.note(AnswerRecord(prepared, by: rule), to: challenger)
        case .open, .answeredWhenAsked: self.init(giving: nil)
        case .unproven, .unusable, .awaitsToken, .unknown: return nil
        }
    }

    private init?(giving prepared: PreparedAnswer?) {
        if let prepared {
            if !prepared.isRepeatable { return nil }
            if case .session = prepared.binding { return nil }
        }
        self.prepared = prepared
    }

    /// The answer to the request before, where it is that to this one too: what an `AnswerSource` would find, and nothing has
    /// to be gathered for.
    public static func again(
        _ target: Span<UInt8>, of client: () -> ClientIdentity, to challenger: Challenger, by policy: ChallengePolicy,
        in state: ChallengeState, noting record: ExchangeRecord
    ) -> KnownAnswer? {
        guard let latest = challenger.latestAnswer, latest.covers(target, of: client, by: policy, in: state),
            let known = KnownAnswer(giving: latest.prepared)
        else { return nil }
        record.note(latest.record, to: challenger)
        return known
    }

    /// How far it has come, for a loop that goes on from here.
    public var state: AnswerState {
        guard let prepared else { return .none }
        return isSent ? .sent(prepared, ticket) : .prepared(prepared)
    }

    public var answer: Answer? { prepared?.answer }

    /// The credential whose login the connection must have; nil when requests may share it.
    public var loginVersion: CredentialVersion? { wantsLogin ? prepared?.answer.credential.version : nil }

    /// Whether there is one.
    public var wantsLogin: Bool { prepared?.wantsLogin ?? false }

    /// The places of a credential that is sent unasked, if not in the field of answers.
    public var placement: RequestPlacement? { prepared?.placement }

    /// Appends the value of the field that answers; false when there is none to send: a login stands on the connection, or
    /// the answer cannot be made, and the server says again what it wants.
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

    /// Whether the credential's account is to hear that the server has accepted the answer, with a response that `passes`. To
    /// be asked once.
    public func isNews(_ status: Status) -> Bool {
        guard place > 0, let prepared, let evidence = prepared.evidence else { return false }
        return status.rawValue < (prepared.answer.isUnasked ? 400 : 500) && evidence.wantsAcceptance
    }

    /// Tells the account that the server has accepted the answer.
    ///
    /// - Parameters:
    ///   - sample: the request, if it can be repeated.
    ///   - client: the client whose request it is; nil: it is the proxy's own.
    ///   - now: milliseconds since 1970.
    public func noteAcceptance(at target: Span<UInt8>, sample: Account.Sample?, of client: ClientIdentity?, now: Int) {
        prepared?.evidence?.judge(place, .accepted, at: target, sample: sample, by: client, now: now)
    }

    /// Whether the client gets a response without more; else a loop judges it, for which nothing has happened yet.
    ///
    /// - Parameters:
    ///   - information: the value of `Authentication-Info`, or of the field that a proxy says the same in.
    ///   - target: of the request, as the server sees it.
    public func passes(
        _ status: Status, information: Span<UInt8>?, target: Span<UInt8>, from fields: ChallengeFields
    ) -> Bool {
        if status == fields.status { return false }
        guard isSent, let prepared else { return true }
        // A parent may refuse its own answer so.
        if status == .unauthorized, fields.status != .unauthorized, ticket != nil { return false }
        return prepared.passes(status, ticket: ticket, information: information, target: target)
    }
}
