import Bytes
import CLinux
import Glibc

/// One end of a stream inside this process, for a thread that may block; the other end belongs to a loop.
///
/// One thread at a time uses it. It has no deadlines: the loop's side has, and closes the stream.
public final class BlockingSocket: Sendable {
    private let descriptor: Int32

    private init(takingOwnership descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Creates both ends of a new stream.
    public static func pair(on loop: EventLoop) throws(IOError) -> (loop: Socket, thread: BlockingSocket) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw .system(errno: errno, operation: "cannot make a pair of sockets")
        }
        let thread = BlockingSocket(takingOwnership: ends[1])
        guard fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 else {
            let reason = errno
            close(ends[0])
            throw .system(errno: reason, operation: "cannot make a pair of sockets")
        }
        return (try Socket(takingOwnership: ends[0], on: loop), thread)
    }

    /// Reads at least one byte into the free room of `buffer`, which must have some.
    /// - Returns: the number of bytes; 0 at the end, also after an error.
    public func read(into buffer: ByteBuffer) -> Int {
        while true {
            let count = buffer.withWritable { free in recv(descriptor, free.baseAddress, free.count, 0) }
            if count < 0, errno == EINTR { continue }
            return max(0, count)
        }
    }

    /// Writes all of the bytes; false if the other end is closed.
    public func write(_ bytes: Span<UInt8>) -> Bool {
        bytes.withUnsafeBufferPointer { all in
            var rest = all[...]
            while !rest.isEmpty {
                let start = UnsafeBufferPointer(rebasing: rest).baseAddress
                let sent = send(descriptor, start, rest.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
                if sent < 0, errno == EINTR { continue }
                guard sent > 0 else { return false }
                rest = rest.dropFirst(sent)
            }
            return true
        }
    }

    /// Tells the other end that no more bytes follow.
    public func shutdownWrite() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Whether the other end has been closed.
    public var hasPeerEnded: Bool {
        var watched = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&watched, 1, 0) > 0 && Int32(watched.revents) & POLLHUP != 0
    }
}

/// A request and its response over a connection of their own. Blocks: for a command without a loop.
public enum BlockingExchange {
    /// Sends `request`, and returns the bytes read until the peer closes or `limit` is reached.
    ///
    /// - Parameter time: the limit of the whole exchange.
    public static func send(
        _ request: [UInt8], to address: SocketAddress, within time: Milliseconds, limit: Int
    ) throws(IOError) -> [UInt8] {
        let descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system(errno: errno, operation: "cannot make a socket") }
        defer { close(descriptor) }
        let end = ContinuousClock.now.advanced(by: .milliseconds(time.count))
        try limitNextCall(on: descriptor, SO_SNDTIMEO, until: end)
        guard address.withSystemAddress({ connect(descriptor, $0, $1) }) == 0 else {
            throw failure("cannot connect")
        }
        return try exchange(request, on: descriptor, until: end, limit: limit)
    }

    /// Sends a request over a socket in the file system. The other end must be a process of this user or of root. Root
    /// may also ask the owner of the socket's directory.
    public static func send(
        _ request: [UInt8], to path: LocalPath, within time: Milliseconds, limit: Int
    ) throws(IOError) -> [UInt8] {
        let descriptor = try path.connected()
        defer { close(descriptor) }
        guard let peer = LocalPeer(of: descriptor) else { throw failure("cannot tell whose socket \(path) is") }
        guard peer.isOurs || LocalPeer.isRoot && peer.user == path.directoryOwner else { throw .foreignPeer(peer.user) }
        let end = ContinuousClock.now.advanced(by: .milliseconds(time.count))
        return try exchange(request, on: descriptor, until: end, limit: limit)
    }

    private static func exchange(
        _ request: [UInt8], on descriptor: Int32, until end: ContinuousClock.Instant, limit: Int
    ) throws(IOError) -> [UInt8] {
        var sent = 0
        while sent < request.count {
            try limitNextCall(on: descriptor, SO_SNDTIMEO, until: end)
            let count = request.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[sent...])
                return Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw failure("cannot send") }
            sent += count
        }
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 * 1024)
        while answer.count < limit {
            try limitNextCall(on: descriptor, SO_RCVTIMEO, until: end)
            let room = min(piece.count, limit - answer.count)
            let count = recv(descriptor, &piece, room, 0)
            if count == 0 { break }
            guard count > 0 else { throw failure("cannot receive") }
            answer += piece[..<count]
        }
        return answer
    }

    private static func limitNextCall(
        on descriptor: Int32, _ option: Int32, until end: ContinuousClock.Instant
    ) throws(IOError) {
        let (seconds, attoseconds) = ContinuousClock.now.duration(to: end).components
        var limit = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        // Zero would mean no limit.
        guard limit.tv_sec > 0 || limit.tv_sec == 0 && limit.tv_usec > 0 else { throw .timedOut }
        setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    private static func failure(_ operation: String) -> IOError {
        let reason = errno
        return [EAGAIN, EINPROGRESS].contains(reason) ? .timedOut : .system(errno: reason, operation: operation)
    }
}
