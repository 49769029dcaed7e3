import Bytes
import HTTP
import PAC
import Rules

/// The origins of one loop, and the ways to them, by scheme, host and port: open addressing over the host's bytes, so that a look-up makes no key.
struct OriginTable {
    private var slots: [Origin?] = Array(repeating: nil, count: 64)
    /// Beside each origin where its requests go, by the rules under which that was asked last.
    private var destinations: [Destination?] = Array(repeating: nil, count: 64)
    private var count = 0
    private let room: IdleRoom
    private var parents: ParentTable

    /// Above this, origins without connections are forgotten before a new one is added.
    private static let limit = 4096

    /// - Parameter idleLimit: connections kept unused, over all origins.
    init(idleLimit: Int, identities: IdentityGeneration = IdentityGeneration()) {
        room = IdleRoom(places: idleLimit, identities: identities)
        parents = ParentTable(room: room)
    }

    /// The origin of that scheme, `http`, `https` or `ftp`, that host, in any case and without the dot of the root, and port.
    mutating func origin(_ scheme: Scheme, host: Span<UInt8>, port: UInt16) -> Origin {
        let host = host.extracting(first: Self.length(of: host))
        let place = place(of: scheme, host, port)
        return slots[place] ?? add(Origin(scheme: scheme, host: host, port: port, room: room))
    }

    /// Where requests for that server go by these rules; the server as in `origin`.
    mutating func destination(_ scheme: Scheme, host: Span<UInt8>, port: UInt16, by rules: RuleSet) -> Destination {
        let place = place(of: scheme, host.extracting(first: Self.length(of: host)), port)
        if let known = destinations[place], known.rules === rules { return known }
        return decideDestination(of: origin(scheme, host: host, port: port), by: rules)
    }

    private mutating func decideDestination(of origin: Origin, by rules: RuleSet) -> Destination {
        let host = origin.host
        let route = rules.route(host: host.span, port: origin.port)
        let hops = parents.hops(of: route.detour, to: host.span)
        let destination: Destination
        if origin.scheme == .http, let upgrade = route.upgrade {
            let port = upgrade.port(from: origin.port)
            destination = Destination(
                origin: self.origin(.https, host: host.span, port: port), route: route,
                upgrade: UpgradedOrigin(host: host, clientPort: origin.port, originPort: port), hops: hops, by: rules)
        } else {
            destination = Destination(origin: origin, route: route, hops: hops, by: rules)
        }
        destinations[place(of: origin.scheme, host.span, origin.port)] = destination
        return destination
    }

    /// As `ParentTable`.
    mutating func hops(of detour: Detour, to host: Span<UInt8>, found: [String: [PACWay]]) -> [Hop] {
        parents.hops(of: detour, to: host, found: found)
    }

    func closeIdle() {
        for origin in slots { origin?.closeIdle() }
        parents.closeIdle()
    }

    /// Closes those that nobody can use any more since a certificate has changed.
    func closeOutdated() {
        for origin in slots { origin?.closeOutdated() }
        parents.closeOutdated()
    }

    /// The slot of that origin, or the free one for it.
    private func place(of scheme: Scheme, _ host: Span<UInt8>, _ port: UInt16) -> Int {
        var place = Self.hash(scheme, host, port) & (slots.count - 1)
        while let origin = slots[place] {
            if origin.port == port, origin.scheme == scheme, origin.isAt(host) { break }
            place = (place + 1) & (slots.count - 1)
        }
        return place
    }

    private mutating func add(_ origin: Origin) -> Origin {
        if count >= Self.limit { forgetIdle() }
        if (count + 1) * 2 > slots.count { rebuild(capacity: slots.count * 2, keeping: { _ in true }) }
        insert(origin)
        return origin
    }

    private mutating func insert(_ origin: Origin) {
        let host = origin.host
        slots[place(of: origin.scheme, host.span, origin.port)] = origin
        count += 1
    }

    private mutating func forgetIdle() {
        rebuild(capacity: slots.count, keeping: { !$0.isIdle })
    }

    /// Forgets destinations as well: one may lead to an origin that is not kept.
    private mutating func rebuild(capacity: Int, keeping isKept: (Origin) -> Bool) {
        let old = slots
        slots = Array(repeating: nil, count: capacity)
        destinations = Array(repeating: nil, count: capacity)
        count = 0
        for case let origin? in old where isKept(origin) { insert(origin) }
    }

    /// The length of the host without the dot of the root.
    private static func length(of host: Span<UInt8>) -> Int {
        host.count > 1 && host[host.count - 1] == UInt8(ascii: ".") ? host.count - 1 : host.count
    }

    /// FNV-1a. Hosts are chosen by our clients, who gain nothing from colliding with themselves.
    private static func hash(_ scheme: Scheme, _ host: Span<UInt8>, _ port: UInt16) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for offset in host.indices { hash = (hash ^ UInt64(host[offset].asciiLowercased)) &* 0x100_0000_01b3 }
        hash = (hash ^ UInt64(port) ^ UInt64(scheme.rawValue) << 16) &* 0x100_0000_01b3
        return Int(truncatingIfNeeded: hash ^ hash >> 32)
    }
}
