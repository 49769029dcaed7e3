import Glibc

/// The addresses for scripts.
enum PACAddresses {
    /// The addresses of a name, in the resolver's order, without duplicates; empty if the name has none. Blocks.
    static func resolve(_ name: String, family: Int32) -> [String] {
        guard !name.isEmpty, name.utf8.count <= 255 else { return [] }
        var hints = addrinfo()
        hints.ai_family = family
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [String] = []
        var next = list
        while let entry = next {
            if let text = text(of: entry.pointee.ai_addr), !found.contains(text) { found.append(text) }
            next = entry.pointee.ai_next
        }
        return found
    }

    /// The addresses of this machine on interfaces that are up, without loopback and link-local ones; `127.0.0.1` if it
    /// has no others.
    static var own: (first: String, all: [String]) {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return ("127.0.0.1", ["127.0.0.1"]) }
        defer { freeifaddrs(list) }
        var (v4, v6): ([String], [String]) = ([], [])
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard entry.ifa_flags & UInt32(IFF_UP) != 0, entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0,
                let address = entry.ifa_addr, let text = text(of: address)
            else { continue }
            if address.pointee.sa_family == sa_family_t(AF_INET) {
                if !text.hasPrefix("169.254.") { v4.append(text) }
            } else if !text.hasPrefix("fe80:") {
                v6.append(text)
            }
        }
        let all = v6 + v4
        return (v4.first ?? "127.0.0.1", all.isEmpty ? ["127.0.0.1"] : all)
    }

    /// Nil for an address that is neither IPv4 nor IPv6.
    private static func text(of address: UnsafeMutablePointer<sockaddr>?) -> String? {
        guard let address else { return nil }
        let size: Int
        switch Int32(address.pointee.sa_family) {
        case AF_INET: size = MemoryLayout<sockaddr_in>.size
        case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        var room = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, socklen_t(size), &room, socklen_t(room.count), nil, 0, NI_NUMERICHOST) == 0 else {
            return nil
        }
        let text = room.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
        // The scope of a link-local address is removed.
        return text?.split(separator: "%").first.map(String.init)
    }
}
