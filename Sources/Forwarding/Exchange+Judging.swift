import Authentication
import Bytes
import Challenges
import HTTP
import Upstream

/// The decision about a response, by all who may have asked for a credential.
enum ResponseVerdict {
    case pass(note: String?)
    case again
    indirect case cancel(Refusal)

    public init(_ verdict: ChallengeVerdict) {
        switch verdict {
        case .pass(let note): self = .pass(note: note)
        case .again: self = .again
        case .cancel(let failure): self = .cancel(Refusal(failure.status, failure.error, failure.sentence))
        }
    }
}

/// A response on its way back meets the servers that were asked on the way there: the parent first, whose refusal of the
/// request says nothing of the origin's.
extension Exchange {
    /// Reading a response before it is passed on must not wait for a body that does not go on. The body of a
    /// challenge is not read.
    var mayReadAhead: Bool {
        upstream.head.status != .unauthorized && upstream.head.status != .proxyAuthenticationRequired
    }

    /// Whether the request goes out without its body, since it can only bring the next challenge.
    public var omitsBody: Bool {
        challenges?.origin.loop?.omitsBody == true || challenges?.parent.loop?.omitsBody == true
    }

    /// Whether the next request can only bring the parent's next challenge.
    var isLoggingInAtParent: Bool { upstream.parentLogin?.context?.isOpening ?? false }

    /// Whether the client gets the response without more: nobody's challenges are met, or nothing came back that the answers
    /// which were known had not led to expect.
    var passesAsKnown: Bool {
        if way.relay != nil, upstream.head.status == .proxyAuthenticationRequired { return false }
        guard let challenges else { return true }
        return (way.relay == nil || passesAsKnown(by: challenges.parent, .proxy, at: parentTarget))
            && passesAsKnown(by: challenges.origin, .origin, at: target)
    }

    private func passesAsKnown(
        by server: ExchangeChallenges.Server, _ fields: ChallengeFields, at target: ByteBuffer
    ) -> Bool {
        switch server {
        case .ignored: true
        case .known(let known):
            upstream.withValue(of: fields.information) {
                known.passes(upstream.head.status, information: $0, target: target.readable, from: fields)
            }
        case .met: false
        }
    }

    /// The decision about a response of the parent that makes the request.
    /// - Returns: nil where work is to be done first.
    func judgeByParent() -> ResponseVerdict? {
        guard let parent = way.relay else { return .pass(note: nil) }
        let isChallenged = upstream.head.status == .proxyAuthenticationRequired
        guard let verdict = (challenges?.parent ?? .ignored).judge() else { return nil }
        guard isChallenged, case .pass(let note) = verdict else { return ResponseVerdict(verdict) }
        // The parent itself wants something of us, and not of the client.
        return .cancel(.unanswered(by: parent, challenges: upstream.challenges(in: .proxyAuthenticate), note: note))
    }

    /// The decision about a response of the origin.
    /// - Returns: as above.
    func judgeByOrigin() -> ResponseVerdict? {
        guard let verdict = (challenges?.origin ?? .ignored).judge() else { return nil }
        if case .again = verdict { challenges?.parent.loop?.renew() }
        return ResponseVerdict(verdict)
    }
}
