import Authentication
import Bytes
import Challenges
import HTTP
import IO
import Telemetry
import Upstream

/// The challenges of all servers on the path of one request.
///
/// A class of its own, which the exchange reuses: most requests have no challenges, and one look at a reference shows
/// that.
final class ExchangeChallenges {
    /// The result for a response, as far as one server's challenges are concerned.
    enum Passage {
        /// A loop judges it; nothing has happened yet.
        case isMet
        /// The client gets it unchanged.
        case passes
        /// The client gets it unchanged, and the account of the known answer needs to know that the server has accepted
        /// it.
        case passesAsNews
    }

    /// The state of one server's challenges.
    enum Server {
        /// Challenges are the client's own business.
        case ignored
        /// The request is sent with this answer, and no challenge has come. Becomes `.met` if one does.
        case known(PreemptiveAnswer)
        case met(ChallengeLoop)

        /// Whether the proxy answers the challenges.
        var isOurs: Bool {
            if case .ignored = self { false } else { true }
        }

        var loop: ChallengeLoop? {
            if case .met(let loop) = self { loop } else { nil }
        }

        var known: PreemptiveAnswer? {
            if case .known(let known) = self { known } else { nil }
        }

        /// The credential whose login the connection must have or be free for; nil if requests may share it.
        var loginVersion: CredentialVersion? {
            switch self {
            case .ignored: nil
            case .known(let known): known.loginVersion
            case .met(let loop): loop.loginVersion
            }
        }

        /// Whether the latest request was sent with an answer.
        var hasAnswered: Bool {
            switch self {
            case .ignored: false
            case .known(let known): known.state.ticket != nil
            case .met(let loop): loop.hasAnswered
            }
        }

        /// Whether the connection needs a login.
        var wantsLogin: Bool {
            switch self {
            case .ignored: false
            case .known(let known): known.wantsLogin
            case .met(let loop): loop.loginVersion != nil
            }
        }

        /// The fields and query parameters that a preemptive credential is written to; nil if it is written to the usual
        /// field.
        var placement: RequestPlacement? {
            switch self {
            case .ignored: nil
            case .known(let known): known.placement
            case .met(let loop): loop.placement
            }
        }

        /// Judges the response that has arrived by the known answer. Call it once for each response.
        ///
        /// - Parameters:
        ///   - status: the status by which it is judged.
        ///   - target: the request target as the server sees it.
        mutating func passage(
            of response: UpstreamConnection, _ status: Status, _ fields: ChallengeFields, at target: ByteBuffer
        ) -> Passage {
            switch self {
            case .ignored: return .passes
            case .known(let known):
                // It is moved out and back to avoid reference counting.
                self = .ignored
                defer { self = .known(known) }
                let passes = response.withValue(of: fields.information) {
                    known.passes(status, information: $0, target: target.readable, from: fields)
                }
                guard passes else { return .isMet }
                return known.isNews(status) ? .passesAsNews : .passes
            case .met: return .isMet
            }
        }

        /// Judges a response's head. A known answer's response is already known to pass.
        /// - Returns: nil if work must be done first.
        func judge() -> ChallengeVerdict? {
            if case .met(let loop) = self { loop.judge() } else { .pass(note: nil) }
        }

        /// Appends the field value that answers; false if there is no answer.
        ///
        /// - Parameter record: the record that counts the answer; nil for a parent, whose answers are not counted.
        mutating func authorize(
            method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer,
            countedBy record: ExchangeRecord?
        ) -> Bool {
            switch self {
            case .ignored: return false
            case .known(var known):
                // It is moved out and back to avoid reference counting.
                self = .ignored
                let isAnswered = known.authorize(method: method, target: target, into: value)
                self = .known(known)
                if isAnswered { record?.facts.attempts += 1 }
                return isAnswered
            case .met(let loop):
                return loop.authorize(method: method, target: target, bodyDigest: bodyDigest, into: value)
            }
        }
    }

    var origin = Server.ignored
    /// The challenges of the parent that makes the request.
    var parent = Server.ignored
    /// The cookies that came with challenges; nil if none came.
    var cookies: ChallengeCookies?

    /// The credentials whose logins the connection must have or be free for: at the origin, and at the parent.
    var loginVersions: (CredentialVersion?, CredentialVersion?) { (origin.loginVersion, parent.loginVersion) }

    /// Does the work that the challenges wait for.
    func performWork() async {
        await parent.loop?.performWork()
        await origin.loop?.performWork()
    }

    /// Whether an answer needs a digest of the body, or the next token of a login.
    func wantsPreparation(over upstream: UpstreamConnection) -> Bool {
        if origin.loop?.bodyDigest != nil || parent.loop?.bodyDigest != nil { return true }
        if origin.wantsLogin, upstream.login?.context?.isEstablished != true { return true }
        return parent.wantsLogin && upstream.parentLogin?.context?.isEstablished != true
    }
}
