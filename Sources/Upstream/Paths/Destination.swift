import Bytes
import Challenges
import HTTP
import IO
import Model
import Rules

/// The destination of requests that name an origin, with the route to it. Made once for an origin and a set of rules.
public final class Destination {
    /// The rules that the destination was made with.
    public let rules: RuleSet
    public let origin: UpstreamServer
    /// The address that is dialled, where the client named one beside the host; nil: one that DNS gives for the host.
    public let address: IPAddress?
    /// The host or address that is dialled if there is no parent.
    public let dialledHost: String
    /// The origin as the party whose challenges are answered.
    public let challenger: Challenger
    public let route: RouteDecision
    /// Whether some requests are traced. Stored, since each request asks and the route would take longer.
    public let isTraced: Bool
    /// The upgrade of the route; nil if none. Clients then ask for `http`, and `origin` is `https`.
    public let upgrade: UpgradedOrigin?
    /// The ways to the origin, the first that works first. Empty: directly.
    public private(set) var hops: [RouteHop]
    /// The time on the loop's clock until which the ways are known.
    private var hopsEnd: LoopInstant
    /// The address that the URL has in place of a name, if a parent may connect to it.
    public let relayedAddress: IPAddress?
    /// Whether the rules deny every client connections to that address.
    public let isProhibited: Bool
    /// Whether any rule covers challenges of the origin.
    private let isRuled: Bool
    /// The latest terms. The next request mostly needs equal ones.
    private var terms = ConnectionTerms.plain

    public init(
        origin: UpstreamServer, at address: IPAddress? = nil, route: RouteDecision, upgrade: UpgradedOrigin? = nil,
        hops: [RouteHop] = [], by rules: RuleSet
    ) {
        self.rules = rules
        self.origin = origin
        self.address = address
        dialledHost = address.map { "\($0)" } ?? origin.hostText
        challenger = Challenger(origin.authority, title: origin.title)
        isRuled = challenger.isConcerned(by: rules)
        self.route = route
        isTraced = route.trace != .no
        self.upgrade = upgrade
        self.hops = hops
        let isAutomatic = route.parentList?.isAutomatic ?? false
        hopsEnd = isAutomatic ? .zero : .distantFuture
        relayedAddress = hops.isEmpty && !isAutomatic ? nil : address ?? IPAddress(origin.hostText)
        isProhibited = relayedAddress.map { !rules.egress.permits($0, port: origin.port).isPermitted } ?? false
    }

    /// Whether requests for that server go to this destination; the host in any case.
    ///
    /// - Parameter isUpgraded: false if the request names the server itself, also on a route that upgrades.
    public func isFor(_ scheme: Scheme, host: Span<UInt8>, port: UInt16, isUpgraded: Bool = true) -> Bool {
        guard isUpgraded, let upgrade else { return origin.isServer(scheme, host: host, port: port) }
        return scheme == .http && port == upgrade.clientPort
            && origin.isServer(.https, host: host, port: upgrade.originPort)
    }

    /// Whether challenges of the origin may be answered: a rule covers them, or a credential is stored.
    public func isConcerned(in shared: SharedState) -> Bool { isRuled || challenger.isServed(by: shared.challenges) }

    /// Whether the ways are known. If not, `Upstreams.renewWays` finds them.
    public func knowsWays(at now: LoopInstant) -> Bool { now < hopsEnd }

    /// - Parameter hops: not empty.
    public func take(_ hops: [RouteHop], until end: LoopInstant) {
        self.hops = hops
        hopsEnd = end
    }

    /// The ways that are worth trying now; all of them if none is.
    public var hopsWorthTrying: [RouteHop] {
        let worth = hops.filter { $0.isWorthTrying }
        return worth.isEmpty ? hops : worth
    }

    /// Tries the ways until a connection is made.
    ///
    /// - Parameter connect: makes a connection that passes bytes through unchanged.
    /// - Throws: the refusal of the last way, or one that no other way can avoid.
    public func byFirstWay<Connection>(
        _ connect: (UpstreamPath) async throws(Refusal) -> Connection
    ) async throws(Refusal) -> Connection {
        var left = hopsWorthTrying[...]
        while true {
            let way = left.popFirst()?.way(isRelayed: false) ?? .direct
            do throws(Refusal) { return try await connect(way) } catch {
                guard error.mayGoAnotherWay, !left.isEmpty else { throw error }
            }
        }
    }

    /// The way for a request that begins now.
    public func way(isRelayed: Bool) -> UpstreamPath {
        let hop = hops.first { $0.isWorthTrying } ?? hops.first ?? .direct
        return hop.way(isRelayed: isRelayed)
    }

    /// The terms of a connection for this client.
    ///
    /// - Parameter tlsPolicyEpoch: the current number of `TLSPolicyEpoch`.
    public func terms(
        by way: UpstreamPath, for client: @autoclosure () -> ClientIdentity, tlsPolicyEpoch: Int
    ) -> ConnectionTerms {
        switch way {
        case .direct:
            guard origin.isSecure || address != nil else { return .plain }
            return terms(
                tls: origin.isSecure ? route.tls : nil, client: origin.dependsOnClient(by: rules) ? client() : nil,
                tlsPolicyEpoch: origin.dependsOnTLSPolicy(by: rules) ? tlsPolicyEpoch : 0, address: address)
        case .relayed(let parent):
            let parent = parent.origin
            guard parent.isSecure else { return .plain }
            return terms(
                client: parent.dependsOnClient(by: rules) ? client() : nil,
                tlsPolicyEpoch: parent.dependsOnTLSPolicy(by: rules) ? tlsPolicyEpoch : 0)
        case .tunnelled(let parent):
            let servers = [origin, parent.origin]
            let isOwn =
                servers.contains { $0.dependsOnClient(by: rules) } || parent.challenger.answersDependOnClient(by: rules)
            let getsAnswers = servers.contains { $0.dependsOnTLSPolicy(by: rules) }
            return terms(
                tls: route.tls, client: isOwn ? client() : nil, tlsPolicyEpoch: getsAnswers ? tlsPolicyEpoch : 0,
                parent: parent.server, address: address)
        }
    }

    private func terms(
        tls: Configuration.TLSTerms? = nil, client: ClientIdentity?, tlsPolicyEpoch: Int,
        parent: Configuration.Parent.Server? = nil,
        address: IPAddress? = nil
    ) -> ConnectionTerms {
        if terms.tls !== tls || terms.client != client || terms.tlsPolicyEpoch != tlsPolicyEpoch
            || terms.parent != parent || terms.address != address
        {
            terms = ConnectionTerms(
                tls: tls, client: client, tlsPolicyEpoch: tlsPolicyEpoch, parent: parent, address: address)
        }
        return terms
    }
}
