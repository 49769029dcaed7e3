import Bytes
import HTTP

/// One request on an HTTP/2 connection to a server, and its response, both as the text of HTTP/1.1. The writer writes the
/// request as for a server of HTTP/1.1; the reader gets the response as such a server would send it.
///
/// Belongs to the loop of its connection, which it may outlive.
public final class ResponseStream {
    /// The reason why a stream ended before its response was whole.
    public enum Failure: Equatable, Sendable {
        /// The server has not processed the request: it may be sent again, whatever its method.
        case unprocessed
        /// The server has not processed the request, and wants it by HTTP/1.1.
        case requiresHTTP11
        /// The server has reset the stream with that code (RFC 9113 section 7).
        case reset(UInt32)
        /// The server has sent a response that cannot be passed on. The stream was reset.
        case malformed(Defect)
        /// The text of the request is not what this proxy writes. The stream was reset, or never sent.
        case faultyRequest
        /// The connection was lost behind the request's HEADERS.
        case lost
    }

    /// The reason why the stream ended early; nil while it is open, and if the response is whole.
    public private(set) var failure: Failure?
    /// Whether the stream ended before the response was whole: `failure` has the reason.
    public var isLost: Bool { failure != nil }
    /// Whether the stream is over for the library: reset, ended on both sides, or lost with its connection. The rest of a
    /// whole response may still be read.
    public private(set) var isOver = false
    /// Whether the owner has closed the stream.
    public private(set) var isReleased = false
    /// The object that the owner of the connection keeps with the stream.
    public var owner: AnyObject?
    /// The names of fields of the request that no table of the connection may keep, in lower case, beside `authorization`,
    /// `proxy-authorization` and `cookie`. It has an effect until the head is written.
    public var secretNames: [String] = []

    // MARK: - The reader

    /// Whether a read would bring something: text, the end, or a failure.
    public var isReadable: Bool { false }

    /// Whether the response was whole, or failed, and everything before was read.
    public var isAtEnd: Bool { false }

    /// Reads text into the free room of `buffer`, at most `limit` bytes. `.end` follows a whole response.
    public func read(into buffer: ByteBuffer, limit: Int) -> RequestStream.Movement { .wouldBlock }

    // MARK: - The writer

    /// Whether the writer may write.
    public var isWritable: Bool { true }

    /// Takes at most `limit` bytes of the request's text from the front of `buffer`. `.lost` also if the server wants no
    /// more of the request, while its response can be read.
    public func write(from buffer: ByteBuffer, limit: Int) -> RequestStream.Movement { .wouldBlock }

    /// The request has no more text. Its framing has told that already.
    public func endOutput() {}

    // MARK: - The end

    /// Closes the stream. Bytes that were not read are dropped. A response that is not whole is reset by CANCEL, a request
    /// that is not whole by NO_ERROR.
    /// - Parameter isFault: whether the server must see a fault, though the response is whole.
    public func release(asFault isFault: Bool) {}
}
