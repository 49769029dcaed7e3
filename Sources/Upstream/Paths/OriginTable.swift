import Authentication
import Bytes
import Credentials
import HTTP
import IO
import Rules
import Telemetry

/// The servers of one loop and the destinations of requests for them, by scheme, host and port. A search makes no key.
/// An entry is found by the canonical spelling of its host, in any case. An address that is spelled otherwise is
/// respelled first.
///
/// A server and its destination are one entry, written and removed together. A hash only finds the entry. Its own
/// scheme, host and port are then compared.
struct OriginTable {
    private struct Entry {
        let origin: UpstreamServer
        /// The destination by the rules with which it was last asked for.
        let destination: Destination?

        /// Whether removing the entry would leave connections that no request can find.
        var holdsConnections: Bool { origin.holdsConnections || destination?.origin.holdsConnections == true }
    }

    private var entries = LRUMap<UInt64, Entry>()
    /// The destination asked for last, since clients make several requests to one server. Its entry is still in the
    /// table.
    private var latest: Destination?
    let pool: IdlePool
    var parents: ParentTable
    private let limit: Int

    /// - Parameters:
    ///   - idleLimit: the limit of idle connections, over all origins.
    ///   - limit: the limit of entries. Beyond it the least recently used entry is removed, unless it has connections.
    init(
        idleLimit: Int, tlsPolicyEpoch: TLSPolicyEpoch = TLSPolicyEpoch(stored: StoredCredentials()),
        metrics: Metrics = Metrics(), parents board: ParentBoard = ParentBoard(), limit: Int = 4096
    ) {
        pool = IdlePool(limit: idleLimit, tlsPolicyEpoch: tlsPolicyEpoch, metrics: metrics)
        parents = ParentTable(pool: pool, board: board)
        self.limit = max(1, limit)
    }

    var count: Int { entries.count }

    /// The origin of that scheme (`http`, `https` or `ftp`), host (in any spelling) and port.
    mutating func origin(_ scheme: Scheme, host: Span<UInt8>, port: UInt16) -> UpstreamServer {
        let hash = Self.hash(scheme, host, port)
        if let known = entry(hash, scheme, host, port) { return known.origin }
        if let address = host.respelledAddress { return self.origin(scheme, host: address.span, port: port) }
        let origin = UpstreamServer(scheme: scheme, host: host, port: port, pool: pool)
        put(Entry(origin: origin, destination: nil), hash)
        return origin
    }

    /// The destination of requests for that server by these rules; the server as in `origin`.
    mutating func destination(_ scheme: Scheme, host: Span<UInt8>, port: UInt16, by rules: RuleSet)
        -> Destination
    {
        if let latest, latest.rules === rules, latest.isFor(scheme, host: host, port: port) { return latest }
        let hash = Self.hash(scheme, host, port)
        let known = entry(hash, scheme, host, port)
        if let destination = known?.destination, destination.rules === rules {
            latest = destination
            return destination
        }
        if known == nil, let address = host.respelledAddress {
            return destination(scheme, host: address.span, port: port, by: rules)
        }
        let origin = known?.origin ?? UpstreamServer(scheme: scheme, host: host, port: port, pool: pool)
        let destination = decideDestination(of: origin, by: rules)
        put(Entry(origin: origin, destination: destination), hash)
        latest = destination
        return destination
    }

    /// The destination of requests for that server, named as in `origin`, at an address that the client named. It is not kept.
    mutating func destination(
        _ scheme: Scheme, host: Span<UInt8>, port: UInt16, at address: IPAddress, by rules: RuleSet
    ) -> Destination {
        decideDestination(of: origin(scheme, host: host, port: port), at: address, by: rules)
    }

    private mutating func decideDestination(
        of origin: UpstreamServer, at address: IPAddress? = nil, by rules: RuleSet
    ) -> Destination {
        let host = origin.host
        let route = rules.route(host: host.span, port: origin.port)
        let hops = parents.hops(of: route.parentList, to: host.span)
        guard origin.scheme == .http, let upgrade = route.upgrade else {
            return Destination(origin: origin, at: address, route: route, hops: hops, by: rules)
        }
        let port = upgrade.port(from: origin.port)
        return Destination(
            origin: self.origin(.https, host: host.span, port: port), at: address, route: route,
            upgrade: UpgradedOrigin(host: host, clientPort: origin.port, originPort: port), hops: hops, by: rules)
    }

    private mutating func entry(_ hash: UInt64, _ scheme: Scheme, _ host: Span<UInt8>, _ port: UInt16) -> Entry? {
        guard let entry = entries.use(hash), entry.origin.isServer(scheme, host: host, port: port) else { return nil }
        return entry
    }

    /// Replaces the entry with this hash: the server's older entry or, very rarely, another server's.
    private mutating func put(_ entry: Entry, _ hash: UInt64) {
        if !entries.contains(hash) { makeRoom() }
        entries.put(entry, for: hash)
    }

    /// Skips entries with connections. There are at most as many of those as there may be connections.
    private mutating func makeRoom() {
        latest = nil
        for _ in 0..<Self.stepsForRoom {
            guard entries.count >= limit, let oldest = entries.oldest else { return }
            if oldest.value.holdsConnections { _ = entries.use(oldest.key) } else { entries.remove(oldest.key) }
        }
    }

    /// The entries inspected when room is needed: several, so that a table that had to grow shrinks again.
    private static let stepsForRoom = 4

    private static func hash(_ scheme: Scheme, _ host: Span<UInt8>, _ port: UInt16) -> UInt64 {
        SpanHash.of(host.extracting(host.bareHost), seed: UInt64(port) | UInt64(scheme.rawValue) << 16)
    }
}
