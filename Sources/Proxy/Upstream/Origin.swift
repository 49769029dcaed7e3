import Authentication
import Bytes
import IO
import Rules
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
    /// The same server as authentication knows it.
    let authority: Authentication.Origin
    private var idle: [ByteStream] = []
    /// What these rules say of this origin.
    private var judge: RuleSet?
    private var route = RouteDecision.none
    private var mayAnswer = false

    private static let idleLimit = 128
    private let room: IdleRoom

    init(host: Span<UInt8>, port: UInt16, room: IdleRoom) {
        self.room = room
        hostText = host.text.lowercased()
        self.host = Array(hostText.utf8)
        self.port = port
        authority = Authentication.Origin(host: hostText, port: port, protocol: .http)
    }

    /// How requests to this origin travel.
    func route(by rules: RuleSet) -> RouteDecision {
        if judge !== rules { bring(before: rules) }
        return route
    }

    /// Whether any rule could answer a challenge of this origin.
    func mayAnswer(by rules: RuleSet) -> Bool {
        if judge !== rules { bring(before: rules) }
        return mayAnswer
    }

    private func bring(before rules: RuleSet) {
        let host = host
        route = rules.route(host: host.span, port: port)
        mayAnswer = rules.mayAnswer(host: host.span, port: port)
        judge = rules
    }

    /// Whether that is the host, in any case.
    func isAt(_ name: Span<UInt8>) -> Bool {
        let host = host
        return host.span.equalsIgnoringCase(name)
    }

    var isIdle: Bool { idle.isEmpty }

    /// The connection used last, since it is the least likely to have been closed meanwhile.
    func takeIdle(for wakeup: Wakeup) -> ByteStream? {
        guard let stream = idle.popLast() else { return nil }
        room.places &+= 1
        stream.socket.observer = nil
        stream.wakeup = wakeup
        return stream
    }

    /// Keeps a connection whose response was read to its end.
    /// - Parameter limit: milliseconds until it is closed unused.
    func keep(_ stream: ByteStream, for limit: Int) {
        stream.wakeup = nil
        guard !stream.isReadable, !stream.isClosed, idle.count < Self.idleLimit, room.places > 0 else {
            return stream.close()
        }
        room.places &-= 1
        stream.socket.observer = self
        stream.setDeadline(after: limit)
        idle.append(stream)
    }

    func closeIdle() {
        for stream in idle {
            stream.socket.observer = nil
            stream.close()
        }
        room.places += idle.count
        idle.removeAll()
    }

    func channelChanged(_ channel: Channel) {
        // A new send window is no reason to part.
        guard channel.isReadable || !channel.isOpen else { return }
        guard let place = idle.firstIndex(where: { $0.socket === channel }) else { return }
        idle.swapAt(place, idle.count - 1)
        let stream = idle.removeLast()
        room.places += 1
        stream.socket.observer = nil
        stream.close()
    }
}
