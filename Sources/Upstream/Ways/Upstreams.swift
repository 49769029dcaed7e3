import Authentication
import Bytes
import HTTP
import IO
import PAC
import Rules
import Telemetry

/// The upstream side of one loop: the servers that requests ask for, the connections to them, and what it takes to make
/// more. Everything here belongs to the loop, so nothing is locked.
public final class Upstreams {
    public let loop: EventLoop
    public let shared: SharedState
    public let network: any Network
    public let metrics: Metrics
    /// The policy of requests that begin now.
    public private(set) var policy: Policy
    /// Whether no request is begun any more on connections that rest.
    public private(set) var isDraining = false
    private var origins: OriginTable
    /// The connections that are logged in for every client. They stand in the pool of those that rest, too, which closes them
    /// whenever it closes the others.
    let logins = HeldConnections(limit: HeldConnections.ofLoop)

    /// - Parameters:
    ///   - network: where other hosts are.
    ///   - idleLimit: connections that this loop keeps for later.
    public init(policy: Policy, shared: SharedState, on loop: EventLoop, in network: any Network, idleLimit: Int) {
        self.loop = loop
        self.shared = shared
        self.policy = policy
        metrics = Metrics()
        origins = OriginTable(
            idleLimit: idleLimit, tlsAnswers: shared.tlsAnswers, metrics: metrics, parents: shared.parents)
        self.network = network
    }

    /// Where requests for that scheme, host, in any case, and port go by these rules.
    public func destination(_ scheme: Scheme, host: Span<UInt8>, port: UInt16, by rules: RuleSet) -> Destination {
        origins.destination(scheme, host: host, port: port, by: rules)
    }

    /// As `ParentTable`.
    public func hops(of parentList: ParentList, to origin: UpstreamServer, found: [String: [PACWay]]) -> [Hop] {
        let host = origin.host
        return origins.hops(of: parentList, to: host.span, found: found)
    }

    /// From now on new requests follow this policy, and none goes on a connection that another one allowed.
    public func adopt(_ policy: Policy) {
        self.policy = policy
        origins.closeIdle()
    }

    /// Connections that rest are closed, and none rests from now on for another client.
    public func drain() {
        isDraining = true
        origins.closeIdle()
    }

    /// Closes the connections that have rested longest.
    /// - Returns: how many there were.
    public func closeOldest(_ count: Int) -> Int { origins.closeOldest(count) }

    /// Closes the connections that have had their time.
    public func retire(_ retirement: Retirement) {
        logins.retire(retirement)
        if case .tlsAnswers = retirement { origins.closeOutdated() }
    }
}
