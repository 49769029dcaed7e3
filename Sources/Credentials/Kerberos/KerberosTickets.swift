import Authentication
import Bytes
import Crypto
import GSSAPI
import IO
import Model
import Synchronization

/// The tickets of one principal with one proof. They are obtained when first needed, each once for all callers, and
/// renewed before they expire. Requests to a KDC run on separate threads, and no request waits longer than its
/// patience.
final class KerberosTickets: KerberosPrincipal {
    private let principal: String
    private let proof: KerberosTickets.Proof
    private let held = Mutex(Cache())
    /// The KDC's verdicts on the password or key.
    private let verdicts = Mutex(Verdicts())
    /// The state of the cache file when it was last read.
    private let stamp = Mutex<SmallFile.Stamp?>(nil)
    private let firstTickets: CoalescedWork<Bool, Result<TicketCache, TicketError>>
    private let serviceTickets: CoalescedWork<ServiceName, Result<Cache.Supply, TicketError>>
    /// The threads for requests to KDCs.
    let pool: BlockingPool

    init(_ principal: String, _ proof: KerberosTickets.Proof) {
        self.principal = principal
        self.proof = proof
        pool = KerberosTickets.Threads.pool(for: principal)
        firstTickets = CoalescedWork(on: pool)
        serviceTickets = CoalescedWork(on: pool)
    }

    // MARK: - Logins

    func prepare(for service: KerberosService) async throws(TicketError) {
        _ = try await supply(for: service, within: KerberosTickets.Patience(service.terms.patience))
    }

    func login(at service: KerberosService, over channel: ChannelBinding?) -> any KerberosLogin {
        Login(with: self, at: service, over: channel)
    }

    /// The ticket for a login at the service.
    func supply(
        for service: KerberosService, within patience: KerberosTickets.Patience
    ) async throws(TicketError) -> Cache.Supply {
        guard let name = ServiceName(service.name, canonicalises: service.terms.canonicalises) else {
            throw .unavailable("the server's name is not a Kerberos service")
        }
        let now = Self.now
        if let supply = held.withLock({ $0.supply(for: name, at: now) }) {
            renewIfDue(at: now)
            return supply
        }
        let cache = try await firstTicket(at: now, for: service, within: patience)
        if let error = held.withLock({ $0.reasonToWait(for: name, at: now) }) { throw error }
        let result = await serviceTickets.run(name, within: patience.rest) { [self] in fetch(name, with: cache) }
        guard let result else { throw silence(patience) }
        return try result.get()
    }

    /// The error for a KDC that does not answer.
    func silence(_ patience: KerberosTickets.Patience? = nil) -> TicketError {
        let realm = KerberosTickets.Threads.realm(of: principal)
        let place = realm.isEmpty ? "the default realm" : realm
        return .unavailable("no KDC of \(place) answers\(patience?.words ?? ""): check krb5.conf and the network")
    }

    /// Drops a ticket that a service does not accept, unless it is new.
    ///
    /// - Returns: whether it was dropped.
    func renounce(_ service: KerberosService) -> Bool {
        guard let name = ServiceName(service.name, canonicalises: service.terms.canonicalises) else { return false }
        let now = Self.now
        guard let dropped = held.withLock({ $0.renounce(name, at: now) }) else { return false }
        dropped.cache.forget(dropped.ticket)
        return true
    }

    func forgetRefusal() { held.withLock { $0.forgetRefusal() } }

    // MARK: - The first ticket

    /// Has the first ticket renewed in time, if there is one, and looks whether a cache's file is another. Blocks.
    func refresh(at now: WallTime) {
        switch proof {
        case .keytab, .password: return renewIfDue(at: now)
        case .cache(.file(let path)):
            guard held.withLock({ $0.cache != nil }), let present = SmallFile.Stamp(path: path),
                present != stamp.withLock({ $0 })
            else { return }
        // There is no sign of renewed tickets in other types of caches.
        case .cache(.other):
            guard held.withLock({ $0.isRenewalDue(at: now) }) else { return }
        }
        firstTickets.start(true) { [self] in acquire(nil) }
    }

