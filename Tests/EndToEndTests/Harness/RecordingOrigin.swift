import Foundation
import Synchronization

/// An origin inside the test: it plays a script on each connection, on a thread, and keeps every request it read.
final class RecordingOrigin: Sendable {
    /// One accepted connection as the script sees it.
    struct Connection {
        let wire: Wire
        /// 1 for the first connection that the origin accepted.
        let number: Int
        fileprivate let log: Log

        /// The next request with its content; nil when the client has closed.
        func request() throws -> Message? {
            guard let message = try wire.readRequest() else { return nil }
            log.recorded.withLock { $0.append(Recorded(connection: number, message: message)) }
            return message
        }

        /// The next request's head, for scripts that answer before they read the content.
        func requestHead() throws -> Message? {
            guard let message = try wire.readHead() else { return nil }
            log.recorded.withLock { $0.append(Recorded(connection: number, message: message)) }
            return message
        }

        /// Keeps what `requestHead` had left on the wire.
        func record(content message: Message) { log.contents.withLock { $0.append(message) } }

        func reply(_ status: String = "200 OK", _ fields: [String] = [], _ body: String = "") throws {
            let lines = ["HTTP/1.1 \(status)"] + fields + ["Content-Length: \(body.utf8.count)", "", body]
            try wire.send(lines.joined(separator: "\r\n"))
        }
    }

    fileprivate final class Log: Sendable {
        let recorded = Mutex<[Recorded]>([])
        let contents = Mutex<[Message]>([])
        let accepted = Mutex(0)
    }

    struct Recorded: Sendable {
        let connection: Int
        let message: Message
    }

    let port: UInt16
    private let descriptor: Int32
    private let log = Log()

    /// - Parameters:
    ///   - port: one that was taken before, for a server that appears late.
    ///   - script: runs once per connection; the connection is closed when it returns or throws.
    init(on port: UInt16? = nil, _ script: @escaping @Sendable (Connection) throws -> Void) throws {
        if let port {
            (descriptor, self.port) = (try Socket.listen(on: port), port)
        } else {
            (descriptor, self.port) = try Socket.listen()
        }
        let descriptor = descriptor
        let log = log
        Thread.detachNewThread {
            while let connection = Socket.accept(from: descriptor) {
                let number = log.accepted.withLock { number in
                    number += 1
                    return number
                }
                Thread.detachNewThread {
                    let wire = Wire(takingOwnershipOf: connection)
                    try? script(Connection(wire: wire, number: number, log: log))
                    wire.close()
                }
            }
            close(descriptor)
        }
    }

    /// An origin that answers each request of a kept connection.
    static func answering(
        _ answer: @escaping @Sendable (Message, Connection) throws -> Void = { try $1.reply(body: "ok") }
    ) throws -> RecordingOrigin {
        try RecordingOrigin { connection in
            while let request = try connection.request() { try answer(request, connection) }
        }
    }

    deinit {
        // Wakes the accepting thread, which closes the descriptor.
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    var requests: [Recorded] { log.recorded.withLock { $0 } }
    var messages: [Message] { requests.map(\.message) }
    /// The contents that scripts stored with `record(content:)`.
    var contents: [Message] { log.contents.withLock { $0 } }
    var connections: Int { log.accepted.withLock { $0 } }

    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }
}

extension RecordingOrigin.Connection {
    func reply(body: String) throws { try reply("200 OK", [], body) }
}
