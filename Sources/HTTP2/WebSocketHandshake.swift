import Bytes
import Crypto
import HTTP

/// The opening handshake of a WebSocket at a server of HTTP/1.1 (RFC 6455 section 4), for a client that opens it on a stream
/// (RFC 8441). The key is the proxy's, and neither it nor the server's answer to it reaches the client.
struct WebSocketHandshake {
    private let key: String

    private static let keyLength = 16
    /// RFC 6455 section 1.3.
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    init() { key = Base64.encode((0..<Self.keyLength).map { _ in UInt8.random(in: .min ... .max) }) }

    /// Appends the fields of the request that ask for a WebSocket.
    func append(to text: ByteBuffer) {
        text.append("connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: " as StaticString)
        text.append(key)
        text.appendLineEnd()
    }

    /// Whether the server has proved that it speaks the protocol.
    func isAccepted(by head: ResponseHead, in bytes: Span<UInt8>) -> Bool {
        let digest = MessageDigest.digest(.sha1, of: (key + Self.suffix).utf8Span.span)
        let accepted = Base64.encode(digest.array)
        var (count, isRight) = (0, false)
        for field in head.fields where bytes.extracting(field.name).equalsIgnoringCase("sec-websocket-accept") {
            count += 1
            isRight = bytes.extracting(field.value).equals(accepted.utf8Span.span)
        }
        return count == 1 && isRight
    }
}