    private func renewIfDue(at now: WallTime) {
        // Another program renews the tickets of a cache.
        if case .cache = proof { return }
        guard held.withLock({ $0.isRenewalDue(at: now) }) else { return }
        // While the password or key is doubted, the KDC is asked only when a ticket is needed.
        guard let admission = verdicts.withLock(\.renewal)?() else { return }
        firstTickets.start(true) { [self] in acquire(admission) }
    }

    var kdc: String? { verdicts.withLock(\.kdc) }

    var ticketEnd: WallTime? { held.withLock { $0.cache?.validity.upperBound } }

    /// The reason why there is no ticket-granting ticket, or none in time; nil without a problem.
    var trouble: TicketError? {
        firstTickets.isOverdue(true) ? silence() : held.withLock { $0.trouble }
    }

    private func firstTicket(
        at now: WallTime, for service: KerberosService, within patience: KerberosTickets.Patience
    ) async throws(TicketError) -> TicketCache {
        let (cache, reason) = held.withLock { ($0.usableCache(at: now), $0.reasonToWait(at: now)) }
        if let cache { return cache }
        if let reason, service.terms.admission == nil || !reason.isRefusal { throw reason }
        let admission = try await admission(to: service, within: patience)
        // Another request may have asked the KDC meanwhile.
        if let cache = held.withLock({ $0.usableCache(at: Self.now) }) { return cache }
        let result = await firstTickets.run(true, within: patience.rest) { [self] in acquire(admission) }
        guard let result else { throw silence(patience) }
        return try result.get()
    }

    /// Asks the account of the password or key whether it may be shown to the KDC; nil: no KDC is asked, or there is no
    /// account.
    private func admission(
        to service: KerberosService, within patience: KerberosTickets.Patience
    ) async throws(TicketError) -> KDCAdmission? {
        if case .cache = proof { return nil }
        guard let admission = service.terms.admission else { return nil }
        if firstTickets.isOverdue(true) { throw silence(patience) }
        let kdc = await kdcName()
        do throws(TicketError) {
            let admitted = try await admission(kdc, patience.rest)
            verdicts.withLock { $0.renewal = admitted.renewal }
            held.withLock { $0.forgetRefusal() }
            return admitted
        } catch {
            // The awaited answer may be this process's own.
            throw error == .undecided && firstTickets.isUnderWay(true) ? silence(patience) : error
        }
    }

    private func kdcName() async -> String {
        if let known = verdicts.withLock(\.kdc) { return known }
        let (principal, name) = (principal, Expectation<String>())
        pool.submit { name.fulfil(TicketCache.realm(of: principal)) }
        let kdc = "krb5:\(await name.value(within: nil) ?? "")"
        verdicts.withLock { $0.kdc = kdc }
        return kdc
    }

    private struct Verdicts {
        /// See `KerberosPrincipal.kdc`.
        var kdc: String?
        /// The permission to renew from the latest admission. The admission itself is kept only while it is used.
        var renewal: (@Sendable () -> KDCAdmission?)?
    }

    /// Gets the ticket-granting ticket. Blocks.
    ///
    /// - Parameter admission: the account's admission; nil: no KDC is asked, or there is no account.
    private func acquire(_ admission: KDCAdmission?) -> Result<TicketCache, TicketError> {
        let now = Self.now
        if case .cache(.file(let path)) = proof { stamp.withLock { $0 = SmallFile.Stamp(path: path) } }
        do throws(GSSAPIError) {
            let cache = try proof.acquire(principal, at: now)
            // Requested now, so that no request waits when the former tickets expire. If the KDC fails meanwhile, the
            // former ones stay in use.
            var tickets: [ServiceName: TicketCache.Ticket] = [:]
            let patience = KerberosTickets.Patience(10_000)
            for service in held.withLock({ $0.servicesInUse(at: now) }) where patience.rest != 0 {
                tickets[service] = try? cache.ticket(for: service)
            }
            held.withLock { $0.replace(with: cache, tickets, at: now) }
            admission?.report(nil)
            return .success(cache)
        } catch {
            let error = TicketError(error)
            held.withLock { $0.lack(error, at: now) }
            admission?.report(error)
            return .failure(error)
        }
    }

