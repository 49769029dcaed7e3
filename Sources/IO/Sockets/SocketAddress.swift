import Bytes
import CLinux
import Glibc

/// An IP address and a port, to listen on or to connect to.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    public let address: IPAddress
    public let port: UInt16

    public init(_ address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    public var description: String {
        address.family == .v4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    }

    var family: Int32 { address.family == .v4 ? AF_INET : AF_INET6 }

    /// Calls `body` with the system's form of the address.
    func withSystemAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch address.family {
        case .v4:
            var system = sockaddr_in()
            system.sin_family = sa_family_t(AF_INET)
            system.sin_port = port.bigEndian
            system.sin_addr.s_addr = UInt32(truncatingIfNeeded: address.low).bigEndian
            return Self.rebound(&system, body)
        case .v6:
            var system = sockaddr_in6()
            system.sin6_family = sa_family_t(AF_INET6)
            system.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &system.sin6_addr) { room in
                room.storeBytes(of: address.high.bigEndian, toByteOffset: 0, as: UInt64.self)
                room.storeBytes(of: address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            return Self.rebound(&system, body)
        }
    }

    private static func rebound<System, Result>(
        _ system: inout System, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: &system) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<System>.size))
            }
        }
    }

    /// The system's form of an address; nil when it is neither IPv4 nor IPv6.
    public init?(system: UnsafePointer<sockaddr>) {
        var storage = sockaddr_storage()
        switch Int32(system.pointee.sa_family) {
        case AF_INET: memcpy(&storage, system, MemoryLayout<sockaddr_in>.size)
        case AF_INET6: memcpy(&storage, system, MemoryLayout<sockaddr_in6>.size)
        default: return nil
        }
        self.init(storage)
    }

    /// The address that a call of the system, such as `getsockname`, gives for a socket; nil if it fails.
    init?(
        of descriptor: Int32,
        _ ask: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
    ) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(descriptor, $0, &length) }
        }
        guard result == 0 else { return nil }
        self.init(storage)
    }

    /// Nil if the storage contains neither an IPv4 nor an IPv6 address.
    init?(_ storage: sockaddr_storage) {
        var storage = storage
        switch Int32(storage.ss_family) {
        case AF_INET:
            let system = withUnsafeBytes(of: &storage) { $0.loadUnaligned(as: sockaddr_in.self) }
            self.init(
                IPAddress(v4: UInt32(bigEndian: system.sin_addr.s_addr)), port: UInt16(bigEndian: system.sin_port))
        case AF_INET6:
            let system = withUnsafeBytes(of: &storage) { $0.loadUnaligned(as: sockaddr_in6.self) }
            let address = withUnsafeBytes(of: system.sin6_addr) { bytes in
                IPAddress(
                    v6High: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                    low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
            }
            self.init(address, port: UInt16(bigEndian: system.sin6_port))
        default:
            return nil
        }
    }
}

/// The addresses of this machine.
public enum LocalAddress {
    /// Whether packets to the address stay on this machine. The system is asked each time, since addresses change: for
    /// a local destination it chooses that address as the source. Nothing is sent.
    public static func contains(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        if address.isLoopback { return true }
        let target = SocketAddress(address, port: 9)
        let descriptor = socket(target.family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // Without a descriptor the answer is unknown; the connection in question could not be made either.
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        guard target.withSystemAddress({ connect(descriptor, $0, $1) }) == 0 else { return false }
        return SocketAddress(of: descriptor, getsockname)?.address == address
    }
}
