import Authentication
import HTTP

/// A response on its way back meets whoever was asked on the way there: the parent first, whose refusal of the request
/// says nothing of the origin's.
extension Exchange {
    /// Whether the request goes out without its body, since it can only bring the next challenge.
    var omitsBody: Bool {
        challengers?.origin?.omitsBody == true || challengers?.parent?.omitsBody == true
    }

    /// Whether the next request can only bring the parent's next challenge.
    var isLoggingInAtParent: Bool { upstream.parentLogin?.context?.isOpening ?? false }

    /// Whether the parent itself wants something of us, and not of the client.
    private var isChallengedByParent: Bool {
        way.relay != nil && upstream.head.status == .proxyAuthenticationRequired
    }

    /// Judges a response's head; nil when that takes its time.
    func judgeAtOnce() -> ChallengeLoop.Verdict? {
        if way.relay != nil {
            if isChallengedByParent { return nil }
            if let challengers, challengers.hasParent {
                guard let verdict = challengers.parent?.judgeAtOnce() else { return nil }
                guard case .pass(note: nil) = verdict else { return verdict }
            }
        }
        guard let challengers, challengers.hasOrigin else { return .pass(note: nil) }
        return challengers.origin?.judgeAtOnce()
    }

    /// Judges a response's head.
    func judge() async -> ChallengeLoop.Verdict {
        if let parent = way.relay {
            let isChallenged = isChallengedByParent
            let wanted = isChallenged ? upstream.challenges(in: .proxyAuthenticate) : []
            let verdict = await challengers?.parent?.judge() ?? .pass(note: nil)
            guard case .pass(let note) = verdict else { return verdict }
            if isChallenged { return .cancel(.unanswered(by: parent, challenges: wanted, note: note)) }
        }
        let verdict = await challengers?.origin?.judge() ?? .pass(note: nil)
        if case .again = verdict { challengers?.parent?.renew() }
        return verdict
    }
}
