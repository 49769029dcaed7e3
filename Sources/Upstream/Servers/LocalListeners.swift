import Bytes
import HTTP
import IO
import Rules
import Synchronization

/// The addresses at which this process listens. None of them is ever a destination, even if `egress` allows it. A request
/// to one of its proxy listeners would loop. The admin listener trusts every client on this machine to read it. Only
/// its practice pages can be reached through the proxy.
public final class LocalListeners: Sendable {
    public enum Kind: Sendable {
        case proxy
        case admin
    }

    private let entries = Mutex<[(address: SocketAddress, kind: Kind)]>([])

    /// Adds addresses that no request may reach from now on.
    public func add(_ addresses: [SocketAddress], as kind: Kind) {
        entries.withLock { $0 += addresses.map { (address: $0, kind: kind) } }
    }

    /// The kind of listener that a connection to that address would reach; nil if none.
    public func kind(at address: IPAddress, port: UInt16) -> Kind? {
        let entries = entries.withLock { $0.filter { $0.address.port == port } }
        if entries.isEmpty { return nil }
        // An address that a translator maps to ours counts as ours.
        for address in [address.unmapped, EgressPolicy.carried(address)] {
            guard let target = address.map(Self.target) else { continue }
            if let found = entries.first(where: { Self.leads(target, to: $0.address.address.unmapped) }) {
                return found.kind
            }
        }
        return nil
    }

    /// The system connects to the loopback when asked for the unspecified address.
    private static func target(of address: IPAddress) -> IPAddress {
        guard address.isUnspecified else { return address }
        return address.family == .v4 ? IPAddress(v4: 0x7F00_0001) : IPAddress(v6High: 0, low: 1)
    }

    /// A listener at the unspecified address accepts connections to every address of its family on this machine.
    private static func leads(_ target: IPAddress, to bound: IPAddress) -> Bool {
        target == bound || bound.isUnspecified && bound.family == target.family && LocalAddress.contains(target)
    }
}

extension IPAddress {
    fileprivate var isUnspecified: Bool { high == 0 && low == 0 }
}

extension Refusal {
    /// The refusal for a request or a tunnel to a listener of this process.
    public init(_ kind: LocalListeners.Kind, host: String, port: UInt16) {
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
