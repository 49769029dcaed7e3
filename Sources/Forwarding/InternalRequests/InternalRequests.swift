import Challenges
import IO
import Upstream

/// Makes the requests that answers need.
enum InternalRequests: AnswerRequests {
    static func tokens(over upstreams: Upstreams, by policy: Policy) -> any TokenFetching {
        TokenClient(upstreams: upstreams, policy: policy)
    }

    static func pages(
        of exchange: Exchange, to destination: Destination, for downstream: Downstream
    ) -> (any LoginPages)? {
        LoginForms.of(downstream: downstream, exchange: exchange, destination: destination)
    }
}

extension Forwarding {
    public convenience init(policy: Policy, on loop: EventLoop) {
        self.init(policy: policy, on: loop, answering: InternalRequests.self)
    }
}
