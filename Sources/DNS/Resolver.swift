import Bytes
import CCares
import Glibc
import IO

/// Resolves host names through c-ares, on one loop, with the hosts file, search domains and TTLs. The environment
/// variable `CARES_HOSTS` names a file that replaces the system's hosts file.
///
/// Each family has a query of its own. A name server that is late with one, or never answers it, does not delay a
/// client that can use the other (RFC 8305 section 3).
///
/// Belongs to its loop. Requests for one name at one time share one query.
public final class Resolver {
    let loop: EventLoop
    /// The settings at the time of the last lookup; nil before the first. A proxy that only uses addresses or a parent
    /// reads no file.
    private var system: Channel.Settings?
    private var file: Channel.SettingsFile
    /// The channel that asks name servers for a name as it is. Made for the first name, and again when the file has
    /// changed.
    private var servers: Channel?
    /// The channel that reads the hosts file; made for the first name.
    private var hosts: Channel?
    /// The channel that asks again why a name server gave no answer; made when it is needed.
    private var reasons: Channel?
    /// The channels of earlier settings whose queries still run.
    private var retired: [Channel] = []
    private let serverList: String?
    private var cache = Resolver.AddressCache()
    private var lookups: [String: Lookup] = [:]

    /// - Parameter servers: `address:port` pairs instead of the system's; for tests.
    public convenience init(on loop: EventLoop, servers: String? = nil) {
        self.init(on: loop, servers: servers, settings: nil)
    }

    /// - Parameter settings: used permanently in place of those in `file`; for tests.
    init(
        on loop: EventLoop, servers: String?, settings: Channel.Settings?,
        file: String = Channel.SettingsFile.ofSystem
    ) {
        self.loop = loop
        serverList = servers
        system = settings
        self.file = Channel.SettingsFile(file, isRead: settings == nil)
        ares_library_init(ARES_LIB_INIT_ALL)
    }

    /// - Throws: the reason why c-ares cannot resolve the name; the next lookup tries again.
    private func prepare(for name: String) throws(Resolution.Failure) -> Channel.Settings {
        do throws(Resolution.Failure) { return try prepare() } catch {
            guard case .failed(_, let reason) = error else { throw error }
            throw .failed(name, reason: reason)
        }
    }

    private func prepare() throws(Resolution.Failure) -> Channel.Settings {
        retired.removeAll { $0.queries == 0 }
        if servers == nil { servers = try Channel(.nameServers, on: loop, by: file.path, servers: serverList) }
        if hosts == nil { hosts = try Channel(.hostsFile, on: loop, by: file.path) }
        if let system { return system }
        let read = try Channel.Settings(in: file.path)
        system = read
        return read
    }

    /// Other name servers may know other names or other addresses. Running queries continue.
    private func forgetSettings() {
        for channel in [servers, reasons] { if let channel { retired.append(channel) } }
        (servers, reasons, system) = (nil, nil, nil)
        cache = Resolver.AddressCache()
    }

