import Bytes
import CLinux
import Glibc

/// The addresses of this machine.
public enum LocalAddress {
    /// Whether what goes to the address stays on this machine. The system says so, each time, since addresses come and go:
    /// of a way that ends here the destination is also the source. Nothing is sent.
    public static func contains(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        let isLoopback = address.family == .v4 ? address.low >> 24 == 127 : address.high == 0 && address.low == 1
        if isLoopback { return true }
        let target = SocketAddress(address, port: 9)
        let descriptor = socket(target.family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // Without a descriptor nobody knows; the connection that this is about could not be made either.
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        guard target.withSystemAddress({ connect(descriptor, $0, $1) }) == 0 else { return false }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return result == 0 && SocketAddress(storage)?.address == address
    }
}
