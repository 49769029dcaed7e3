import Bytes
import HTTP
import IO
import Rules
import Synchronization

/// Where this process listens itself. None of it is ever a destination, whatever `egress` says: at its proxy listeners a
/// request would run in a circle, and the admin listener takes whoever comes from this machine for somebody who may read
/// it. Only its practice pages are there to be reached through the proxy.
public final class OwnListeners: Sendable {
    public enum Kind: Sendable {
        case proxy
        case admin
    }

    private struct Entry {
        let address: SocketAddress
        let kind: Kind
    }

    private let entries = Mutex<[Entry]>([])

    public init() {}

    /// From now on nobody is led to these addresses.
    public func add(_ addresses: [SocketAddress], as kind: Kind) {
        entries.withLock { $0 += addresses.map { Entry(address: $0, kind: kind) } }
    }

    /// Which of them a connection to that address would reach; nil: none.
    public func kind(at address: IPAddress, port: UInt16) -> Kind? {
        let entries = entries.withLock { $0.filter { $0.address.port == port } }
        if entries.isEmpty { return nil }
        // An address that a translator makes of ours is ours as well.
        for address in [address.unmapped, EgressPolicy.carried(address)] {
            guard let target = address.map(Self.target) else { continue }
            if let found = entries.first(where: { Self.leads(target, to: $0.address.address.unmapped) }) {
                return found.kind
            }
        }
        return nil
    }

    /// The system takes a connection to the unspecified address for one to the loopback.
    private static func target(of address: IPAddress) -> IPAddress {
        guard address.isUnspecified else { return address }
        return address.family == .v4 ? IPAddress(v4: 0x7F00_0001) : IPAddress(v6High: 0, low: 1)
    }

    /// A listener at the unspecified address has what comes to any address of the machine, of its own family.
    private static func leads(_ target: IPAddress, to bound: IPAddress) -> Bool {
        target == bound || bound.isUnspecified && bound.family == target.family && LocalAddress.contains(target)
    }
}

extension IPAddress {
    fileprivate var isUnspecified: Bool { high == 0 && low == 0 }
}

extension Refusal {
    /// A listener of this process stands where a request or a tunnel was to go.
    public init(_ kind: OwnListeners.Kind, host: String, port: UInt16) {
        switch kind {
        case .proxy:
            self.init(
                .badGateway, .proxyLoopDetected,
                "\(host) port \(port) is this proxy itself: that would be a loop")
        case .admin:
            self.init(
                .forbidden, .destinationIPProhibited,
                "\(host) port \(port) is this proxy's own admin listener: only its practice pages are reached through "
                    + "the proxy")
        }
    }
}
