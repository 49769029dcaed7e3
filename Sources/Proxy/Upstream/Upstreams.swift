import Authentication
import Bytes
import HTTP
import IO
import PAC
import Rules
import Telemetry

/// The upstream side of one loop: the servers that requests ask for, the connections to them, and what it takes to make
/// more. Everything here belongs to the loop, so nothing is locked.
final class Upstreams {
    let loop: EventLoop
    let shared: SharedState
    let network: any Network
    let metrics: Metrics
    /// What requests follow that begin now.
    private(set) var policy: Policy
    /// Whether no request is begun any more on connections that rest.
    private(set) var isDraining = false
    private var origins: OriginTable

    /// - Parameters:
    ///   - network: where other hosts are.
    ///   - idleLimit: connections that this loop keeps for later.
    init(policy: Policy, shared: SharedState, on loop: EventLoop, in network: any Network, idleLimit: Int) {
        self.loop = loop
        self.shared = shared
        self.policy = policy
        metrics = Metrics()
        origins = OriginTable(idleLimit: idleLimit, identities: shared.identities)
        self.network = network
    }

    /// Where requests for that scheme, host, in any case, and port go by these rules.
    func destination(_ scheme: Scheme, host: Span<UInt8>, port: UInt16, by rules: RuleSet) -> Destination {
        origins.destination(scheme, host: host, port: port, by: rules)
    }

    /// As `ParentTable`.
    func hops(of detour: Detour, to origin: UpstreamServer, found: [String: [PACWay]]) -> [Hop] {
        let host = origin.host
        return origins.hops(of: detour, to: host.span, found: found)
    }

    /// From now on new requests follow this policy, and none goes on a connection that another one allowed.
    func adopt(_ policy: Policy) {
        self.policy = policy
        origins.closeIdle()
    }

    /// Connections that rest are closed, and none rests from now on for another client.
    func drain() {
        isDraining = true
        origins.closeIdle()
    }

    /// Closes the connections that have rested longest.
    /// - Returns: how many there were.
    func closeOldest(_ count: Int) -> Int { origins.closeOldest(count) }

    /// Closes the connections that nobody can use any more since a certificate has changed.
    func closeOutdated() { origins.closeOutdated() }
}
