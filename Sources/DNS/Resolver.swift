import Bytes
import CCares
import Glibc
import IO

/// Host names to addresses through c-ares, on one loop: hosts file, search domains and TTLs included. The variable
/// `CARES_HOSTS` of the environment names a file to read instead of the system's hosts file.
///
/// The two families are asked for apart, so that a name server which is late with one, or silent, delays nobody who can
/// go on with the other (RFC 8305 section 3).
///
/// Belongs to its loop. Requests for one name at one time share one query.
public final class Resolver {
    let loop: EventLoop
    /// As they were when a name was looked up: a proxy that has addresses alone, or a parent, reads no file.
    private var system: SystemSettings?
    private var file: SettingsFile
    /// Asks name servers for a name as it is; made for the first name, and anew where the file has changed.
    private var servers: ResolverChannel?
    /// Reads the hosts file; made for the first name.
    private var hosts: ResolverChannel?
    /// Asks once more why a name server gave no answer; made when that is wanted.
    private var reasons: ResolverChannel?
    /// Those of earlier settings, whose queries still run.
    private var retired: [ResolverChannel] = []
    private let serverList: String?
    private var cache = AddressCache()
    private var lookups: [String: Lookup] = [:]

    /// - Parameter servers: `address:port` pairs instead of the system's; for tests.
    public convenience init(on loop: EventLoop, servers: String? = nil) {
        self.init(on: loop, servers: servers, settings: nil)
    }

    /// - Parameter settings: instead of those in `file`, for good; for tests.
    init(on loop: EventLoop, servers: String?, settings: SystemSettings?, file: String = SettingsFile.ofSystem) {
        self.loop = loop
        serverList = servers
        system = settings
        self.file = SettingsFile(file, isRead: settings == nil)
        ares_library_init(ARES_LIB_INIT_ALL)
    }

    /// - Throws: the reason why c-ares cannot look up the name; the next one tries again.
    private func prepare(for name: String) throws(ResolutionError) -> SystemSettings {
        do throws(ResolutionError) { return try prepare() } catch {
            guard case .failed(_, let reason) = error else { throw error }
            throw .failed(name, reason: reason)
        }
    }

    private func prepare() throws(ResolutionError) -> SystemSettings {
        retired.removeAll { $0.queries == 0 }
        if servers == nil { servers = try ResolverChannel(.nameServers, on: loop, by: file.path, servers: serverList) }
        if hosts == nil { hosts = try ResolverChannel(.hostsFile, on: loop, by: file.path) }
        if let system { return system }
        let read = try SystemSettings(in: file.path)
        system = read
        return read
    }

    /// Other name servers may know other names, or know them differently. Queries that run go on.
    private func forgetSettings() {
        for channel in [servers, reasons] { if let channel { retired.append(channel) } }
        (servers, reasons, system) = (nil, nil, nil)
        cache = AddressCache()
    }

    /// The addresses of a host name, or of an address in text form. Others may follow: after one family's addresses the
    /// other family's are waited for no longer than RFC 8305 recommends.
    ///
    /// - Parameter name: lower case, without a trailing dot.
    public func resolve(_ name: String) async throws(ResolutionError) -> Resolution {
        if let address = IPAddress(name) { return Resolution([address]) }
        if let known = try known(name) { return known }
        let lookup: Lookup
        if let known = lookups[name] {
            lookup = known
        } else {
            lookup = Lookup(name, by: try prepare(for: name), on: loop)
            lookups[name] = lookup
            begin(lookup)
        }
        return try await lookup.outcome()
    }

    /// The addresses of a name that no name server has to be asked for; nil: one has.
    ///
    /// - Parameter name: lower case, without a trailing dot.
    /// - Throws: the answer that a name server has given lately, if it was none.
    public func known(_ name: String) throws(ResolutionError) -> Resolution? {
        // RFC 6761 section 6.3: localhost is never asked of a name server.
        if name == "localhost" || name.hasSuffix(".localhost") {
            return Resolution([IPAddress(v4: 0x7F00_0001), IPAddress(v6High: 0, low: 1)])
        }
        if file.hasChanged(at: loop.now) { forgetSettings() }
        guard let known = cache.answer(for: name, now: loop.now) else { return nil }
        return Resolution(try known.get())
    }

    // MARK: - Queries

    /// The query that c-ares hands back with its answer.
    private final class Query {
        /// Kept until the answer is there.
        let resolver: Resolver
        let channel: ResolverChannel?
        let body: (QueryAnswer) -> Void
        init(resolver: Resolver, channel: ResolverChannel?, body: @escaping (QueryAnswer) -> Void) {
            self.resolver = resolver
            self.channel = channel
            self.body = body
        }
    }

