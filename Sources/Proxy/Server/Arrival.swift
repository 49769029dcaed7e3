import Bytes
import IO

/// A client's connection that waits for room, or is told that it is not served. It holds neither task nor buffer.
final class Arrival: ChannelObserver {
    private enum Phase {
        /// Awaiting room; becomes `.refused` or `.over`.
        case waiting
        /// Awaiting something to answer; becomes `.answered` or `.over`.
        case refused(Arrivals.Reason)
        /// Awaiting the client's end, with so many bytes still read and thrown away; becomes `.over`.
        case answered(rest: Int)
        /// Closed, or a session's. Stays.
        case over
    }

    let address: IPAddress
    /// Nil for a client in clear.
    let identity: ListenerIdentity?
    /// When it came, on the loop's clock.
    let since: UInt64
    /// The same in nanoseconds.
    let arrived: UInt64
    private let socket: Socket
    private let loop: EventLoop
    private unowned let arrivals: Arrivals
    private var phase = Phase.waiting

    /// Bytes that are read and thrown away behind an answer, so that a client which is still sending gets to read it.
    private static let lingerBytes = 64 * 1024
    private static let lingerMilliseconds = 1000

    init(
        _ socket: Socket, on loop: EventLoop, from address: IPAddress, as identity: ListenerIdentity?,
        to arrivals: Arrivals
    ) {
        self.socket = socket
        self.loop = loop
        self.address = address
        self.identity = identity
        self.arrivals = arrivals
        since = loop.now
        arrived = loop.nanoseconds
    }

    func wait(_ milliseconds: Int) {
        socket.observer = self
        socket.clearTimeout()
        socket.setDeadline(after: milliseconds)
    }

    /// Gives the connection away.
    func release() -> Socket {
        phase = .over
        socket.observer = nil
        socket.setDeadline(after: nil)
        socket.clearTimeout()
        return socket
    }

    /// Answers once the client has said something: an answer to nothing is an error to some.
    func refuse(_ reason: Arrivals.Reason, within limit: Int) {
        phase = .refused(reason)
        wait(limit)
        if socket.isReadable { answer(reason) }
    }

    func close() {
        if case .over = phase { return }
        phase = .over
        socket.close()
        arrivals.forget(self)
    }

    func channelChanged(_ channel: Channel) {
        switch phase {
        case .waiting: if !channel.isOpen { arrivals.askAgain(for: self) }
        case .refused(let reason):
            if channel.isReadable {
                answer(reason)
            } else if !channel.isOpen {
                close()
            }
        case .answered(let rest):
            if channel.isReadable {
                discard(rest)
            } else if !channel.isOpen {
                close()
            }
        case .over: break
        }
    }

    private func answer(_ reason: Arrivals.Reason) {
        switch read(Self.lingerBytes) {
        case .moved: break
        case .wouldBlock: return
        case .endOfStream, .failed: return close()
        }
        let buffer = arrivals.answer(self, reason)
        defer { loop.buffers.give(buffer) }
        // It is shorter than what any socket takes at once.
        guard case .moved = socket.tryWrite(from: buffer), buffer.isEmpty else { return close() }
        socket.shutdownWrite()
        wait(Self.lingerMilliseconds)
        discard(Self.lingerBytes)
    }

    private func discard(_ limit: Int) {
        var rest = limit
        while rest > 0 {
            switch read(rest) {
            case .moved(let count): rest -= count
            case .wouldBlock:
                phase = .answered(rest: rest)
                return
            case .endOfStream, .failed: return close()
            }
        }
        close()
    }

    private func read(_ limit: Int) -> Transfer {
        let buffer = loop.buffers.take()
        defer { loop.buffers.give(buffer) }
        return socket.tryRead(into: buffer, limit: limit)
    }
}
