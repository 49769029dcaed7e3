import Authentication
import IO
import Transport

/// The connections that one client is logged in on, between its requests. They end with the client's own.
///
/// Belongs to its loop. As in `Origin`, a connection on which anything happens at rest is closed at once.
final class HeldConnections: ChannelObserver {
    struct Connection {
        let stream: ByteStream
        let terms: ConnectionTerms
        let login: ConnectionLogin
    }

    private var connections: [Connection] = []

    /// A client works with few such servers at a time; beyond it the one used least recently goes.
    private static let limit = 8

    /// The connection to that origin, made under these terms, on which exactly this version of the credential is logged
    /// in. One of an older version has no more use.
    func take(
        to origin: Origin, under terms: ConnectionTerms, as version: CredentialVersion, for wakeup: Wakeup
    ) -> Connection? {
        while let place = connections.firstIndex(where: {
            $0.login.origin === origin && $0.login.version.name == version.name
        }) {
            let connection = remove(at: place)
            if connection.login.version == version, connection.terms == terms {
                connection.stream.wakeup = wakeup
                return connection
            }
            connection.stream.close()
        }
        return nil
    }

    /// Whether there is one for `take`.
    func holds(_ version: CredentialVersion, to origin: Origin) -> Bool {
        connections.contains { $0.login.origin === origin && $0.login.version == version }
    }

    /// - Parameter limit: milliseconds until it is closed unused.
    func keep(_ connection: Connection, for limit: Int) {
        let (stream, room) = (connection.stream, connection.login.origin.room)
        stream.wakeup = nil
        guard connection.login.mayBeHeld, connection.login.isAtRest, !stream.isReadable, !stream.isClosed else {
            return stream.close()
        }
        if connections.count >= Self.limit { remove(at: 0).stream.close() }
        guard room.places > 0 else { return stream.close() }
        room.places &-= 1
        stream.socket.observer = self
        stream.setDeadline(after: limit)
        connections.append(connection)
    }

    func closeAll() {
        while !connections.isEmpty { remove(at: connections.count - 1).stream.close() }
    }

    func channelChanged(_ channel: Channel) {
        guard channel.isReadable || !channel.isOpen else { return }
        guard let place = connections.firstIndex(where: { $0.stream.socket === channel }) else { return }
        remove(at: place).stream.close()
    }

    private func remove(at place: Int) -> Connection {
        let connection = connections.remove(at: place)
        connection.stream.socket.observer = nil
        connection.login.origin.room.places &+= 1
        return connection
    }
}
