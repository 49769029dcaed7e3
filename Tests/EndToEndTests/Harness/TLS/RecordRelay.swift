import Foundation
import Synchronization

/// Stands before a TLS server and reads the headers of the records that go by. It may end the connection instead of one.
final class RecordRelay: Sendable {
    struct Record: Sendable {
        let type: UInt8
        /// The length without the header.
        let length: Int

        /// An alert, encrypted or not: two bytes, in TLS 1.3 one for the inner type and sixteen for the tag.
        var isAlert: Bool { type == 21 || type == 23 && length == 19 }
    }

    /// The records that passed on one connection.
    struct Passage: Sendable {
        var hello: ClientHello?
        var fromClient: [Record] = []
        var fromServer: [Record] = []
    }

    let port: UInt16
    private let log: Log

    private final class Log: Sendable {
        let passages = Mutex<[Passage]>([])
        let descriptor: Int32
        let cuts: @Sendable (Record) -> Bool

        init(_ descriptor: Int32, _ cuts: @escaping @Sendable (Record) -> Bool) {
            self.descriptor = descriptor
            self.cuts = cuts
        }
    }

    /// - Parameter cuts: whether the connection ends, without a word, before this record of the server.
    init(to server: UInt16, cuttingAt cuts: @escaping @Sendable (Record) -> Bool = { _ in false }) throws {
        let (descriptor, port) = try Socket.listen()
        self.port = port
        let log = Log(descriptor, cuts)
        self.log = log
        Thread.detachNewThread {
            while let client = Socket.accept(from: log.descriptor) {
                guard let connection = Connection(client: client, server: server) else { continue }
                let number = log.passages.withLock { passages in
                    passages.append(Passage())
                    return passages.count - 1
                }
                Thread.detachNewThread { Self.relayRequests(connection, number, log) }
                Thread.detachNewThread { Self.relayResponses(connection, number, log) }
            }
            close(log.descriptor)
        }
    }

    deinit { shutdown(log.descriptor, Int32(SHUT_RDWR)) }

    var passages: [Passage] { log.passages.withLock { $0 } }

    /// Both sides of one connection; closed when the relaying ends.
    private final class Connection: Sendable {
        let client: Int32
        let server: Int32

        init?(client: Int32, server port: UInt16) {
            guard let server = try? Socket.connect(to: port) else {
                close(client)
                return nil
            }
            self.client = client
            self.server = server
        }

        deinit {
            close(client)
            close(server)
        }
    }

    private static func relayRequests(_ connection: Connection, _ number: Int, _ log: Log) {
        while let bytes = record(from: connection.client) {
            log.passages.withLock { passages in
                if passages[number].fromClient.isEmpty { passages[number].hello = ClientHello(record: bytes) }
                passages[number].fromClient.append(Record(type: bytes[0], length: bytes.count - 5))
            }
            guard send(bytes, to: connection.server) else { break }
        }
        shutdown(connection.server, Int32(SHUT_WR))
    }

    private static func relayResponses(_ connection: Connection, _ number: Int, _ log: Log) {
        while let bytes = record(from: connection.server) {
            let record = Record(type: bytes[0], length: bytes.count - 5)
            log.passages.withLock { $0[number].fromServer.append(record) }
            guard !log.cuts(record), send(bytes, to: connection.client) else { break }
        }
        // Also wakes the other thread.
        shutdown(connection.client, Int32(SHUT_RDWR))
    }

    /// A record with its header; nil at the end of the stream.
    private static func record(from descriptor: Int32) -> [UInt8]? {
        guard let header = read(5, from: descriptor) else { return nil }
        guard let content = read(Int(header[3]) << 8 | Int(header[4]), from: descriptor) else { return nil }
        return header + content
    }

    private static func read(_ count: Int, from descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let received = bytes[filled...].withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            guard received > 0 else { return nil }
            filled += received
        }
        return bytes
    }

    private static func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