    // MARK: - The services' tickets

    /// Blocks.
    private func fetch(_ service: ServiceName, with cache: TicketCache) -> Result<Cache.Supply, TicketError> {
        do throws(GSSAPIError) {
            let ticket = try cache.ticket(for: service)
            held.withLock { $0.put(ticket, for: service, of: cache, at: Self.now) }
            return .success(Cache.Supply(cache: cache, ticket: ticket))
        } catch {
            let error = TicketError.unavailable(error.description)
            held.withLock { $0.lack(error, for: service, at: Self.now) }
            return .failure(error)
        }
    }

    private static var now: WallTime { SystemClock.wallTime }

    /// The proof for a principal's ticket-granting ticket.
    enum Proof: Sendable {
        /// The path of a keytab.
        case keytab(String)
        /// A cache that another program keeps current.
        case cache(TicketCacheName)
        case password(Secret)

        /// Asks the KDC, or reads the cache. Blocks.
        func acquire(_ principal: String, at now: WallTime) throws(GSSAPIError) -> TicketCache {
            switch self {
            case .keytab(let path): return try TicketCache.acquire(principal, keytab: path)
            case .password(let password):
                return try password.withBytes { bytes throws(GSSAPIError) in
                    try TicketCache.acquire(principal, password: bytes)
                }
            case .cache(let name):
                let cache = try TicketCache.copy(principal, cache: name.typed, shownAs: "\(name)")
                guard cache.validity.upperBound > now else {
                    throw GSSAPIError(.unavailable, "the tickets in \(name) have expired and were not renewed")
                }
                return cache
            }
        }
    }

    /// The threads for requests to KDCs, a few for each realm. libkrb5 waits half a minute and longer for a silent KDC,
    /// and other realms must not wait with it.
    enum Threads {
        private static let pools = Mutex<[ExactText: BlockingPool]>([:])
        private static let others = BlockingPool(threads: 4)
        private static let capacity = 16

        /// - Parameter principal: the principal of the realm; without a realm it is the default one.
        static func pool(for principal: String) -> BlockingPool {
            let realm = ExactText(realm(of: principal))
            return pools.withLock { pools in
                if let known = pools[realm] { return known }
                if pools.count >= capacity { return others }
                let pool = BlockingPool(threads: 4)
                pools[realm] = pool
                return pool
            }
        }

        /// The realm of a principal; empty: the default realm.
        static func realm(of principal: String) -> String {
            principal.lastIndex(of: "@").map { String(principal[principal.index(after: $0)...]) } ?? ""
        }
    }

    /// The time that one request waits for KDCs, over all its requests to them.
    struct Patience {
        private let limit: Milliseconds?
        private let end: ContinuousClock.Instant?

        /// - Parameter limit: the time from now; nil: no limit.
        init(_ limit: Milliseconds?) {
            self.limit = limit
            end = limit.map { .now + .milliseconds($0.count) }
        }

        /// The remaining time; nil: no limit.
        var rest: Milliseconds? {
            end.map { end in
                let (seconds, attoseconds) = (end - .now).components
                return max(0, .seconds(Int(clamping: seconds)) + Milliseconds(Int(attoseconds / 1_000_000_000_000_000)))
            }
        }

        /// The proof in a sentence.
        var words: String {
            guard let limit else { return "" }
            return " within " + (limit.count % 1000 == 0 ? "\(limit.seconds) s" : "\(limit.count) ms")
        }
    }
}

extension TicketError {
    init(_ error: GSSAPIError) {
        self = error.fault == .refused ? .refused(error.description) : .unavailable(error.description)
    }
}
