import Bytes
import HTTP

/// The origins of one loop by scheme, host and port: open addressing over the host's bytes, so that a look-up makes no key.
struct OriginTable {
    private var slots: [Origin?] = Array(repeating: nil, count: 64)
    private var count = 0
    private let room: IdleRoom

    /// Above this, origins without connections are forgotten before a new one is added.
    private static let limit = 4096

    /// - Parameter idleLimit: connections kept unused, over all origins.
    init(idleLimit: Int) { room = IdleRoom(places: idleLimit) }

    /// The origin of that scheme, `http` or `https`, that host, in any case and without the dot of the root, and port.
    mutating func origin(_ scheme: Scheme, host: Span<UInt8>, port: UInt16) -> Origin {
        let isRooted = host.count > 1 && host[host.count - 1] == UInt8(ascii: ".")
        let host = host.extracting(first: isRooted ? host.count - 1 : host.count)
        var place = Self.hash(scheme, host, port) & (slots.count - 1)
        while let origin = slots[place] {
            if origin.port == port, origin.scheme == scheme, origin.isAt(host) { return origin }
            place = (place + 1) & (slots.count - 1)
        }
        let origin = Origin(scheme: scheme, host: host, port: port, room: room)
        if count >= Self.limit { forgetIdle() }
        if (count + 1) * 2 > slots.count { rebuild(capacity: slots.count * 2, keeping: { _ in true }) }
        insert(origin)
        return origin
    }

    func closeIdle() {
        for origin in slots { origin?.closeIdle() }
    }

    private mutating func insert(_ origin: Origin) {
        let host = origin.host
        var place = Self.hash(origin.scheme, host.span, origin.port) & (slots.count - 1)
        while slots[place] != nil { place = (place + 1) & (slots.count - 1) }
        slots[place] = origin
        count += 1
    }

    private mutating func forgetIdle() {
        rebuild(capacity: slots.count, keeping: { !$0.isIdle })
    }

    private mutating func rebuild(capacity: Int, keeping isKept: (Origin) -> Bool) {
        let old = slots
        slots = Array(repeating: nil, count: capacity)
        count = 0
        for case let origin? in old {
            if isKept(origin) { insert(origin) } else { origin.forgetDestination() }
        }
    }

    /// FNV-1a. Hosts are chosen by our clients, who gain nothing from colliding with themselves.
    private static func hash(_ scheme: Scheme, _ host: Span<UInt8>, _ port: UInt16) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for offset in host.indices { hash = (hash ^ UInt64(host[offset].asciiLowercased)) &* 0x100_0000_01b3 }
        hash = (hash ^ UInt64(port) ^ UInt64(scheme.rawValue) << 16) &* 0x100_0000_01b3
        return Int(truncatingIfNeeded: hash ^ hash >> 32)
    }
}
