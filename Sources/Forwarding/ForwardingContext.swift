import Crypto
import HTTP
import Upstream

/// One request on its way: the requester, the working set, and the destination. The machines that carry it get it from their
/// caller at every step, and hold none of it themselves.
public struct ForwardingContext {
    public let requester: Requester
    public let exchange: Exchange
    public let destination: Destination

    public init(requester: Requester, exchange: Exchange, destination: Destination) {
        self.requester = requester
        self.exchange = exchange
        self.destination = destination
    }

    public var origin: UpstreamServer { destination.origin }
    public var policy: Policy { exchange.policy }
    /// Where a copy of the request's body is kept.
    public var room: ReplayRoom { ReplayRoom(policy.limits, in: requester.shared.spool) }

    /// Sees to it that a small body can be sent again where the connection turns out to be dead.
    func keepSmallBody() {
        guard !exchange.body.isEmpty, exchange.request.method.isIdempotent,
            case .length(let length) = exchange.body.framing, length <= policy.limits.replayMemory
        else { return }
        exchange.body.keepCopy(in: room)
    }

    /// The digest of the request's whole body, of which a copy is kept; as `RequestBody.digest`.
    public func bodyDigest(_ algorithm: DigestAlgorithm, mayLeaveOut: Bool) async throws(ExchangeFailure) -> [UInt8]? {
        do throws(RequestBody.Failure) {
            return try await exchange.body.digest(
                algorithm, in: room, from: requester.stream, inbound: exchange.inbound, idle: policy.timeouts.idle,
                mayLeaveOut: mayLeaveOut)
        } catch { throw ExchangeFailure(error) }
    }

    /// Sends the copy of the request's body to its file, or reads it back, as `RequestSending` wants it.
    func workOnCopy() async throws(ExchangeFailure) {
        if exchange.body.wantsKeeping { return await exchange.body.keep(exchange.inbound) }
        guard await exchange.body.readBack() else { throw ExchangeFailure(.copyLost) }
    }
}
