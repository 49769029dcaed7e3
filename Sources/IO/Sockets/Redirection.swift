import Bytes
import CLinux
import Glibc
import Synchronization

/// The connections of a process to which a firewall redirects clients (REDIRECT, TPROXY). They must not come back to it.
public enum Redirection {
    /// The mark of the process's own connections (SO_MARK), by which a firewall can let them pass. Setting it needs
    /// CAP_NET_ADMIN; without it they have none.
    public static let mark: Int32 = 3128

    private struct Own {
        /// The addresses from which the process's connections come, by their descriptors.
        var addresses: [Int32: SocketAddress] = [:]
        /// The number of connections from an address: one may lead to several servers.
        var counts: [SocketAddress: Int] = [:]
    }

    private static let own = Mutex(Own())
    /// Whether the process takes redirected connections.
    private static let active = Atomic(false)

    static var isActive: Bool { active.load(ordering: .relaxed) }

    /// Marks and remembers the process's connections from now on.
    public static func begin() { active.store(true, ordering: .relaxed) }

    /// Whether a connection from that address is one of this process.
    public static func isOwn(_ peer: SocketAddress) -> Bool { own.withLock { $0.counts[peer] != nil } }

    /// Begins the connection of a socket, as `Socket.connect` does, and remembers where it comes from. `isOwn` waits
    /// meanwhile, since the connection may arrive here before this call returns.
    /// - Returns: 0 or an error number.
    static func connect(_ descriptor: Int32, to address: SocketAddress) -> Int32 {
        var mark = mark
        setsockopt(descriptor, SOL_SOCKET, SO_MARK, &mark, socklen_t(MemoryLayout<Int32>.size))
        return own.withLock { own in
            let reason = Socket.connect(descriptor, to: address)
            guard reason == 0, let source = SocketAddress(of: descriptor, getsockname) else { return reason }
            own.addresses[descriptor] = source
            own.counts[source, default: 0] += 1
            return 0
        }
    }

    /// Forgets a connection that is about to be closed.
    static func forget(_ descriptor: Int32) {
        own.withLock { own in
            guard let source = own.addresses.removeValue(forKey: descriptor) else { return }
            let rest = (own.counts[source] ?? 0) - 1
            own.counts[source] = rest > 0 ? rest : nil
        }
    }

    /// Lets a socket, which is not bound yet, listen for connections to addresses of other machines (IP_TRANSPARENT), as TPROXY
    /// needs it. Without CAP_NET_ADMIN it only gets those that REDIRECT sends to it.
    static func listenTransparently(_ descriptor: Int32, family: Int32) {
        var one: Int32 = 1
        let (level, option) = family == AF_INET ? (IPPROTO_IP, IP_TRANSPARENT) : (Int(IPPROTO_IPV6), IPV6_TRANSPARENT)
        setsockopt(descriptor, Int32(level), option, &one, socklen_t(MemoryLayout<Int32>.size))
    }
}

extension Socket {
    /// The number of SO_ORIGINAL_DST in linux/netfilter_ipv4.h, and of IP6T_SO_ORIGINAL_DST.
    private static let originalDestination: Int32 = 80

    /// The address that the client of an accepted connection has connected to. A firewall may have redirected it here: REDIRECT
    /// replaces the address, TPROXY leaves it.
    public var originalAddress: SocketAddress? {
        guard let local = localAddress else { return nil }
        let level = local.address.family == .v4 ? Int32(IPPROTO_IP) : Int32(IPPROTO_IPV6)
        return address { getsockopt($0, level, Self.originalDestination, $1, $2) } ?? local
    }
}
