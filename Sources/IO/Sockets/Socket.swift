import Bytes
import CLinux
import Glibc

/// A connected, non-blocking stream socket.
///
/// The `try…` calls make at most one system call and never suspend. The `async` ones suspend only after a real EAGAIN,
/// on the channel's wake-up, which must be set. After the socket is closed no call is made: the number of its
/// descriptor may already belong to another connection.
public final class Socket: DescriptorChannel {
    /// The bytes delivered of the loop's share.
    private var brought = 0
    /// The turn in which the share was last used up.
    private var fullTurn: UInt64 = 0

    /// Takes ownership of a connected or connecting descriptor with its options: an accepted one has those of its
    /// listener.
    public init(takingOwnership descriptor: Int32, on loop: EventLoop) throws(IOError) {
        super.init(descriptor: descriptor, on: loop)
        if Descriptors.areFew(behind: descriptor) { loop.onScarcity?() }
        do {
            try loop.register(self)
        } catch {
            if Redirection.isActive { Redirection.forget(descriptor) }
            Glibc.close(descriptor)
            condition = .closed
            throw error
        }
    }

    /// Begins a connection to `address`: wait with `connected()`.
    public static func connecting(to address: SocketAddress, on loop: EventLoop) throws(IOError) -> Socket {
        var descriptor = open(address.family)
        if descriptor < 0, errno == EMFILE, let onScarcity = loop.onScarcity {
            onScarcity()
            descriptor = open(address.family)
        }
        guard descriptor >= 0 else { throw .system(errno: errno, operation: "cannot make a socket") }
        sendAtOnce(descriptor)
        let reason =
            Redirection.isActive ? Redirection.connect(descriptor, to: address) : connect(descriptor, to: address)
        guard reason == 0 else {
            Glibc.close(descriptor)
            throw .system(errno: reason, operation: "cannot connect to \(address)")
        }
        return try Socket(takingOwnership: descriptor, on: loop)
    }

    /// Begins the connection of a descriptor.
    /// - Returns: 0 or an error number.
    static func connect(_ descriptor: Int32, to address: SocketAddress) -> Int32 {
        let isBegun = address.withSystemAddress { Glibc.connect(descriptor, $0, $1) } == 0 || errno == EINPROGRESS
        return isBegun ? 0 : errno
    }

    override public func close() {
        if Redirection.isActive, !isClosed { Redirection.forget(descriptor) }
        super.close()
    }

