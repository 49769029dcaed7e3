import Authentication
import GSSAPI

/// The tickets of a principal that are at hand, and why others are not. A value without I/O; times are seconds since 1970.
struct HeldTickets {
    struct Held {
        let ticket: ServiceTicket
        /// Where it is kept: with the first ticket that it was got with.
        let cache: TicketCache
        let since: Int
    }

    /// The ticket of a login.
    struct Supply {
        let cache: TicketCache
        let ticket: ServiceTicket
    }

    private struct Failure {
        let error: TicketError
        let until: Int
    }

    private(set) var cache: TicketCache?
    private var services: [ServiceName: Held] = [:]
    /// Why there is no first ticket, and none is asked for before that time.
    private var failure: Failure?
    private var missing: [ServiceName: Failure] = [:]

    /// Between questions that nobody answered.
    private static let pause = 2
    /// A ticket that just came is not the cause of what goes wrong with it.
    private static let newness = 2
    private static let capacity = 1024

    /// The reason, if the first ticket cannot be got, or not again.
    var trouble: TicketError? { failure?.error }

    /// Whether the ticket can be used for a while yet.
    private static func isUsable(_ validity: Range<Int>, at now: Int) -> Bool {
        now < validity.upperBound - min(30, validity.count / 10)
    }

    func supply(for service: ServiceName, at now: Int) -> Supply? {
        guard let held = services[service], Self.isUsable(held.ticket.validity, at: now) else { return nil }
        return Supply(cache: held.cache, ticket: held.ticket)
    }

    func usableCache(at now: Int) -> TicketCache? {
        cache.flatMap { Self.isUsable($0.validity, at: now) ? $0 : nil }
    }

    /// Why there is no use in asking for a first ticket now.
    func reasonToWait(at now: Int) -> TicketError? { failure.flatMap { now < $0.until ? $0.error : nil } }

    func reasonToWait(for service: ServiceName, at now: Int) -> TicketError? {
        missing[service].flatMap { now < $0.until ? $0.error : nil }
    }

    /// Whether another first ticket is to be got while this one holds.
    func isRenewalDue(at now: Int) -> Bool {
        guard let cache, reasonToWait(at: now) == nil else { return false }
        return now >= cache.validity.lowerBound + cache.validity.count * 3 / 4
    }

    /// The services whose tickets are used, which a new first ticket is to bring along.
    func servicesInUse(at now: Int) -> [ServiceName] {
        services.filter { Self.isUsable($0.value.ticket.validity, at: now) }.map(\.key)
    }

    /// Takes up a new first ticket, and the services' tickets that came with it. Those that did not come go on as they are.
    mutating func replace(with cache: TicketCache, _ tickets: [ServiceName: ServiceTicket], at now: Int) {
        self.cache = cache
        let former = services.filter { Self.isUsable($0.value.ticket.validity, at: now) }
        services = tickets.mapValues { Held(ticket: $0, cache: cache, since: now) }.merging(former) { new, _ in new }
        failure = nil
        missing = [:]
    }

    /// - Parameter error: a refusal holds for good, anything else for a moment.
    mutating func lack(_ error: TicketError, at now: Int) {
        if case .refused = error {
            failure = Failure(error: error, until: .max)
        } else {
            failure = Failure(error: error, until: now + Self.pause)
        }
    }

    /// Allows the KDC to be asked again after it refused the password or the key.
    mutating func forgetRefusal() {
        if case .refused? = failure?.error { failure = nil }
    }

    mutating func put(_ ticket: ServiceTicket, for service: ServiceName, of cache: TicketCache, at now: Int) {
        guard cache === self.cache else { return }
        if services.count >= Self.capacity { services = [:] }
        services[service] = Held(ticket: ticket, cache: cache, since: now)
        missing[service] = nil
    }

    mutating func lack(_ error: TicketError, for service: ServiceName, at now: Int) {
        if missing.count >= Self.capacity { missing = [:] }
        missing[service] = Failure(error: error, until: now + Self.pause)
    }

    /// Drops a ticket that a service does not take, unless it is new.
    mutating func renounce(_ service: ServiceName, at now: Int) -> Supply? {
        guard let held = services[service], now >= held.since + Self.newness else { return nil }
        services[service] = nil
        return Supply(cache: held.cache, ticket: held.ticket)
    }
}
