import Authentication
import Bytes
import GSSAPI

extension KerberosTickets {
    /// The cached tickets of a principal, and the reasons why others are missing. A value without I/O.
    struct Cache {
        struct Held {
            let ticket: TicketCache.Ticket
            /// The cache of the ticket: the one with the ticket-granting ticket that it was obtained with.
            let cache: TicketCache
            let since: WallTime
        }

        /// The ticket of a login.
        struct Supply {
            let cache: TicketCache
            let ticket: TicketCache.Ticket
        }

        private struct Failure {
            let error: TicketError
            let until: WallTime
        }

        private(set) var cache: TicketCache?
        private var services: [ServiceName: Held] = [:]
        /// The reason why there is no ticket-granting ticket, and the time until which none is requested.
        private var failure: Failure?
        private var missing: [ServiceName: Failure] = [:]

        /// The time between requests to a KDC that does not answer.
        private static let pause: Milliseconds = .seconds(2)
        /// The time for which a ticket counts as new, so that it is not the cause of a failure.
        private static let newness: Milliseconds = .seconds(2)
        private static let capacity = 1024

        /// The reason why the ticket-granting ticket cannot be obtained or renewed.
        var trouble: TicketError? { failure?.error }

        /// Whether the ticket is valid for some time yet.
        private static func isUsable(_ validity: Range<WallTime>, at now: WallTime) -> Bool {
            now < validity.upperBound - min(.seconds(30), (validity.upperBound - validity.lowerBound) / 10)
        }

        func supply(for service: ServiceName, at now: WallTime) -> Supply? {
            guard let held = services[service], Self.isUsable(held.ticket.validity, at: now) else { return nil }
            return Supply(cache: held.cache, ticket: held.ticket)
        }

        func usableCache(at now: WallTime) -> TicketCache? {
            cache.flatMap { Self.isUsable($0.validity, at: now) ? $0 : nil }
        }

        /// The reason not to request a ticket-granting ticket now.
        func reasonToWait(at now: WallTime) -> TicketError? { failure.flatMap { now < $0.until ? $0.error : nil } }

        func reasonToWait(for service: ServiceName, at now: WallTime) -> TicketError? {
            missing[service].flatMap { now < $0.until ? $0.error : nil }
        }

        /// Whether to renew the ticket-granting ticket while it is valid.
        func isRenewalDue(at now: WallTime) -> Bool {
            guard let validity = cache?.validity, reasonToWait(at: now) == nil else { return false }
            return now >= validity.lowerBound + (validity.upperBound - validity.lowerBound) * 3 / 4
        }

        /// The services whose tickets are in use, to be requested with a new ticket-granting ticket.
        func servicesInUse(at now: WallTime) -> [ServiceName] {
            services.filter { Self.isUsable($0.value.ticket.validity, at: now) }.map(\.key)
        }

        /// Uses a new ticket-granting ticket, with the service tickets obtained with it. Former tickets of other
        /// services stay.
        mutating func replace(with cache: TicketCache, _ tickets: [ServiceName: TicketCache.Ticket], at now: WallTime) {
            self.cache = cache
            let former = services.filter { Self.isUsable($0.value.ticket.validity, at: now) }
            services = tickets.mapValues { Held(ticket: $0, cache: cache, since: now) }.merging(former) { new, _ in new
            }
            failure = nil
            missing = [:]
        }

        /// - Parameter error: a refusal is kept for good, any other error for a moment.
        mutating func lack(_ error: TicketError, at now: WallTime) {
            failure = Failure(error: error, until: error.isRefusal ? .distantFuture : now + Self.pause)
        }

        /// Allows another request to the KDC after it refused the password or the key.
        mutating func forgetRefusal() {
            if case .refused? = failure?.error { failure = nil }
        }

        mutating func put(
            _ ticket: TicketCache.Ticket, for service: ServiceName, of cache: TicketCache, at now: WallTime
        ) {
            guard cache === self.cache else { return }
            if services.count >= Self.capacity { services = [:] }
            services[service] = Held(ticket: ticket, cache: cache, since: now)
            missing[service] = nil
        }

        mutating func lack(_ error: TicketError, for service: ServiceName, at now: WallTime) {
            if missing.count >= Self.capacity { missing = [:] }
            missing[service] = Failure(error: error, until: now + Self.pause)
        }

        /// Drops a ticket that a service does not accept, unless it is new.
        mutating func renounce(_ service: ServiceName, at now: WallTime) -> Supply? {
            guard let held = services[service], now >= held.since + Self.newness else { return nil }
            services[service] = nil
            return Supply(cache: held.cache, ticket: held.ticket)
        }
    }
}
