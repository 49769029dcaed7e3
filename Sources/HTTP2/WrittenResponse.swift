import Bytes
import HTTP

/// Reads the heads of the responses to one request, which the code for HTTP/1.1 writes. A fault of this text is ours.
final class WrittenResponse {
    /// The part of the text that was found.
    enum Part {
        /// The parsed head. It must be taken before the next call.
        case head(isInterim: Bool, hasContent: Bool)
        case needsMore
        /// The text is not what this proxy writes.
        case fault
        /// The server has not opened the WebSocket that it was asked for, but claims to.
        case noWebSocket
    }

    private var headLength = 0
    let head = ResponseHead(limits: WrittenBody.limits, remembers: true)

    /// Reads the head in the text of `body`, which begins behind a final one.
    /// - Parameter handshake: that of the request, if it opens a WebSocket.
    func readHead(
        of body: WrittenBody, answering method: Method, to handshake: WebSocketHandshake?
    ) -> Part {
        let text = body.text
        guard !text.isEmpty else { return .needsMore }
        head.reset()
        do throws(HTTPError) {
            guard case .complete(let length) = try head.parse(text.readable, answering: method) else {
                return .needsMore
            }
            headLength = length
        } catch { return .fault }
        if head.status == .switchingProtocols {
            guard let handshake else { return .fault }
            guard handshake.isAccepted(by: head, in: text.readable) else { return .noWebSocket }
            body.stage = .raw
            return .head(isInterim: false, hasContent: true)
        }
        if head.status.isInterim { return .head(isInterim: true, hasContent: false) }
        // A 2xx would tell the client that the WebSocket is open.
        if handshake != nil, head.status.isSuccessful { return .noWebSocket }
        if method == .connect, head.status.isSuccessful {
            body.stage = .raw
            return .head(isInterim: false, hasContent: true)
        }
        body.begin(head.framing)
        return .head(isInterim: false, hasContent: !body.isComplete)
    }

    /// Forgets the head that was found.
    func dropHead(in text: ByteBuffer) {
        text.consume(headLength)
        headLength = 0
    }
}
