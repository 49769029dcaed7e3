import Glibc
import IO

/// The far end of one of the proxy's connections.
public final class PlayedEnd {
    /// How far the proxy has ended the connection.
    public enum End: Equatable, Sendable {
        case open
        case sending
        case all
    }

    /// Milliseconds in which a program runs that was started.
    private static let patience: Int32 = 20_000

    /// Bytes that the system keeps of what is sent to one that reads nothing, and to another.
    private static let room: (stalled: Int32, usual: Int32) = (4 * 1024, 1024 * 1024)

    private let descriptor: Int32
    /// The proxy's end.
    private let socket: Socket
    private var outgoing: ArraySlice<UInt8> = []
    /// Nil: it speaks in clear.
    private var tls: PlayedTLS?
    /// Bytes that came, and that no step has named.
    public var incoming: ArraySlice<UInt8> = []
    public private(set) var end = End.open
    /// The end that a step has named.
    public var namedEnd = End.open
    public private(set) var isClosed = false
    /// Whether it reads nothing, so that the proxy can send no more than the system keeps.
    private var isStalled = false
    /// Content that was sent and that was named since the last head.
    public var sent = Progress()
    public var named = Progress()

    public struct Progress {
        public var count = 0
        public var isChunked = false
        /// Bytes that the chunk still has.
        public var chunk = 0

        public init(isChunked: Bool = false) { self.isChunked = isChunked }
    }

    private init(_ descriptor: Int32, to socket: Socket) {
        self.descriptor = descriptor
        self.socket = socket
    }

    deinit { close() }

    public static func pair(on loop: EventLoop) throws(IOError) -> (Socket, PlayedEnd) {
        try pair(on: loop) { _ in }
    }

    /// The proxy's end is not connected before `accept`: until then the system takes nothing from it.
    public static func connecting(on loop: EventLoop) throws(IOError) -> (Socket, PlayedEnd) {
        try pair(on: loop) { descriptor in
            let filling = [UInt8](repeating: 0, count: 1 << 16)
            while Glibc.send(descriptor, filling, filling.count, 0) > 0 {}
        }
    }

    private static func pair(
        on loop: EventLoop, filledBy prepare: (Int32) -> Void
    ) throws(IOError) -> (Socket, PlayedEnd) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw .system(errno: errno, operation: "cannot make a pair of sockets")
        }
        prepare(ends[0])
        let socket = try Socket(takingOwnership: ends[0], on: loop)
        return (socket, PlayedEnd(ends[1], to: socket))
    }

    /// Whether the proxy has closed its end.
    public var isGivenUp: Bool { socket.isClosed }

    /// Connects the proxy.
    public func accept() {
        var filling = [UInt8](repeating: 0, count: 1 << 16)
        while recv(descriptor, &filling, filling.count, 0) > 0 {}
    }

    public func send(_ bytes: [UInt8]) {
        guard let tls else {
            outgoing += bytes
            return
        }
        tls.send(bytes)
        outgoing += tls.takeLeaving()
    }

    /// Speaks TLS as this host from now on. Bytes that no step has named yet already count as TLS.
    ///
    /// - Parameter name: of the only client certificate that it takes; nil: it asks for none.
    public func speakTLS(as host: String, accepting name: String?) throws {
        let tls = try PlayedTLS(as: host, accepting: name)
        incoming = tls.receive(incoming)[...]
        outgoing += tls.takeLeaving()
        self.tls = tls
    }

    /// Stops reading; the system buffers little.
    public func stall() {
        isStalled = true
        setRoom(Self.room.stalled)
    }

    /// Makes the system take all that is sent. The proxy does not know yet.
    public func makeRoom() {
        setRoom(Self.room.usual)
        var kept = [UInt8](repeating: 0, count: Int(Self.room.usual))
        recv(descriptor, &kept, kept.count, 0)
    }

    private func setRoom(_ count: Int32) {
        guard !socket.isClosed else { return }
        var count = count
        setsockopt(socket.descriptor, SOL_SOCKET, SO_SNDBUF, &count, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Moves what can be moved.
    /// - Returns: whether anything was.
    public func pump() -> Bool {
        guard !isClosed else { return false }
        let (had, knew) = (outgoing.count, end)
        let hasRead = receive()
        flush()
        return hasRead || had != outgoing.count || knew != end
    }

    private func flush() {
        while !outgoing.isEmpty {
            let count = outgoing.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
            }
            guard count > 0 else {
                // A peer that is gone takes nothing.
                if errno != EAGAIN { outgoing = [] }
                return
            }
            outgoing.removeFirst(count)
        }
    }

    private func receive() -> Bool {
        if isStalled {
            if socket.isClosed { end = .all }
            return false
        }
        var (hasRead, room) = (false, [UInt8](repeating: 0, count: 1 << 16))
        while true {
            let count = recv(descriptor, &room, room.count, 0)
            if count > 0 {
                take(room[..<count])
                hasRead = true
                continue
            }
            if socket.isClosed {
                // A program that another test is starting may still hold the descriptor: the peer sees nothing of the end.
                end = .all
            } else if count == 0 || errno != EAGAIN {
                var state = pollfd(fd: descriptor, events: 0, revents: 0)
                let isGone = poll(&state, 1, 0) > 0 && Int32(state.revents) & (POLLHUP | POLLERR) != 0
                end = isGone || count < 0 ? .all : .sending
            }
            return hasRead
        }
    }

    private func take(_ bytes: ArraySlice<UInt8>) {
        guard let tls else {
            incoming += bytes
            return
        }
        incoming += tls.receive(bytes)
        outgoing += tls.takeLeaving()
    }

    /// Ends the sending side after the bytes that are to be sent, as far as the proxy takes them.
    public func endSending() {
        guard !isClosed else { return }
        farewell()
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes the end after the bytes that are to be sent.
    public func close() {
        guard !isClosed else { return }
        farewell()
        isClosed = true
        Glibc.close(descriptor)
        awaitEnd()
    }

    private func farewell() {
        if let tls {
            tls.end()
            outgoing += tls.takeLeaving()
        }
        flush()
    }

    /// Waits until the proxy can see that this end is closed: a program that another test is starting may hold a copy
    /// of the descriptor until it runs.
    private func awaitEnd() {
        guard !socket.isClosed else { return }
        var state = pollfd(fd: socket.descriptor, events: 0, revents: 0)
        poll(&state, 1, Self.patience)
    }

    /// A stream socket that is closed with bytes unread resets its peer, as TCP does.
    public func reset() {
        var byte: UInt8 = 0
        tls = nil
        if !isClosed, !socket.isClosed {
            Glibc.send(socket.descriptor, &byte, 1, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
        }
        close()
    }
}
