import Authentication
import Bytes
import HTTP
import Telemetry

/// What is different where a parent makes the request.
extension Forwarding {
    /// Whether a parent could make the request itself. What changes to another protocol goes through a tunnel (RFC 6455
    /// section 4.1), and so does what only the origin may read.
    var mayBeRelayed: Bool {
        !destination.origin.isSecure && exchange.request.upgrade == nil && exchange.request.authority != nil
    }

    /// From now on the request goes that way.
    /// - Returns: whether it is another than before.
    @discardableResult
    mutating func take(_ way: Way) -> Bool {
        if let parent = way.parent, exchange.way.parent === parent { return false }
        if way.parent == nil, exchange.way.parent == nil { return false }
        exchange.challengers?.parent = nil
        exchange.way = way
        exchange.record.parent = way.parent?.label
        return true
    }

    /// What answers the parent's challenges, if anything could.
    private var freshParentChallenges: ChallengeLoop? {
        guard let parent = exchange.way.relay, parent.mayBeAnswered(by: exchange.policy, in: requester.shared)
        else { return nil }
        let head = exchange.headBytes
        exchange.parentTarget.clear()
        exchange.request.appendTarget(head.readable, form: .absolute(.http), to: exchange.parentTarget)
        return ChallengeLoop(
            requester: requester, exchange: exchange, origin: parent.origin, over: exchange.upstream,
            target: exchange.parentTarget, hasBody: !exchange.body.isEmpty)
    }

    /// Whether the parent's challenges, should any come, need no waiting before.
    mutating func prepareParentAtOnce() -> Bool {
        guard exchange.way.relay != nil, var challenges = freshParentChallenges else { return true }
        guard challenges.prepareAtOnce(), challenges.bodyDigest == nil else { return false }
        exchange.beginAtParent(challenges)
        return true
    }

    mutating func beginParentChallenges() async {
        guard exchange.way.relay != nil, let challenges = freshParentChallenges else { return }
        exchange.beginAtParent(challenges)
        await exchange.challengers?.parent?.prepare()
        sending.prepareForParent()
    }
}
