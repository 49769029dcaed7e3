import Authentication
import Bytes
import Credentials
import HTTP
import IO
import PAC
import Rules
import Telemetry

/// The servers of one loop that requests ask for, and where those requests go: by scheme, host and port, found without
/// making a key. An entry is found by the canonical spelling of its host, in any case; an address that is spelled otherwise is
/// respelled first.
///
/// A server and its destination are one entry, written whole and forgotten whole. A hash only finds the entry: whose it
/// is, its own scheme, host and port say.
struct OriginTable {
    private struct Entry {
        let origin: UpstreamServer
        /// By the rules under which that was asked last.
        let destination: Destination?

        /// Whether forgetting it would leave connections behind that nobody finds.
        var holdsConnections: Bool { origin.holdsConnections || destination?.origin.holdsConnections == true }
    }

    private var entries = RecencyMap<UInt64, Entry>()
    /// The one asked for last: clients make several requests to one server. Its entry is there still.
    private var latest: Destination?
    private let pool: IdlePool
    private var parents: ParentTable
    private let limit: Int

    /// - Parameters:
    ///   - idleLimit: connections kept unused, over all origins.
    ///   - limit: entries; beyond it the one asked for longest ago is forgotten, unless it has connections.
    public init(
        idleLimit: Int, tlsAnswers: TLSAnswers = TLSAnswers(stored: MemoryCredentialStorage()),
        metrics: Metrics = Metrics(), parents board: ParentBoard = ParentBoard(), limit: Int = 4096
    ) {
        pool = IdlePool(limit: idleLimit, tlsAnswers: tlsAnswers, metrics: metrics)
        parents = ParentTable(pool: pool, board: board)
        self.limit = max(1, limit)
    }

    public var count: Int { entries.count }

    /// The origin of that scheme, `http`, `https` or `ftp`, that host, in any spelling, and port.
    public mutating func origin(_ scheme: Scheme, host: Span<UInt8>, port: UInt16) -> UpstreamServer {
        let hash = Self.hash(scheme, host, port)
        if let known = entry(hash, scheme, host, port) { return known.origin }
        if let address = host.respelledAddress { return self.origin(scheme, host: address.span, port: port) }
        let origin = UpstreamServer(scheme: scheme, host: host, port: port, pool: pool)
        put(Entry(origin: origin, destination: nil), hash)
        return origin
    }

    /// Where requests for that server go by these rules; the server as in `origin`.
    public mutating func destination(_ scheme: Scheme, host: Span<UInt8>, port: UInt16, by rules: RuleSet)
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

    private mutating func decideDestination(of origin: UpstreamServer, by rules: RuleSet) -> Destination {
        let host = origin.host
        let route = rules.route(host: host.span, port: origin.port)
        let hops = parents.hops(of: route.parentList, to: host.span)
        guard origin.scheme == .http, let upgrade = route.upgrade else {
            return Destination(origin: origin, route: route, hops: hops, by: rules)
        }
        let port = upgrade.port(from: origin.port)
        return Destination(
            origin: self.origin(.https, host: host.span, port: port), route: route,
            upgrade: UpgradedOrigin(host: host, clientPort: origin.port, originPort: port), hops: hops, by: rules)
    }

    /// As `ParentTable`.
    public mutating func hops(of parentList: ParentList, to host: Span<UInt8>, found: [String: [PACWay]]) -> [Hop] {
        parents.hops(of: parentList, to: host, found: found)
    }

    /// Closes the connections that rest, those of clients that are logged in on them too.
    func closeIdle() { pool.closeAll() }

    /// Closes those that have rested longest.
    /// - Returns: how many there were.
    public func closeOldest(_ count: Int) -> Int { pool.closeOldest(count) }

    /// Closes those that nobody can use any more since a certificate has changed.
    public func closeOutdated() { pool.closeOutdated() }

    private mutating func entry(_ hash: UInt64, _ scheme: Scheme, _ host: Span<UInt8>, _ port: UInt16) -> Entry? {
        guard let entry = entries.use(hash), entry.origin.isServer(scheme, host: host, port: port) else { return nil }
        return entry
    }

    /// Takes the place of what has the same hash: the same server's older entry, or once in a lifetime another's.
    private mutating func put(_ entry: Entry, _ hash: UInt64) {
        if !entries.contains(hash) { makeRoom() }
        entries.put(entry, for: hash)
    }

    /// Entries with connections are passed over, and there are as many of those as there may be connections.
    private mutating func makeRoom() {
        latest = nil
        for _ in 0..<Self.stepsForRoom {
            guard entries.count >= limit, let oldest = entries.oldest else { return }
            if oldest.value.holdsConnections { _ = entries.use(oldest.key) } else { entries.remove(oldest.key) }
        }
    }

    /// More than one, so that a table which had to grow shrinks again.
    private static let stepsForRoom = 4

    private static func hash(_ scheme: Scheme, _ host: Span<UInt8>, _ port: UInt16) -> UInt64 {
        SpanHash.of(host.extracting(host.bareHost), seed: UInt64(port) | UInt64(scheme.rawValue) << 16)
    }
}
