import Bytes
import IO
import Transport

/// A server this loop forwards to, with the connections to it that wait for their next request.
///
/// Belongs to its loop. An idle connection on which anything happens is closed at once: whatever a server says between
/// responses, it is not the answer to our next request.
final class Origin: ChannelObserver {
    /// Lower case, without a trailing dot.
    let host: [UInt8]
    let hostText: String
    let port: UInt16
    private var idle: [ByteStream] = []

    private static let idleLimit = 128

    init(host: Span<UInt8>, port: UInt16) {
        self.host = host.array
        hostText = host.text
        self.port = port
    }

    var isIdle: Bool { idle.isEmpty }

    /// The connection used last, since it is the least likely to have been closed meanwhile.
    func takeIdle(for wakeup: Wakeup) -> ByteStream? {
        guard let stream = idle.popLast() else { return nil }
        stream.socket.observer = nil
        stream.wakeup = wakeup
        return stream
    }

    /// Keeps a connection whose response was read to its end.
    /// - Parameter limit: milliseconds until it is closed unused.
    func keep(_ stream: ByteStream, for limit: Int) {
        stream.wakeup = nil
        guard !stream.isReadable, !stream.isClosed, idle.count < Self.idleLimit else { return stream.close() }
        stream.socket.observer = self
        stream.setDeadline(after: limit)
        idle.append(stream)
    }

    func closeIdle() {
        for stream in idle {
            stream.socket.observer = nil
            stream.close()
        }
        idle.removeAll()
    }

    func channelChanged(_ channel: Channel) {
        // A new send window is no reason to part.
        guard channel.isReadable || !channel.isOpen else { return }
        guard let place = idle.firstIndex(where: { $0.socket === channel }) else { return }
        idle.swapAt(place, idle.count - 1)
        let stream = idle.removeLast()
        stream.socket.observer = nil
        stream.close()
    }
}
