import Bytes
import Model

/// The addresses that the proxy may connect to. The policy checks the address after resolution, right before
/// connecting, so that a name cannot be made to point elsewhere in between.
///
/// **The narrowest entry that contains the address decides.** The longer prefix is narrower; of equal prefixes, one
/// with a port; then an address before a class; then `deny` before `allow`. An address without an entry is permitted.
/// Loopback, link-local, multicast, unspecified and metadata addresses are refused as by a `deny` that yields to any
/// written entry as narrow: `allow 127.0.0.1:3127` or `allow loopback` permits them, `allow any` does not.
///
/// An IPv6 address that carries an IPv4 address (mapped, NAT64, 6to4, Teredo, compatible) is refused if the IPv4
/// address is.
public struct EgressPolicy: Sendable {
    private struct Item: Sendable {
        let prefix: AddressPrefix
        let port: UInt16?
        let decision: EgressPolicy.Decision
    }

    /// The items, narrowest first, so that the first that contains the address decides.
    private let items: [Item]
    private let connectPorts: PortSet

    init(_ egress: Configuration.Egress) {
        connectPorts = egress.connectPorts
        var ranked: [(rank: [Int], item: Item)] = []
        for entry in egress.entries {
            let decision: EgressPolicy.Decision =
                entry.verdict == .allow ? .permittedBy(entry.rule) : .refusedBy(entry.rule)
            for prefix in entry.prefixes {
                let rank = [
                    Self.width(prefix), entry.port == nil ? 1 : 0, entry.addressClass == nil ? 0 : 1,
                    entry.verdict == .deny ? 0 : 1,
                ]
                ranked.append((rank, Item(prefix: prefix, port: entry.port, decision: decision)))
            }
        }
        for addressClass in AddressClass.refused {
            for prefix in addressClass.prefixes {
                let item = Item(prefix: prefix, port: nil, decision: .refusedByDefault(addressClass))
                ranked.append(([Self.width(prefix), 2, 2, 2], item))
            }
        }
        // The sort is stable: of equals, the one written first.
        items = ranked.sorted { $0.rank.lexicographicallyPrecedes($1.rank) }.map(\.item)
    }

    /// Returns whether to connect to an address and port. Allocates nothing.
    public func permits(_ address: IPAddress, port: UInt16) -> EgressPolicy.Decision {
        let address = address.unmapped
        let decision = decide(address, port)
        guard decision.isPermitted, let carried = Self.carried(address) else { return decision }
        let inner = decide(carried, port)
        return inner.isPermitted ? decision : inner
    }

    /// Whether `CONNECT` may name the port.
    public func permitsConnect(port: UInt16) -> Bool { connectPorts.contains(port) }

    /// The entry that would let the proxy connect to a refused address; nil if exactly that entry denies it.
    public func entry(allowing address: IPAddress, port: UInt16) -> String? {
        let address = address.unmapped
        let refused = decide(address, port).isPermitted ? Self.carried(address) ?? address : address
        // No entry is narrower than one address with its port, and of two such entries `deny` wins.
        let isDenied = items.contains {
            $0.port == port && $0.prefix.isSingle && $0.prefix.contains(refused) && !$0.decision.isPermitted
        }
        if isDenied { return nil }
        return refused.family == .v4 ? "\(refused):\(port)" : "[\(refused)]:\(port)"
    }

    /// The ports that `CONNECT` may name, with this one added.
    public func connectPorts(with port: UInt16) -> PortSet {
        PortSet(ranges: connectPorts.ranges + (connectPorts.contains(port) ? [] : [port...port]))
    }

    private func decide(_ address: IPAddress, _ port: UInt16) -> EgressPolicy.Decision {
        for item in items where item.prefix.contains(address) {
            if let only = item.port, only != port { continue }
            return item.decision
        }
        return .permitted
    }

    /// The IPv4 address inside 64:ff9b::/96 (RFC 6052), a /96 of 64:ff9b:1::/48 (RFC 8215), 2001::/32 (RFC 4380 section
    /// 4: the client's, inverted), 2002::/16 (RFC 3056), ::ffff:0:0:0/96 (RFC 2765 section 2.1) or ::/96 (RFC 4291 section
    /// 2.5.5.1).
    public static func carried(_ address: IPAddress) -> IPAddress? {
        guard address.family == .v6 else { return nil }
        let (high, low) = (address.high, address.low)
        // The address ::1 does not carry 0.0.0.1.
        let isCompatible = high == 0 && low > 1 && low >> 32 == 0
        let isTranslated = high == 0x0064_FF9B_0000_0000 && low >> 32 == 0 || high >> 16 == 0x0064_FF9B_0001
        let isStateless = high == 0 && low >> 32 == 0xFFFF_0000
        if isCompatible || isTranslated || isStateless { return IPAddress(v4: UInt32(truncatingIfNeeded: low)) }
        if high >> 48 == 0x2002 { return IPAddress(v4: UInt32(truncatingIfNeeded: high >> 16)) }
        if high >> 32 == 0x2001_0000 { return IPAddress(v4: ~UInt32(truncatingIfNeeded: low)) }
        return nil
    }

    /// The number of bits that a prefix leaves open.
    private static func width(_ prefix: AddressPrefix) -> Int {
        (prefix.address.family == .v4 ? 32 : 128) - prefix.length
    }

    /// Whether the proxy may connect to an address, and why.
    public enum Decision: Sendable, Equatable {
        /// No entry matches the address.
        case permitted
        case permittedBy(RuleReference)
        case refusedBy(RuleReference)
        /// The class is refused unless the rule file allows it.
        case refusedByDefault(AddressClass)

        public var isPermitted: Bool {
            switch self {
            case .permitted, .permittedBy: true
            case .refusedBy, .refusedByDefault: false
            }
        }

        /// A lower-case sentence without a period.
        public var reason: String {
            switch self {
            case .permitted: "no egress entry matches the address"
            case .permittedBy(let rule): "allowed by \(rule.words)"
            case .refusedBy(let rule): "denied by \(rule.words)"
            case .refusedByDefault(let addressClass):
                "\(addressClass.rawValue) addresses are refused unless 'egress' allows them"
            }
        }
    }
}