    /// Sends small pieces at once (`TCP_NODELAY`): heads are written completely.
    static func sendAtOnce(_ descriptor: Int32) {
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func open(_ family: Int32) -> Int32 {
        socket(family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    /// The result of a connecting socket; nil while it is connecting. The system reports a failure only once.
    public func connectionResult() -> Result<Void, IOError>? {
        guard isWritable else { return nil }
        if isClosed { return .failure(.closed) }
        // A failure is reported as an error event (epoll_ctl(2)): without one no question is needed.
        if !isBroken { return .success(()) }
        var reason: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &reason, &length)
        return reason == 0 ? .success(()) : .failure(.system(errno: reason, operation: "cannot connect"))
    }

    /// The address of the other side; nil once it is gone.
    public var peerAddress: SocketAddress? { address(getpeername) }
    public var localAddress: SocketAddress? { address(getsockname) }

    func address(
        _ ask: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
    ) -> SocketAddress? {
        isClosed ? nil : SocketAddress(of: descriptor, ask)
    }

    // MARK: - One system call

    /// Reads once into the free room of `buffer`, which must have some, at most `limit` bytes.
    public func tryRead(into buffer: ByteBuffer, limit: Int = .max) -> Transfer {
        if isClosed { return .failed(errno: EBADF) }
        guard isReadable, hasShare else { return .wouldBlock }
        var room = 0
        let count = buffer.withWritable { free in
            room = min(free.count, limit)
            return linux_receive(descriptor, free.baseAddress, room)
        }
        return received(count, of: room)
    }

    /// Reads once into plain memory, from its front.
    public func tryRead(into room: inout MutableRawSpan) -> Transfer {
        if isClosed { return .failed(errno: EBADF) }
        guard isReadable, hasShare else { return .wouldBlock }
        let count = room.withUnsafeMutableBytes { linux_receive(descriptor, $0.baseAddress, $0.count) }
        return received(count, of: room.byteCount)
    }

    /// Handles a read. A short read has emptied the socket; only an announced end is still to be read.
    @inline(__always)
    private func received(_ count: Int, of room: Int) -> Transfer {
        if count > 0 {
            brought &+= count
            if count < room, !hasPeerEnded { isReadable = false }
        }
        return transfer(count, readable: true)
    }

    /// Whether there is something to read: bytes, the peer's end or an error.
    ///
    /// `isReadable` stays set after a read that got exactly the wanted number of bytes, since only an empty socket
    /// clears it. If that could cost a connection, use this method, which asks the system (`MSG_PEEK`). It makes no
    /// call if the flag is clear.
    public func hasInput() -> Bool {
        guard isReadable, !isClosed else { return isReadable }
        var byte: UInt8 = 0
        if recv(descriptor, &byte, 1, Int32(truncatingIfNeeded: MSG_PEEK)) >= 0 { return true }
        guard errno == EAGAIN else { return true }
        isReadable = false
        return false
    }

    /// Copies the first bytes that have come into `buffer`, at most `limit`, and leaves them unread.
    public func tryPeek(into buffer: ByteBuffer, limit: Int) -> Transfer {
        if isClosed { return .failed(errno: EBADF) }
        buffer.reserve(limit)
        let count = buffer.withWritable { free in
            let count = recv(descriptor, free.baseAddress, min(free.count, limit), Int32(truncatingIfNeeded: MSG_PEEK))
            return count < 0 ? -Int(errno) : count
        }
        return transfer(count, readable: true)
    }

    /// Whether the peer has closed its side, and everything before was read. It asks the system only after an announced
    /// end.
    public func isAtEnd() -> Bool {
        guard hasPeerEnded, !isClosed else { return isClosed }
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(truncatingIfNeeded: MSG_PEEK))
        return count == 0 || count < 0 && errno != EAGAIN && errno != EINTR
    }

    /// Whether unread bytes have arrived, perhaps without an event on the loop yet.
    public var hasUnreadBytes: Bool {
        var byte: UInt8 = 0
        return !isClosed && recv(descriptor, &byte, 1, Int32(truncatingIfNeeded: MSG_PEEK)) > 0
    }

    /// Writes once from the front of `buffer`, and consumes the written bytes.
    public func tryWrite(from buffer: ByteBuffer, limit: Int = .max) -> Transfer {
        if isClosed { return .failed(errno: EBADF) }
        guard isWritable else { return .wouldBlock }
        let count = buffer.withReadable { held in
            linux_send(descriptor, held.baseAddress, min(held.count, limit))
        }
        if count > 0 { buffer.consume(count) }
        return transfer(count, readable: false)
    }

    /// Writes once from plain memory.
    public func tryWrite(_ bytes: RawSpan) -> Transfer {
        if isClosed { return .failed(errno: EBADF) }
        guard isWritable else { return .wouldBlock }
        let count = bytes.withUnsafeBytes { linux_send(descriptor, $0.baseAddress, $0.count) }
        return transfer(count, readable: false)
    }

    /// Moves up to `limit` bytes from this socket into the pipe.
    public func trySplice(into pipe: Pipe, limit: Int) -> Transfer {
        if isClosed { return .failed(errno: EBADF) }
        guard isReadable, hasShare else { return .wouldBlock }
        let room = min(limit, pipe.capacity - pipe.held)
        guard room > 0 else { return .moved(0) }
        let count = linux_splice(descriptor, pipe.writeEnd, room, true)
        if count > 0 {
            pipe.held += count
            brought &+= count
        }
        // EAGAIN may mean that the pipe has no free slots, and not that the socket has no bytes.
        if count == -Int(EAGAIN), pipe.held > 0 { return .moved(0) }
        return transfer(count, readable: true)
    }

    /// Moves the bytes in the pipe into this socket.
    public func trySplice(from pipe: Pipe) -> Transfer {
        if isClosed { return .failed(errno: EBADF) }
        guard isWritable else { return .wouldBlock }
        guard pipe.held > 0 else { return .moved(0) }
        let count = linux_splice(pipe.readEnd, descriptor, pipe.held, false)
        if count > 0 { pipe.held -= count }
        return transfer(count, readable: false)
    }

    /// Whether the socket may deliver more in this turn; if not, its task is woken in the next one.
    private var hasShare: Bool {
        if brought < loop.share { return true }
        if fullTurn == loop.turn {
            loop.postpone(self)
            return false
        }
        fullTurn = loop.turn
        brought = 0
        return true
    }

    /// - Parameter count: the number of bytes, or a negated error number.
    private func transfer(_ count: Int, readable: Bool) -> Transfer {
        if count > 0 { return .moved(count) }
        if count == 0 { return .endOfStream }
        let reason = Int32(truncatingIfNeeded: -count)
        switch reason {
        case EAGAIN:
            if readable { isReadable = false } else { isWritable = false }
            return .wouldBlock
        case EINTR:
            return .moved(0)
        default:
            return .failed(errno: reason)
        }
    }

    // MARK: - Until complete

    /// Reads at least one byte.
    /// - Returns: the number of bytes; 0 if the peer has closed.
    public func read(into buffer: ByteBuffer) async throws(IOError) -> Int {
        while true {
            try check()
            switch tryRead(into: buffer) {
            case .moved(0): continue
            case .moved(let count): return count
            case .endOfStream: return 0
            case .failed(let errno): throw .system(errno: errno, operation: "cannot read")
            case .wouldBlock: await waitForEvent()
            }
        }
    }

    /// Writes all of `buffer`.
    public func write(from buffer: ByteBuffer) async throws(IOError) {
        while !buffer.isEmpty {
            try check()
            switch tryWrite(from: buffer) {
            case .moved, .endOfStream: continue
            case .failed(let errno): throw .system(errno: errno, operation: "cannot write")
            case .wouldBlock: await waitForEvent()
            }
        }
    }

    /// Waits without a buffer until bytes arrive or the peer closes.
    public func untilReadable() async throws(IOError) {
        while true {
            try check()
            if isReadable { return }
            await waitForEvent()
        }
    }

    /// Tells the peer that no more bytes follow.
    public func shutdownWrite() {
        guard !isClosed else { return }
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Makes `close` reset the connection, so that the peer cannot mistake a truncated body for a complete one.
    public func resetOnClose() {
        guard !isClosed else { return }
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }
}

/// The result of one system call that moves bytes.
public enum Transfer: Equatable, Sendable {
    case moved(Int)
    case endOfStream
    case wouldBlock
    case failed(errno: Int32)
}
