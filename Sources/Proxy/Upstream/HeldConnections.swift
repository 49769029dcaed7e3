import Authentication
import IO
import Transport

/// The connections that one client is logged in on, between its requests. They end with the client's own.
///
/// Belongs to its loop. As in `Origin`, a connection on which anything happens at rest is closed at once.
final class HeldConnections: ChannelObserver {
    struct Held {
        let connection: OriginConnection
        let login: ConnectionLogin

        var stream: ByteStream { connection.stream }
    }

    private var connections: [Held] = []

    /// A client works with few such servers at a time; beyond it the one used least recently goes.
    private static let limit = 8

    /// The connection to that origin, made under these terms, on which exactly this version of the credential is logged
    /// in, or the client itself where there is none. One of an older version has no more use.
    func take(
        to origin: Origin, under terms: ConnectionTerms, as version: CredentialVersion?, for wakeup: Wakeup
    ) -> Held? {
        while let place = connections.firstIndex(where: {
            $0.login.origin === origin && $0.login.version?.name == version?.name
        }) {
            let held = remove(at: place)
            if held.login.version == version, held.connection.terms == terms, held.connection.isStillTrusted {
                held.stream.wakeup = wakeup
                return held
            }
            held.stream.close()
        }
        return nil
    }

    var isEmpty: Bool { connections.isEmpty }

    /// Whether there is one for `take`.
    func holds(_ version: CredentialVersion, to origin: Origin) -> Bool {
        connections.contains { $0.login.origin === origin && $0.login.version == version }
    }

    /// - Parameter limit: milliseconds until it is closed unused.
    func keep(_ held: Held, for limit: Int) {
        let (stream, room) = (held.stream, held.login.origin.room)
        stream.wakeup = nil
        guard held.login.mayBeHeld, held.login.isAtRest, !stream.isReadable, !stream.isClosed else {
            return stream.close()
        }
        if connections.count >= Self.limit { remove(at: 0).stream.close() }
        guard room.places > 0 else { return stream.close() }
        room.places &-= 1
        stream.socket.observer = self
        stream.setDeadline(after: limit)
        connections.append(held)
    }

    /// Closes those that are logged in with another version of the credential; nil: with any.
    func retire(_ name: String, but version: CredentialVersion?) {
        while let place = connections.firstIndex(where: {
            $0.login.version?.name == name && $0.login.version != version
        }) {
            remove(at: place).stream.close()
        }
    }

    func closeAll() {
        while !connections.isEmpty { remove(at: connections.count - 1).stream.close() }
    }

    func channelChanged(_ channel: Channel) {
        guard channel.isReadable || !channel.isOpen else { return }
        guard let place = connections.firstIndex(where: { $0.stream.socket === channel }) else { return }
        if channel.isOpen, !connections[place].stream.isReadable { return }
        remove(at: place).stream.close()
    }

    private func remove(at place: Int) -> Held {
        let held = connections.remove(at: place)
        held.stream.socket.observer = nil
        held.login.origin.room.places &+= 1
        return held
    }
}
