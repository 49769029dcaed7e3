import Bytes
import FTP
import HTTP
import IO

/// The response of a gateway's thread.
final class GatewayAnswer {
    /// The fields of a successful response.
    struct Description {
        var status = Status.ok
        var type: String?
        /// The length in bytes; nil if it is not known in advance.
        var length: Int?
        /// The date in the format of HTTP.
        var modified: String?
        var range: String?
        var acceptsRanges = false
    }

    private let client: BlockingSocket
    private let isHead: Bool
    private let out = ByteBuffer(capacity: BufferPool.regular)
    private var isChunked = false
    /// The remaining bytes of the announced length.
    private var owed: Int?
    private(set) var hasBegun = false

    init(to client: BlockingSocket, isHead: Bool) {
        self.client = client
        self.isHead = isHead
    }

    /// Writes a head; `write` and `finish` follow.
    /// - Returns: whether the client is still connected.
    func begin(_ description: Description) -> Bool {
        hasBegun = true
        let writer = HeadWriter(status: description.status, into: out)
        writer.date(SystemClock.wallTime)
        if let type = description.type { writer.field("Content-Type", type) }
        if let modified = description.modified { writer.field("Last-Modified", modified) }
        if let range = description.range { writer.field("Content-Range", range) }
        if description.acceptsRanges { writer.field("Accept-Ranges", "bytes") }
        if let length = description.length {
            writer.field("Content-Length", decimal: length)
        } else if !isHead, description.status != .noContent, description.status != .notModified {
            writer.field("Transfer-Encoding", "chunked")
            isChunked = true
        }
        owed = description.length
        writer.field("Connection", "close")
        writer.end()
        return flush()
    }

    /// - Returns: whether the client is still connected, and the bytes do not exceed the announced length.
    func write(_ bytes: Span<UInt8>) -> Bool {
        if let owed {
            guard bytes.count <= owed else { return false }
            self.owed = owed - bytes.count
        }
        guard isChunked else { return client.write(bytes) }
        ChunkedEncoder.append(bytes, to: out)
        return flush()
    }

    /// Ends the body.
    func finish() {
        if isChunked {
            ChunkedEncoder.appendEnd(to: out)
            _ = flush()
        }
    }

    /// Writes a short response of the gateway.
    func say(_ status: Status, _ sentence: String, field: (name: StaticString, value: String)? = nil) {
        hasBegun = true
        let text = "\(sentence)\n"
        let writer = HeadWriter(status: status, into: out)
        writer.date(SystemClock.wallTime)
        if let field { writer.field(field.name, field.value) }
        writer.field("Content-Type", "text/plain; charset=utf-8")
        writer.field("Content-Length", decimal: text.utf8.count)
        writer.field("Connection", "close")
        writer.end()
        if !isHead { out.append(text) }
        _ = flush()
    }

    /// Writes a challenge for Basic, as an origin does, so that it is handled like any other.
    func challenge(_ sentence: String) {
        say(
            .unauthorized, sentence,
            field: ("WWW-Authenticate", "Basic realm=\"\(GatewayVisit.realm)\", charset=\"UTF-8\""))
    }

    /// Reports a failure or a refusal of the server.
    func report(_ reply: FTPSession.Reply, as status: Status) { say(status, "the FTP server says: \(reply)") }

    private func flush() -> Bool {
        let out = out
        defer { out.clear() }
        return client.write(out.readable)
    }
}