    /// The addresses of a host name, or of an address in text form. More may follow: after one family's addresses it
    /// waits for the other family's only as long as RFC 8305 recommends.
    ///
    /// - Parameter name: lower case, without a trailing dot.
    public func resolve(_ name: String) async throws(Resolution.Failure) -> Resolution {
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

    /// The addresses of a name that are known without a query to a name server; nil: a query is needed.
    ///
    /// - Parameter name: lower case, without a trailing dot.
    /// - Throws: a recent negative answer of a name server.
    public func known(_ name: String) throws(Resolution.Failure) -> Resolution? {
        // RFC 6761 section 6.3: no name server is asked for localhost.
        if name == "localhost" || name.hasSuffix(".localhost") {
            return Resolution([IPAddress(v4: 0x7F00_0001), IPAddress(v6High: 0, low: 1)])
        }
        if file.hasChanged(at: loop.now) { forgetSettings() }
        guard let known = cache.answer(for: name, now: loop.now) else { return nil }
        return Resolution(try known.get())
    }

    // MARK: - Queries

    /// The context of a query, which c-ares returns with the answer.
    private final class Query {
        /// Retained until the answer arrives.
        let resolver: Resolver
        let channel: Channel?
        let body: (Lookup.Answer) -> Void
        init(resolver: Resolver, channel: Channel?, body: @escaping (Lookup.Answer) -> Void) {
            self.resolver = resolver
            self.channel = channel
            self.body = body
        }
    }

    /// - Parameter body: called once, on the loop, perhaps before this returns.
    private func ask(
        _ channel: Channel?, _ name: String, family: Int32, _ body: @escaping (Lookup.Answer) -> Void
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
                let answer = Lookup.Answer(status: status, list: list)
                if let list { ares_freeaddrinfo(list) }
                query.channel?.queries -= 1
                query.body(answer)
            }, query.toOpaque())
        channel?.rearm()
    }

    /// Asks the hosts file first. A name in it is never sent to a name server, even if only one family is listed.
    private func begin(_ lookup: Lookup) {
        guard lookup.system.readsHostsFirst else { return askServers(lookup) }
        ask(hosts, lookup.name, family: AF_UNSPEC) { [self] answer in
            if answer.addresses.isEmpty { askServers(lookup) } else { finish(lookup, .success(answer)) }
        }
    }

    private func askServers(_ lookup: Lookup) {
        guard lookup.system.asksServers, let name = lookup.candidates.popFirst() else { return conclude(lookup) }
        lookup.begin()
        for family in Lookup.Family.allCases {
            let round = lookup.round
            ask(servers, name, family: family.number) { [self] answer in
                guard answer.hasNoReason else { return take(answer, family, round, lookup) }
                reason(for: name, family) { [self] in take($0, family, round, lookup) }
            }
        }
    }

    /// Finds the reason of a failure. c-ares 1.18 reports every answer with which a server refused or failed as "no
    /// server was reached". Without that check it returns the answer, but asks no other server: so this is done only
    /// now.
    private func reason(for name: String, _ family: Lookup.Family, _ body: @escaping (Lookup.Answer) -> Void) {
        if reasons == nil { reasons = try? Channel(.reasons, on: loop, by: file.path, servers: serverList) }
        guard reasons != nil else { return body(Lookup.Answer(status: cares_connection_refused, list: nil)) }
        ask(reasons, name, family: family.number, body)
    }

    private func take(_ answer: Lookup.Answer, _ family: Lookup.Family, _ round: Int, _ lookup: Lookup) {
        guard lookup.round == round, lookups[lookup.name] === lookup else { return }
        switch lookup.take(answer, of: family) {
        case .wait: break
        case .next: askServers(lookup)
        case .finish(let result): finish(lookup, result)
        }
    }

    /// Ends a lookup for which no name server has an answer, or none may be asked.
    private func conclude(_ lookup: Lookup) {
        guard lookup.system.readsHostsLast else { return finish(lookup, .failure(.noSuchName(lookup.name))) }
        ask(hosts, lookup.name, family: AF_UNSPEC) { [self] answer in
            finish(lookup, answer.addresses.isEmpty ? .failure(.noSuchName(lookup.name)) : .success(answer))
        }
    }

    private func finish(_ lookup: Lookup, _ result: Result<Lookup.Answer, Resolution.Failure>) {
        lookups[lookup.name] = nil
        switch result {
        case .success(let answer):
            cache.store(answer.addresses, for: lookup.name, lifetime: answer.lifetime, now: loop.now)
        case .failure(let error): cache.store(error, for: lookup.name, now: loop.now)
        }
        lookup.finish(result)
    }

    /// The addresses of names, for the time that their records allow.
    fileprivate struct AddressCache {
        private struct Entry {
            let answer: Result<[IPAddress], Resolution.Failure>
            let expires: LoopInstant
        }

        private var entries: [String: Entry] = [:]

        private static let capacity = 4096
        /// The range of lifetimes. A TTL of 0 still serves simultaneous requests. A long one must not hide that
        /// a server moved.
        private static let lifetime = Milliseconds.seconds(1)...(.minutes(5))
        /// The time for which a negative answer is used.
        private static let negativeLifetime = Milliseconds.seconds(5)

        func answer(for name: String, now: LoopInstant) -> Result<[IPAddress], Resolution.Failure>? {
            guard let entry = entries[name], entry.expires > now else { return nil }
            return entry.answer
        }

        mutating func store(_ addresses: [IPAddress], for name: String, lifetime: Milliseconds, now: LoopInstant) {
            let lifetime = min(max(lifetime, Self.lifetime.lowerBound), Self.lifetime.upperBound)
            insert(Entry(answer: .success(addresses), expires: now + lifetime), for: name, now: now)
        }

        /// Stores a negative answer. A missing answer is not stored, so the next request asks again.
        mutating func store(_ error: Resolution.Failure, for name: String, now: LoopInstant) {
            guard case .noSuchName = error else { return }
            insert(Entry(answer: .failure(error), expires: now + Self.negativeLifetime), for: name, now: now)
        }

        private mutating func insert(_ entry: Entry, for name: String, now: LoopInstant) {
            if entries.count >= Self.capacity {
                entries = entries.filter { $0.value.expires > now }
                if entries.count >= Self.capacity { entries.removeAll(keepingCapacity: true) }
            }
            entries[name] = entry
        }
    }
}
