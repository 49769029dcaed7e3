import Authentication
import Bytes
import Challenges
import HTTP
import IO
import Telemetry
import Upstream

/// The challenges of the servers on the way of one request.
///
/// It stands apart from the exchange, which keeps it from request to request: most requests have none, and to see that
/// takes a look at one reference.
final class ExchangeChallenges {
    /// How the challenges of one server are met.
    enum Server {
        /// Should any come, they are the client's own affair.
        case ignored
        /// The request goes out with that answer, and no challenge has come. Becomes `.met` when one does.
        case known(KnownAnswer)
        case met(ChallengeLoop)

        /// Whether they are ours to answer.
        var isOurs: Bool {
            if case .ignored = self { false } else { true }
        }

        var loop: ChallengeLoop? {
            if case .met(let loop) = self { loop } else { nil }
        }

        var known: KnownAnswer? {
            if case .known(let known) = self { known } else { nil }
        }

        /// The credential whose login the connection must have, or be free for; nil when requests may share it.
        var loginVersion: CredentialVersion? {
            switch self {
            case .ignored: nil
            case .known(let known): known.loginVersion
            case .met(let loop): loop.loginVersion
            }
        }

        /// Whether the latest request went out with an answer.
        var hasAnswered: Bool {
            switch self {
            case .ignored: false
            case .known(let known): known.state.ticket != nil
            case .met(let loop): loop.hasAnswered
            }
        }

        /// Whether there is one.
        var wantsLogin: Bool {
            switch self {
            case .ignored: false
            case .known(let known): known.wantsLogin
            case .met(let loop): loop.loginVersion != nil
            }
        }

        /// The places of a credential that is sent unasked, if not in the field of answers.
        var placement: RequestPlacement? {
            switch self {
            case .ignored: nil
            case .known(let known): known.placement
            case .met(let loop): loop.placement
            }
        }

        /// Whether the client gets the response without more.
        ///
        /// - Parameter target: of the request, as the server sees it.
        func passes(_ response: UpstreamConnection, _ fields: ChallengeFields, at target: ByteBuffer) -> Bool {
            switch self {
            case .ignored: true
            case .known(let known):
                response.withValue(of: fields.information) {
                    known.passes(response.head.status, information: $0, target: target.readable, from: fields)
                }
            case .met: false
            }
        }

        /// The decision about a response's head, which is as the known answer had led to expect.
        /// - Returns: nil where work is to be done first.
        func judge() -> ChallengeVerdict? {
            if case .met(let loop) = self { loop.judge() } else { .pass(note: nil) }
        }

        /// Appends the value of the field that answers; false when there is none to send.
        ///
        /// - Parameter record: nil for a parent, whose answers are not counted.
        mutating func authorize(
            method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer,
            countedBy record: ExchangeRecord?
        ) -> Bool {
            switch self {
            case .ignored: return false
            case .known(var known):
                // Moved out and back, so that nobody counts it.
                self = .ignored
                let isAnswered = known.authorize(method: method, target: target, into: value)
                self = .known(known)
                if isAnswered { record?.attempts += 1 }
                return isAnswered
            case .met(let loop):
                return loop.authorize(method: method, target: target, bodyDigest: bodyDigest, into: value)
            }
        }
    }

    var origin = Server.ignored
    /// The parent that makes the request.
    var parent = Server.ignored
    /// Those of the challenges that were met; nil: there were none.
    var cookies: ChallengeCookies?

    /// The credentials whose logins the connection must have, or be free for, at the origin and at the parent.
    var loginVersions: (CredentialVersion?, CredentialVersion?) { (origin.loginVersion, parent.loginVersion) }

    /// Does the work that they wait for.
    func performWork() async {
        await parent.loop?.performWork()
        await origin.loop?.performWork()
    }

    /// Whether an answer needs a digest of the body, or a login's next token.
    func wantsPreparation(over upstream: UpstreamConnection) -> Bool {
        if origin.loop?.bodyDigest != nil || parent.loop?.bodyDigest != nil { return true }
        if origin.wantsLogin, upstream.login?.context?.isEstablished != true { return true }
        return parent.wantsLogin && upstream.parentLogin?.context?.isEstablished != true
    }
}
