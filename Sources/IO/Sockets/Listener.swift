import Bytes
import CLinux
import Glibc

/// A listening socket on one loop. Each loop has its own for one address (`SO_REUSEPORT`), so that an accepted
/// connection never changes threads. If a service manager has passed a socket for the address, the loops share it
/// instead.
public final class Listener: DescriptorChannel {
    /// The address; 0.0.0.0:0 for a socket in the file system.
    public let address: SocketAddress
    private let isLocal: Bool
    private let accept: (AcceptedConnection) -> Void
    private var spare: Int32
    /// While set, clients wait in the system's queue, since the process has reached its limit.
    public var isPaused = false {
        didSet { if oldValue, !isPaused { acceptAll() } }
    }
    private static let backlog: Int32 = 1024
    /// The connections accepted in one turn before the loop's other channels are served.
    private static let batch = 64
    /// The time to leave the queue alone when the process has no descriptors left.
    private static let pause: Milliseconds = 100

    /// Binds and listens. `accept` is called on the loop with each new connection, and then owns it. With port 0 the
    /// system chooses a port, which `address` then has.
    /// - Parameter isTransparent: whether a firewall redirects clients here, which have connected to other addresses.
    /// - Throws: `IOError.system` (EADDRINUSE, EACCES, EADDRNOTAVAIL …).
    public convenience init(
        _ wanted: SocketAddress, on loop: EventLoop, isTransparent: Bool = false,
        accept: @escaping (AcceptedConnection) -> Void
    ) throws(IOError) {
        let descriptor = try Self.listening(on: wanted, isTransparent: isTransparent)
        try self.init(descriptor, at: SocketAddress(of: descriptor, getsockname) ?? wanted, on: loop, accept: accept)
    }

    /// Listens on a socket in the file system, which other loops may share.
    public convenience init(
        _ socket: LocalSocket, on loop: EventLoop, accept: @escaping (AcceptedConnection) -> Void
    ) throws(IOError) {
        try self.init(socket.copy(), at: nil, on: loop, accept: accept)
    }

    private init(
        _ descriptor: Int32, at address: SocketAddress?, on loop: EventLoop,
        accept: @escaping (AcceptedConnection) -> Void
    ) throws(IOError) {
        self.accept = accept
        self.address = address ?? SocketAddress(IPAddress(v4: 0), port: 0)
        isLocal = address == nil
        spare = linux_open_spare()
        super.init(descriptor: descriptor, on: loop)
        try loop.register(self)
    }

    /// Checks that the address is free. Called once before any loop starts, without `SO_REUSEPORT`: with it a second
    /// process would silently share the port. It does not listen, so no client can mistake it for a server.
    public static func probe(_ address: SocketAddress) throws(IOError) {
        if PassedSockets.contains(address) { return }
        Glibc.close(try bind(address, sharing: false))
    }

    private static func listening(on address: SocketAddress, isTransparent: Bool) throws(IOError) -> Int32 {
        if let passed = try PassedSockets.copy(at: address) { return passed }
        let descriptor = try bind(address, sharing: true, isTransparent: isTransparent)
        guard Glibc.listen(descriptor, backlog) == 0 else {
            let reason = errno
            Glibc.close(descriptor)
            throw .system(errno: reason, operation: "cannot listen on \(address)")
        }
        return descriptor
    }

    private static func bind(
        _ address: SocketAddress, sharing: Bool, isTransparent: Bool = false
    ) throws(IOError) -> Int32 {
        let operation = "cannot listen on \(address)"
        let descriptor = socket(
            address.family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system(errno: errno, operation: operation) }
        var one: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, size)
        if sharing { setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &one, size) }
        if isTransparent { Redirection.listenTransparently(descriptor, family: address.family) }
        // Linux gives each accepted connection the options of its listener, which saves a call.
        Socket.sendAtOnce(descriptor)
        if address.family == AF_INET6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, size) }
        guard address.withSystemAddress({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
            let reason = errno
            Glibc.close(descriptor)
            throw .system(errno: reason, operation: operation)
        }
        return descriptor
    }

    override func receive(_ mask: UInt32) { acceptAll() }
    /// Tries again after the pause: there may be descriptors now.
    override func expire() { acceptAll() }
    override func resume() { acceptAll() }

    private func acceptAll() {
        var count = 0
        while condition == .open, !isPaused {
            guard count < Self.batch else { return loop.postpone(self) }
            if count > 0, !isAnyoneWaiting { return }
            count += 1
            switch acceptNext() {
            case .success(let connection): accept(connection)
            case .failure(let reason) where reason.code == EAGAIN: return
            case .failure(let reason) where [EMFILE, ENFILE].contains(reason.code): return refuseOne()
            case .failure(let reason) where [EINTR, ECONNABORTED].contains(reason.code): continue
            case .failure: return setDeadline(after: Self.pause)
            }
        }
    }

    /// The system creates a whole socket before it sees that no connection waits: this check costs a tenth of a useless
    /// accept.
    private var isAnyoneWaiting: Bool {
        var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&question, 1, 0) != 0
    }

    private struct Reason: Error { let code: Int32 }

    /// Accepts a connection with its peer's address. A later question fails if the peer has left.
    private func acceptNext() -> Result<AcceptedConnection, Reason> {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let accepted = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { linux_accept(descriptor, $0, &length) }
        }
        guard accepted >= 0 else { return .failure(Reason(code: -accepted)) }
        if let peer = SocketAddress(storage) {
            return .success(AcceptedConnection(descriptor: accepted, peer: .network(peer)))
        }
        if isLocal, let peer = LocalPeer(of: accepted) {
            return .success(AcceptedConnection(descriptor: accepted, peer: .local(peer)))
        }
        Glibc.close(accepted)
        return .failure(Reason(code: ECONNABORTED))
    }

    /// Refuses one client when descriptors have run out: the spare descriptor is used to close its connection, so that
    /// it does not hang.
    private func refuseOne() {
        if spare >= 0 {
            Glibc.close(spare)
            let descriptor = linux_accept(self.descriptor, nil, nil)
            if descriptor >= 0 { Glibc.close(descriptor) }
        }
        // Another thread may have taken the descriptor: then the next pause tries again.
        spare = linux_open_spare()
        setDeadline(after: Self.pause)
    }

    override public func close() {
        // A passed socket stays open elsewhere, and its watch with it.
        if !isClosed { loop.endWatch(of: self) }
        super.close()
        if spare >= 0 { Glibc.close(spare) }
        spare = -1
    }
}

/// A connection from a listener's system call.
public struct AcceptedConnection: Sendable {
    /// The new owner of the connection closes it.
    public let descriptor: Int32
    public let peer: Peer

    /// The address of the client, or its process at a socket in the file system.
    public enum Peer: Sendable {
        case network(SocketAddress)
        case local(LocalPeer)
    }

    /// Closes a connection that is not used.
    public func close() { Glibc.close(descriptor) }
}
