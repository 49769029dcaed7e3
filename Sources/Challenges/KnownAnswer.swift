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
    public private(set) var state: AnswerState

    /// Finds it; nil where nothing is known, and where the answer needs a digest of the body or belongs to a
    /// session, whose pages have to be looked at.
    ///
    public init?(_ finding: AnswerSource.Finding, to challenger: Challenger, noting record: ExchangeRecord) {
        switch finding {
        case .answer(let prepared, let rule):
            self.init(prepared)
            record.note(AnswerRecord(prepared, by: rule), to: challenger)
        case .open, .answeredWhenAsked: self.init(state: .none)
        case .unproven, .trial, .unusable, .awaitsToken, .unknown: return nil
        }
    }

    private init(state: AnswerState) { self.state = state }

    private init?(_ prepared: PreparedAnswer) {
        switch prepared.binding {
        case .request(let authenticator): if authenticator.bodyDigest != nil { return nil }
        case .connection: break
        case .session: return nil
        }
        self.init(state: .prepared(prepared))
    }

    /// The answer to the request before, where it is that to this one too: what an `AnswerSource` would find, and nothing has
    /// to be gathered for.
    public init?(
        again target: Span<UInt8>, of client: () -> ClientIdentity, to challenger: Challenger,
        by policy: ChallengePolicy,
        in state: ChallengeState, noting record: ExchangeRecord
    ) {
        guard let latest = challenger.latestAnswer, latest.covers(target, of: client, by: policy, in: state) else {
            return nil
        }
        self.init(latest.prepared)
        record.note(latest.record, to: challenger)
    }

    public var answer: Answer? { state.prepared?.answer }

    /// The credential whose login the connection must have; nil when requests may share it.
    public var loginVersion: CredentialVersion? {
        wantsLogin ? state.prepared?.answer.credential.version : nil
    }

    /// Whether there is one.
    public var wantsLogin: Bool { state.prepared?.wantsLogin ?? false }

    /// The places of a credential that is sent unasked, if not in the field of answers.
    public var placement: RequestPlacement? {
        guard let prepared = state.prepared, case .request(let authenticator) = prepared.binding else { return nil }
        return authenticator.placement
    }

    /// Appends the value of the field that answers; false when there is none to send: a login stands on the connection, or
    /// the answer cannot be made, and the server says again what it wants.
    public mutating func authorize(method: Span<UInt8>, target: Span<UInt8>, into value: ByteBuffer) -> Bool {
        guard let prepared = state.prepared else { return false }
        guard case .request(let authenticator) = prepared.binding else {
            state.send(nil)
            return false
        }
        do throws(AuthenticationError) {
            state.send(try authenticator.authorize(method: method, target: target, bodyDigest: nil, into: value))
            return true
        } catch {
            value.clear()
            state = .none
            return false
        }
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
        guard case .sent(let prepared, let ticket) = state else { return true }
        if status.rawValue < 400 { prepared.answer.noteOpened(target) }
        if status.mayBeAboutAnswer, prepared.answer.isUnproven(at: target) { return false }
        // The response may name a scope that a token lacks.
        if status == .forbidden, prepared.answer.space.authenticationMethod == .bearer { return false }
        guard let ticket, status.rawValue < 500, case .request(let authenticator) = prepared.binding
        else {
            return true
        }
        switch authenticator.accepted(information, ticket: ticket, target: target, bodyDigest: nil) {
        case .verified, .unverified, .ignored: return true
        case .needsBody, .mismatch: return false
        }
    }
}
