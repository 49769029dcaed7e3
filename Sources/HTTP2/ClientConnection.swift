import Bytes
import HTTP

/// The client's side of an HTTP/2 connection (RFC 9113), without I/O and clock. Bytes of the server go in by `receive`, and
/// bytes for it come out by `produce`. After each of them, `takeChanged` names the streams on which something happened.
public final class ClientConnection {
    public struct Settings: Sendable {
        /// The limits of a response's head.
        public var limits = Limits.response

        public init() {}
    }

    /// - Throws: `OutOfMemory` if the library has no memory.
    public init(_ settings: Settings = Settings()) throws(ServerConnection.OutOfMemory) {}

    // MARK: - Bytes

    /// Reads bytes of the server.
    /// - Parameter now: a time that never goes back, in nanoseconds.
    public func receive(_ bytes: Span<UInt8>, at now: UInt64) {}

    /// Appends bytes for the server to `buffer`, until it holds about `limit`.
    public func produce(into buffer: ByteBuffer, limit: Int, at now: UInt64) {}

    /// The streams that have changed since the last call, in the order of their changes.
    public func takeChanged() -> [ResponseStream] { [] }

    /// The limit that the server has exceeded. The owner ends the connection then, by `endForExcess`.
    public private(set) var excess: ServerConnection.Excess?
    /// Whether the server's bytes cannot be read any further.
    public private(set) var hasFailed = false
    /// Whether the library has nothing more to read or to send.
    public var isOver: Bool { false }
    /// Whether streams are open.
    public var hasStreams: Bool { running > 0 }

    // MARK: - Streams

    /// Opens a stream for one request. Its HEADERS are sent when the request's head is written to it.
    /// - Parameter scheme: the value of `:scheme`.
    public func open(scheme: Scheme) -> ResponseStream { ResponseStream() }

    /// The number of streams that are open, with those whose request is not sent.
    public var running: Int { 0 }

    /// The limit of streams at once: the server's, and never more than 100. After the server has refused a stream, the limit
    /// is for one second the number of the streams that were open then.
    /// - Parameter now: a time that never goes back, in nanoseconds.
    public func limit(at now: UInt64) -> Int { 100 }

    /// Whether no more streams can be opened: one of the two sides has ended the connection (GOAWAY), it has failed, or the
    /// numbers of streams are used up. Streams that exist go on.
    public var isRetired: Bool { false }
    /// Whether the server has acknowledged our SETTINGS or begun a response, which proves that it has accepted the TLS
    /// handshake with our certificate.
    public private(set) var isProven = false
    /// Whether the server has ended the connection because it wants HTTP/1.1.
    public private(set) var requiresHTTP11 = false

    // MARK: - Liveness

    /// Asks the server whether it is there.
    public func ping(at now: UInt64) {}

    /// Whether a PING is not answered yet.
    public private(set) var awaitsPing = false
    /// The time when the last frame came, in nanoseconds; 0 before the first one.
    public private(set) var lastFrame: UInt64 = 0

    // MARK: - The end

    /// Opens no more streams, and tells the server so; streams that exist go on.
    public func drain() {}

    /// Ends the connection at once, in order. The streams get their failure from `lose`.
    public func end() {}

    /// Ends the connection because of its `excess`.
    public func endForExcess() {}

    /// The connection below is lost, and all its streams.
    public func lose() {}
}