    /// - Parameter body: called once, on the loop, perhaps before this returns.
    private func ask(
        _ channel: ResolverChannel?, _ name: String, family: Int32, _ body: @escaping (QueryAnswer) -> Void
    ) {
        var hints = ares_addrinfo_hints()
        hints.ai_family = family
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = Int32(ARES_AI_NOSORT | ARES_AI_ENVHOSTS)
        let query = Unmanaged.passRetained(Query(resolver: self, channel: channel, body: body))
        channel?.queries += 1
        ares_getaddrinfo(
            channel?.pointer, name, nil, &hints,
            { context, status, _, list in
                guard let context else { return }
                let query = Unmanaged<Query>.fromOpaque(context).takeRetainedValue()
                let answer = QueryAnswer(status: status, list: list)
                if let list { ares_freeaddrinfo(list) }
                query.channel?.queries -= 1
                query.body(answer)
            }, query.toOpaque())
        channel?.rearm()
    }

    /// A name of the hosts file is asked of no name server, though only one family stands there.
    private func begin(_ lookup: Lookup) {
        guard lookup.system.readsHostsFirst else { return askServers(lookup) }
        ask(hosts, lookup.name, family: AF_UNSPEC) { [self] answer in
            if answer.addresses.isEmpty { askServers(lookup) } else { finish(lookup, .success(answer)) }
        }
    }

    private func askServers(_ lookup: Lookup) {
        guard lookup.system.asksServers, let name = lookup.candidates.popFirst() else { return conclude(lookup) }
        lookup.begin()
        for family in Family.allCases {
            let round = lookup.round
            ask(servers, name, family: family.number) { [self] answer in
                guard answer.hasNoReason else { return take(answer, family, round, lookup) }
                reason(for: name, family) { [self] in take($0, family, round, lookup) }
            }
        }
    }

    /// c-ares 1.18 says of every answer that a server refused or failed to give that no server was reached. Without that
    /// check it hands out the answer, but asks no other server: hence only now.
    private func reason(for name: String, _ family: Family, _ body: @escaping (QueryAnswer) -> Void) {
        if reasons == nil { reasons = try? ResolverChannel(.reasons, on: loop, by: file.path, servers: serverList) }
        guard reasons != nil else { return body(QueryAnswer(status: cares_connection_refused, list: nil)) }
        ask(reasons, name, family: family.number, body)
    }

    private func take(_ answer: QueryAnswer, _ family: Family, _ round: Int, _ lookup: Lookup) {
        guard lookup.round == round, lookups[lookup.name] === lookup else { return }
        switch lookup.take(answer, of: family) {
        case .wait: break
        case .next: askServers(lookup)
        case .finish(let result): finish(lookup, result)
        }
    }

    /// No name server knows the name, or none is to be asked.
    private func conclude(_ lookup: Lookup) {
        guard lookup.system.readsHostsLast else { return finish(lookup, .failure(.noSuchName(lookup.name))) }
        ask(hosts, lookup.name, family: AF_UNSPEC) { [self] answer in
            finish(lookup, answer.addresses.isEmpty ? .failure(.noSuchName(lookup.name)) : .success(answer))
        }
    }

    private func finish(_ lookup: Lookup, _ result: Result<QueryAnswer, ResolutionError>) {
        lookups[lookup.name] = nil
        switch result {
        case .success(let answer):
            cache.store(answer.addresses, for: lookup.name, seconds: answer.seconds, now: loop.now)
        case .failure(let error): cache.store(error, for: lookup.name, now: loop.now)
        }
        lookup.finish(result)
    }
}

/// The addresses of names, for as long as their records say. Times are milliseconds on the loop's clock.
private struct AddressCache {
    private struct Entry {
        let answer: Result<[IPAddress], ResolutionError>
        let expires: UInt64
    }

    private var entries: [String: Entry] = [:]

    private static let capacity = 4096
    /// Seconds. A TTL of 0 still serves the requests of one moment; a week-long one does not outlive a move.
    private static let lifetime = 1...300
    /// Seconds that a "does not exist" is believed.
    private static let negativeLifetime = 5

    func answer(for name: String, now: UInt64) -> Result<[IPAddress], ResolutionError>? {
        guard let entry = entries[name], entry.expires > now else { return nil }
        return entry.answer
    }

    mutating func store(_ addresses: [IPAddress], for name: String, seconds: Int, now: UInt64) {
        let seconds = min(max(seconds, Self.lifetime.lowerBound), Self.lifetime.upperBound)
        insert(Entry(answer: .success(addresses), expires: now + UInt64(seconds) * 1000), for: name, now: now)
    }

    /// Remembers a definite no. A missing answer is not remembered: the next request asks again.
    mutating func store(_ error: ResolutionError, for name: String, now: UInt64) {
        guard case .noSuchName = error else { return }
        let expires = now + UInt64(Self.negativeLifetime) * 1000
        insert(Entry(answer: .failure(error), expires: expires), for: name, now: now)
    }

    private mutating func insert(_ entry: Entry, for name: String, now: UInt64) {
        if entries.count >= Self.capacity {
            entries = entries.filter { $0.value.expires > now }
            if entries.count >= Self.capacity { entries.removeAll(keepingCapacity: true) }
        }
        entries[name] = entry
    }
}
