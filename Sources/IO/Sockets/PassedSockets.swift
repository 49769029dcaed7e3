import Glibc

/// The listening sockets that a service manager opened before it started this process (sd_listen_fds(3)).
public enum PassedSockets {
    private static let first: Int32 = 3
    private static let most: Int32 = 1024

    private static let descriptors: [SocketAddress: Int32] = {
        guard number("LISTEN_PID") == getpid(), let count = number("LISTEN_FDS"), (1...most).contains(count) else {
            return [:]
        }
        var sockets: [SocketAddress: Int32] = [:]
        for descriptor in first..<(first + count) {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            guard isListening(descriptor), let address = SocketAddress(of: descriptor, getsockname) else { continue }
            sockets[address] = descriptor
        }
        return sockets
    }()

    /// Takes the sockets, and hides them from child processes. Call it before there are any.
    public static func take() { _ = descriptors }

    /// The addresses on which the sockets listen.
    public static var addresses: [SocketAddress] {
        descriptors.keys.sorted { "\($0)" < "\($1)" }
    }

    static func contains(_ address: SocketAddress) -> Bool { descriptors[address] != nil }

    /// A new descriptor for the socket at that address, ready for a loop; nil: none was passed.
    static func copy(at address: SocketAddress) throws(IOError) -> Int32? {
        guard let passed = descriptors[address] else { return nil }
        let descriptor = fcntl(passed, F_DUPFD_CLOEXEC, 0)
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) >= 0 else {
            let reason = errno
            if descriptor >= 0 { close(descriptor) }
            throw .system(errno: reason, operation: "cannot use the socket that was passed for \(address)")
        }
        Socket.sendAtOnce(descriptor)
        return descriptor
    }

    /// Whether the descriptor is a socket that takes connections.
    static func isListening(_ descriptor: Int32) -> Bool {
        var isListening: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0 && isListening != 0
    }

    private static func number(_ name: String) -> Int32? { getenv(name).flatMap { Int32(String(cString: $0)) } }
}
