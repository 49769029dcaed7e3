import Bytes
import CLinux
import Glibc

/// The end of a stream within this process that belongs to a thread which may block; the other end is a loop's.
///
/// One thread at a time uses it. Nothing here has a deadline: the loop's side has, and ends the stream.
public final class BlockingSocket: Sendable {
    private let descriptor: Int32

    private init(takingOwnership descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Both ends of a new stream.
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
    /// - Returns: the count; 0 is the end, also that of a stream that broke.
    public func read(into buffer: ByteBuffer) -> Int {
        while true {
            let count = buffer.withWritable { free in recv(descriptor, free.baseAddress, free.count, 0) }
            if count < 0, errno == EINTR { continue }
            return max(0, count)
        }
    }

    /// Writes all of the bytes; false when nobody takes them any more.
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

    /// Says to the other end that nothing more will come from here.
    public func shutdownWrite() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Whether the other end has been closed.
    public var hasPeerEnded: Bool {
        var watched = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&watched, 1, 0) > 0 && Int32(watched.revents) & POLLHUP != 0
    }
}
