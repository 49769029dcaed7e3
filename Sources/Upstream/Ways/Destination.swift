import Bytes
import Challenges
import HTTP
import Model
import Rules

/// Where requests go that name an origin, and the route that says how. Made once for an origin and a set of rules.
public final class Destination {
    /// Those that say so.
    public let rules: RuleSet
    public let origin: UpstreamServer
    /// The same server, as challenges of it are met.
    public let challenger: Challenger
    public let route: RouteDecision
    /// Whether some requests belong to a trace: asked of each request, which would take longer of the route.
    public let isTraced: Bool
    /// Set where clients ask for `http` and `origin` is `https`, because the route says so.
    public let upgrade: UpgradedOrigin?
    /// The ways there, the first that works first. Empty: directly.
    public private(set) var hops: [Hop]
    /// Until when they are known, on the loop's clock.
    private var hopsEnd: UInt64
    /// The address that stands in the place of a name, where a parent may connect to it.
    public let relayedAddress: IPAddress?
    /// Whether the rules do not let anybody connect to that address.
    public let isProhibited: Bool
    /// Whether the rules have anything to say of its challenges.
    private let isRuled: Bool
    /// The latest, since the next request's are mostly the same.
    private var terms = ConnectionTerms.plain

    public init(
        origin: UpstreamServer, route: RouteDecision, upgrade: UpgradedOrigin? = nil, hops: [Hop] = [],
        by rules: RuleSet
    ) {
        self.rules = rules
        self.origin = origin
        challenger = Challenger(origin.authority, title: origin.title)
        isRuled = challenger.isConcerned(by: rules)
        self.route = route
        isTraced = route.trace != .no
        self.upgrade = upgrade
        self.hops = hops
        let isAutomatic = route.parentList?.isAutomatic ?? false
        hopsEnd = isAutomatic ? 0 : .max
        relayedAddress = hops.isEmpty && !isAutomatic ? nil : IPAddress(origin.hostText)
        isProhibited = relayedAddress.map { !rules.egress.permits($0, port: origin.port).isPermitted } ?? false
    }

    /// Whether it is where requests for that server go; the host in any case.
    ///
    /// - Parameter isUpgraded: false where the server is named as it is itself, also on an upgrade route.
    public func isFor(_ scheme: Scheme, host: Span<UInt8>, port: UInt16, isUpgraded: Bool = true) -> Bool {
        guard isUpgraded, let upgrade else { return origin.isServer(scheme, host: host, port: port) }
        return scheme == .http && port == upgrade.clientPort
            && origin.isServer(.https, host: host, port: upgrade.originPort)
    }

    /// Whether its challenges concern anybody here: a rule speaks of them, or a credential is kept.
    public func isConcerned(in shared: SharedState) -> Bool { isRuled || challenger.isServed(by: shared.challenges) }

    /// Whether the ways are known; else `Upstreams.renewWays` finds them.
    public func knowsWays(at now: UInt64) -> Bool { now < hopsEnd }

    /// - Parameters:
    ///   - hops: not empty.
    ///   - end: on the loop's clock.
    public func take(_ hops: [Hop], until end: UInt64) {
        self.hops = hops
        hopsEnd = end
    }

    /// The ways that are worth trying now, and all of them where none is.
    public var hopsWorthTrying: [Hop] {
        let worth = hops.filter { $0.isWorthTrying }
        return worth.isEmpty ? hops : worth
    }

    /// Tries the ways until one leads to a connection.
    ///
    /// - Parameter connect: makes a connection that passes bytes through as they are.
    /// - Throws: what the last one said, or one that no other way makes better.
    public func byFirstWay<Connection>(
        _ connect: (Way) async throws(Refusal) -> Connection
    ) async throws(Refusal) -> Connection {
        var left = hopsWorthTrying[...]
        while true {
            let way = left.popFirst()?.way(isRelayed: false) ?? .direct
            do throws(Refusal) { return try await connect(way) } catch {
                guard error.mayGoAnotherWay, !left.isEmpty else { throw error }
            }
        }
    }

    /// The way that a request takes which begins now.
    public func way(isRelayed: Bool) -> Way {
        let hop = hops.first { $0.isWorthTrying } ?? hops.first ?? .direct
        return hop.way(isRelayed: isRelayed)
    }

    /// On which terms a connection is made for this client.
    ///
    /// - Parameter tlsAnswers: the number of those at this moment.
    public func terms(
        by way: Way, for client: @autoclosure () -> ClientIdentity, tlsAnswers: Int
    ) -> ConnectionTerms {
        switch way {
        case .direct:
            guard origin.isSecure else { return .plain }
            return terms(
                tls: route.tls, client: origin.dependsOnClient(by: rules) ? client() : nil,
                tlsAnswers: origin.getsTLSAnswers(by: rules) ? tlsAnswers : 0)
        case .relayed(let parent):
            let parent = parent.origin
            guard parent.isSecure else { return .plain }
            return terms(
                client: parent.dependsOnClient(by: rules) ? client() : nil,
                tlsAnswers: parent.getsTLSAnswers(by: rules) ? tlsAnswers : 0)
        case .tunnelled(let parent):
            let servers = [origin, parent.origin]
            let isOwn =
                servers.contains { $0.dependsOnClient(by: rules) } || parent.challenger.answersDependOnClient(by: rules)
            let getsAnswers = servers.contains { $0.getsTLSAnswers(by: rules) }
            return terms(
                tls: route.tls, client: isOwn ? client() : nil, tlsAnswers: getsAnswers ? tlsAnswers : 0,
                parent: parent.server)
        }
    }

    private func terms(
        tls: TLSTerms? = nil, client: ClientIdentity?, tlsAnswers: Int, parent: Configuration.Parent.Server? = nil
    ) -> ConnectionTerms {
        if terms.tls !== tls || terms.client != client || terms.tlsAnswers != tlsAnswers || terms.parent != parent {
            terms = ConnectionTerms(tls: tls, client: client, tlsAnswers: tlsAnswers, parent: parent)
        }
        return terms
    }
}
