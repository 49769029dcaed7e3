import Authentication
import Bytes
import HTTP
import IO
import PAC
import Rules
import Telemetry

/// The upstream side of one loop: the requested servers, the connections to them, and everything needed to make more.
/// It belongs to the loop, so nothing is locked.
public final class Upstreams {
    public let loop: EventLoop
    public let shared: SharedState
    public let network: any Network
    public let metrics: Metrics
    /// The policy of requests that begin now.
    public private(set) var policy: Policy
    /// Whether requests no longer begin on idle connections.
    public private(set) var isDraining = false
    private var origins: OriginTable
    /// The connections that are logged in for every client. The idle pool lists them too, and closes them with the
    /// others.
    let logins = HeldConnections(limit: HeldConnections.ofLoop)

    /// - Parameters:
    ///   - network: the access to other hosts.
    ///   - idleLimit: the limit of idle connections of this loop.
    public init(policy: Policy, shared: SharedState, on loop: EventLoop, in network: any Network, idleLimit: Int) {
        self.loop = loop
        self.shared = shared
        self.policy = policy
        metrics = Metrics()
        origins = OriginTable(
            idleLimit: idleLimit, tlsAnswers: shared.tlsAnswers, metrics: metrics, parents: shared.parents)
        self.network = network
    }

    /// The destination of requests for that scheme, host (in any case) and port by these rules.
    public func destination(_ scheme: Scheme, host: Span<UInt8>, port: UInt16, by rules: RuleSet) -> Destination {
        origins.destination(scheme, host: host, port: port, by: rules)
    }

    /// The ways to an origin, as in `ParentTable`.
    public func hops(of parentList: ParentList, to origin: UpstreamServer, found: [String: [PACWay]]) -> [Hop] {
        let host = origin.host
        return origins.hops(of: parentList, to: host.span, found: found)
    }

    /// Makes new requests follow this policy. Connections that another policy allowed are not reused.
    public func adopt(_ policy: Policy) {
        self.policy = policy
        origins.closeIdle()
    }

    /// Closes the idle connections. From now on no connection is kept for another client.
    public func drain() {
        isDraining = true
        origins.closeIdle()
    }

    /// Closes the longest idle connections.
    /// - Returns: the number of closed connections.
    public func closeOldest(_ count: Int) -> Int { origins.closeOldest(count) }

    /// Closes the connections that the retirement names.
    public func retire(_ retirement: Retirement) {
        logins.retire(retirement)
        if case .tlsAnswers = retirement { origins.closeOutdated() }
    }
}
