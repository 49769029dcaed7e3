import Authentication
import Bytes
import Challenges
import HTTP
import Upstream

/// The decision about a response, by all who may have asked for a credential.
enum ResponseVerdict {
    case pass(note: String?)
    case again
    case cancel(Refusal)

    public init(_ verdict: ChallengeLoop.Verdict) {
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
    /// Whether the request goes out without its body, since it can only bring the next challenge.
    public var omitsBody: Bool {
        challenges?.origin.loop?.omitsBody == true || challenges?.parent.loop?.omitsBody == true
    }

    /// Whether the next request can only bring the parent's next challenge.
    var isLoggingInAtParent: Bool { upstream.parentLogin?.context?.isOpening ?? false }

    /// Whether the parent itself wants something of us, and not of the client.
    private var isChallengedByParent: Bool {
        way.relay != nil && upstream.head.status == .proxyAuthenticationRequired
    }

    /// Judges a response's head; nil when that takes its time.
    func judgeAtOnce() -> ResponseVerdict? {
        if way.relay != nil {
            if isChallengedByParent { return nil }
            if let parent = challenges?.parent {
                guard let verdict = judge(by: parent, .proxy, at: parentTarget) else { return nil }
                guard case .pass(note: nil) = verdict else { return ResponseVerdict(verdict) }
            }
        }
        guard let origin = challenges?.origin else { return .pass(note: nil) }
        return judge(by: origin, .origin, at: target).map { ResponseVerdict($0) }
    }

    private func judge(
        by server: ExchangeChallenges.Server, _ fields: ChallengeFields, at target: ByteBuffer
    ) -> ChallengeLoop.Verdict? {
        switch server {
        case .ignored: return .pass(note: nil)
        case .known(let known):
            let passes = upstream.withValue(of: fields.information) {
                known.passes(upstream.head.status, information: $0, target: target.readable, from: fields)
            }
            return passes ? .pass(note: nil) : nil
        case .met(let loop): return loop.judgeAtOnce()
        }
    }

    /// Judges a response's head.
    func judge() async -> ResponseVerdict {
        if let parent = way.relay {
            let isChallenged = isChallengedByParent
            let wanted = isChallenged ? upstream.challenges(in: .proxyAuthenticate) : []
            let verdict = await challenges?.parent.loop?.judge() ?? .pass(note: nil)
            guard case .pass(let note) = verdict else { return ResponseVerdict(verdict) }
            if isChallenged { return .cancel(.unanswered(by: parent, challenges: wanted, note: note)) }
        }
        let verdict = await challenges?.origin.loop?.judge() ?? .pass(note: nil)
        if case .again = verdict { challenges?.parent.loop?.renew() }
        return ResponseVerdict(verdict)
    }
}
