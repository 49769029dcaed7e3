import Foundation
import Synchronization

/// Ports of 127.0.0.1 for servers that need a fixed number. The kernel chooses each, and this process keeps it bound
/// without listening. So no other program gets it, neither before the server starts nor while it is away, and
/// connections are refused. `SO_REUSEADDR` lets a server bind it as well, which all servers started here do.
public enum LoopbackPort {
    /// The descriptors by port.
    private static let held = Mutex<[UInt16: Int32]>([:])

    /// Returns an unused port.
    public static func take() -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound, let port = number(of: descriptor) else {
            fatalError("no port of the loopback address is free: \(String(cString: strerror(errno)))")
        }
        held.withLock { $0[port] = descriptor }
        return port
    }

    /// Releases the port: another program may get it.
    public static func release(_ port: UInt16) {
        if let descriptor = held.withLock({ $0.removeValue(forKey: port) }) { close(descriptor) }
    }

    /// The port of a descriptor that is bound.
    public static func number(of descriptor: Int32) -> UInt16? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
        }
        return isKnown ? UInt16(bigEndian: address.sin_port) : nil
    }
}
