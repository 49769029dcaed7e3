import Foundation

/// Addresses by which this machine reaches itself other than by loopback: a client that comes by one of them is a stranger
/// to the proxy.
enum MachineAddress {
    /// An IPv4 address of an interface that is up; nil where there is none.
    static let other: String? = {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var next = list
        while let one = next?.pointee {
            next = one.ifa_next
            guard one.ifa_flags & UInt32(IFF_UP) != 0, one.ifa_flags & UInt32(IFF_LOOPBACK) == 0,
                let name = one.ifa_addr, name.pointee.sa_family == AF_INET
            else { continue }
            let address = name.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_addr }
            return String(cString: inet_ntoa(address))
        }
        return nil
    }()
}
