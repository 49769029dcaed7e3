import Authentication
import Bytes
import HTTP
import IO
import Rules
import Transport

/// A server this loop forwards to by one scheme, with the connections to it that wait for their next request.
///
/// Belongs to its loop. An idle connection on which anything happens is closed at once: whatever a server says between
/// responses, it is not the answer to our next request.
final class Origin: ChannelObserver {
    /// `http` or `https`.
    let scheme: Scheme
    /// Lower case, without a trailing dot.
    let host: [UInt8]
    let hostText: String
    let port: UInt16
    /// The same server as authentication knows it.
    let authority: Authentication.Origin
    private var idle: [Kept] = []
    /// What these rules say of this origin.
    private var judge: RuleSet?
    private var route = RouteDecision.none
    private var mayAnswer = false

    /// A connection that rests, and what it may serve.
    private struct Kept {
        let stream: ByteStream
        let terms: ConnectionTerms
    }

    private static let idleLimit = 128
    let room: IdleRoom

    init(scheme: Scheme, host: Span<UInt8>, port: UInt16, room: IdleRoom) {
        self.room = room
        self.scheme = scheme
        hostText = host.text.lowercased()
        self.host = Array(hostText.utf8)
        self.port = port
        authority = Authentication.Origin(host: hostText, port: port, protocol: scheme == .https ? .https : .http)
    }

    var isSecure: Bool { scheme == .https }

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

    /// The connection made under these terms that was used last, since it is the least likely to have been closed
    /// meanwhile.
    func takeIdle(under terms: ConnectionTerms, for wakeup: Wakeup) -> ByteStream? {
        guard let place = idle.lastIndex(where: { $0.terms == terms }) else { return nil }
        let stream = idle.remove(at: place).stream
        room.places &+= 1
        stream.socket.observer = nil
        stream.wakeup = wakeup
        return stream
    }

    /// Keeps a connection whose response was read to its end.
    /// - Parameters:
    ///   - terms: those under which it was made; it serves no request with others.
    ///   - limit: milliseconds until it is closed unused.
    func keep(_ stream: ByteStream, under terms: ConnectionTerms, for limit: Int) {
        stream.wakeup = nil
        guard !stream.isReadable, !stream.isClosed, idle.count < Self.idleLimit, room.places > 0 else {
            return stream.close()
        }
        room.places &-= 1
        stream.socket.observer = self
        stream.setDeadline(after: limit)
        idle.append(Kept(stream: stream, terms: terms))
    }

    func closeIdle() {
        for kept in idle {
            kept.stream.socket.observer = nil
            kept.stream.close()
        }
        room.places += idle.count
        idle.removeAll()
    }

    func channelChanged(_ channel: Channel) {
        // A new send window is no reason to part.
        guard channel.isReadable || !channel.isOpen else { return }
        guard let place = idle.firstIndex(where: { $0.stream.socket === channel }) else { return }
        idle.swapAt(place, idle.count - 1)
        let stream = idle.removeLast().stream
        room.places += 1
        stream.socket.observer = nil
        stream.close()
    }
}
