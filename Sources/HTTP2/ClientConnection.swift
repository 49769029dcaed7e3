import Bytes
import CNghttp2
import HTTP

/// The client's side of an HTTP/2 connection. See `MultiplexedConnection`.
///
/// DATA is given back to the connection's window when it comes, and to its stream's window when it is read. So a slow reader
/// stops its stream alone.
public final class ClientConnection: MultiplexedConnection {
    public struct Settings: Sendable {
        /// The limits of a response's head.
        public var limits = Limits.response
        /// The limit of streams at once, if the server allows as many.
        public var streams = 100
        /// The window of the connection, in bytes.
        var window = Int32.max

        public init() {}
    }

    /// A stream that its exchange has left, while it is not over: content waits to be sent, or the server has not ended its
    /// whole response.
    private struct Leftover {
        let stream: ResponseStream
        /// The time when it was left, in nanoseconds.
        let since: UInt64
    }

    /// The last refusal of a stream by the server.
    private struct Refusal {
        /// The number of streams that were open then.
        let running: Int
        /// The time until which the server is believed to take no more, in nanoseconds.
        let end: UInt64
    }

    private let settings: Settings
    /// The request whose head is read.
    let request = WrittenRequest()
    /// The response whose fields come.
    let response: ReceivedResponse
    /// The streams whose requests have no head so far.
    private var unsent: [ResponseStream] = []
    /// The oldest one comes first.
    private var leftovers: [Leftover] = []
    private var refusal: Refusal?
    private var isDraining = false
    /// The resets that we send. Servers end a connection with too many of them, and with it the streams of other clients.
    private var sentResetBudget = FrameBudget(150, perSecond: 5)
    /// Limits the growth of streams' windows.
    let windows: WindowBudget
    /// Whether the server has acknowledged our SETTINGS or begun a response, which proves that it has accepted the TLS
    /// handshake with our certificate.
    public private(set) var isProven = false
    /// Whether the server has ended the connection because it wants HTTP/1.1.
    public private(set) var requiresHTTP11 = false
    /// Whether content was sent behind a whole response. The server may read it for some time.
    public private(set) var hasSentLate = false
    /// Whether the server has sent a frame.
    private var hasFrame = false
    /// Whether the server has sent something that is not HTTP/2.
    var hasOtherProtocol: Bool { hasInput && !hasFrame }
    /// Whether a PING is not answered yet.
    public private(set) var awaitsPing = false

    /// The largest window of a stream, in bytes.
    private static let largestWindow: Int32 = 8 << 20
    /// The largest number of a stream; no connection lives that long.
    private static let lastID: UInt32 = 1 << 30
    /// The time for which a refusal counts, in nanoseconds.
    private static let refusalTime: UInt64 = 1_000_000_000
    /// The frames beside the response that a request may cause, such as WINDOW_UPDATE.
    private static let framesForRequest: UInt64 = 4

    /// - Parameter windows: that of the loop.
    /// - Throws: `OutOfMemory` if the library has no memory.
    public init(
        _ settings: Settings = Settings(), windows: WindowBudget = WindowBudget()
    ) throws(OutOfMemory) {
        self.settings = settings
        self.windows = windows
        response = ReceivedResponse(limits: settings.limits)
        try super.init(
            .client,
            settings: [
                Self.setting(NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
                Self.setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, Self.streamWindow),
                Self.setting(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: settings.limits.head)),
            ], window: settings.window)
    }

    /// Takes the next stream that has changed, in the order of their changes. Nil: no more streams have changed.
    public func nextChanged() -> ResponseStream? { nextMarked() as? ResponseStream }

    // MARK: - Streams

    /// Opens a stream for one request. Its HEADERS are sent when the request's head is written to it.
    /// - Parameter scheme: the value of `:scheme`; `http` unless it is `https`.
    public func open(scheme: Scheme) -> ResponseStream {
        if !leftovers.isEmpty, running >= limit(at: now) { endLeftover { $0.state.isOutputSent } }
        let stream = takeSpare() as? ResponseStream ?? ResponseStream(of: self)
        stream.begin(scheme: scheme == .https ? "https" : "http")
        unsent.append(stream)
        return stream
    }

    /// The limit of a response's head, in bytes.
    var headLimit: Int { settings.limits.head }

    /// The number of streams that are open, with those whose request is not sent.
    public var running: Int { streams.count + unsent.count }

    /// Whether streams are open.
    public var hasStreams: Bool { running > 0 }

    /// The streams that leave no room for another one: those that are open, without those that wait only for the server to
    /// end them.
    public var busy: Int { leftovers.isEmpty ? running : running - leftovers.count { $0.stream.state.isOutputSent } }

    /// The limit of streams at once: the server's, and never more than that of the settings. After the server has refused a
    /// stream, the limit is for one second the number of the streams that were open then.
    /// - Parameter now: a time that never goes back, in nanoseconds.
    public func limit(at now: UInt64) -> Int {
        let stated = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        let most = min(Int(stated), settings.streams)
        guard let refusal, now < refusal.end else { return most }
        return min(most, refusal.running)
    }

    /// Whether no more streams can be opened: one of the two sides has ended the connection (GOAWAY), it has failed, or the
    /// numbers of streams are used up. Streams that exist go on.
    public var isRetired: Bool {
        isDraining || !allowsRequest || nghttp2_session_get_next_stream_id(session) > Self.lastID
    }

    private var allowsRequest: Bool {
        !hasFailed && excess == nil && nghttp2_session_check_request_allowed(session) != 0
    }

    /// Sends the head of `request`, which was read in the text of `stream`.
    func submit(hasContent: Bool, on stream: ResponseStream) {
        forgetUnsent(stream)
        let written = stream.written
        let text = written.text
        defer { request.dropHead(in: text) }
        guard allowsRequest else { return stream.fail(.unprocessed) }
        request.add(to: fields, from: text, scheme: stream.scheme, secretNames: stream.secretNames)
        let id = fields.handOver { fields in
            guard hasContent else {
                return nghttp2_submit_request(session, nil, fields.baseAddress, fields.count, nil, nil)
            }
            var provider = nghttp2_data_provider()
            provider.read_callback = Self.provide
            return nghttp2_submit_request(session, nil, fields.baseAddress, fields.count, &provider, nil)
        }
        guard id > 0 else {
            return stream.fail(id == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE.rawValue ? .unprocessed : .faultyRequest)
        }
        stream.id = id
        add(stream)
    }

    private func forgetUnsent(_ stream: ResponseStream) {
        if unsent.last === stream { unsent.removeLast() } else { unsent.removeAll { $0 === stream } }
    }

    /// Ends a stream that its owner has closed.
    func release(_ stream: ResponseStream, asFault isFault: Bool) {
        if stream.id == 0 { forgetUnsent(stream) }
        // A stream that has failed is reset already.
        guard !stream.isOver, !stream.isLost, stream.id > 0 else { return }
        // Both sides of a tunnel have ended. Our end may wait to be sent.
        if !isFault, stream.isTunnel, stream.state.hasInputEnded, stream.written.isComplete { return }
        if !isFault, stream.state.hasInputEnded || stream.hasWholeContent {
            // Requests that wait in the library for the server's limit come first.
            guard stream.written.isComplete, running <= limit(at: now), stream.borrowForContent() else {
                return reset(stream, .noError)
            }
            return leftovers.append(Leftover(stream: stream, since: now))
        }
        reset(stream, .cancel)
        // The library forgets HEADERS that were not sent, and must not count this stream until then.
        if !stream.progress.isSent { remove(stream.id) }
    }

    /// Whether there are streams that their exchanges have left.
    public var hasLeftovers: Bool { !leftovers.isEmpty }

    /// Ends the streams that their exchanges have left for as long.
    /// - Parameter time: in nanoseconds.
    public func endLeftovers(olderThan time: UInt64, at now: UInt64) {
        for leftover in leftovers where now &- leftover.since >= time { reset(leftover.stream, .noError) }
    }

    /// Ends the stream that was left first, so that a request can have its place.
    /// - Returns: whether there was one.
    public func endLeftover() -> Bool { endLeftover { _ in true } }

    /// Ends the oldest of these streams. It counts no more: RST_STREAM is sent before the next HEADERS.
    @discardableResult
    private func endLeftover(where isOne: (ResponseStream) -> Bool) -> Bool {
        guard let place = leftovers.firstIndex(where: { isOne($0.stream) }) else { return false }
        let stream = leftovers.remove(at: place).stream
        reset(stream, .noError)
        remove(stream.id)
        stream.state.isOver = true
        return true
    }

    /// Enlarges the window of a stream whose reader is faster than the window lets the server send: four times, so that it
    /// grows faster than the window of TCP.
    override func noteRead(_ count: Int, of stream: MultiplexedStream, isAll: Bool) {
        guard let stream = stream as? ResponseStream, !stream.state.hasInputEnded, stream.noteRead(count, isAll: isAll),
            stream.window < Self.largestWindow
        else { return }
        let growth = windows.take(upTo: Int(min(4 * stream.window, Self.largestWindow) - stream.window))
        guard growth > 0 else { return }
        stream.window += Int32(growth)
        // It fails only without memory.
        nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, stream.window)
    }

    // MARK: - Liveness

    /// Asks the server whether it is there.
    public func ping(at now: UInt64) {
        guard !awaitsPing else { return }
        awaitsPing = nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) == 0
    }

    // MARK: - The end

    override public func drain() {
        isDraining = true
        super.drain()
    }

    override public func lose() {
        super.lose()
        for stream in unsent { lose(stream) }
        unsent.removeAll()
        leftovers.removeAll()
    }

    // MARK: - What the callbacks note

    override func admits(_ frame: nghttp2_frame_hd) -> Bool {
        hasFrame = true
        switch UInt32(frame.type) {
        case NGHTTP2_PUSH_PROMISE.rawValue: return false
        case NGHTTP2_HEADERS.rawValue:
            // A stream that is over may still get some.
            if !hasStream(frame.stream_id) { noteUseless() }
        default: break
        }
        return excess == nil
    }

    /// Counts a frame that moves nothing.
    func noteUseless() { if !frameBudget.take(at: now) { exceed(.frames) } }

    override func beginHead(_ frame: nghttp2_frame) {
        isProven = true
        response.reset()
    }

    /// Blanks around the value are dropped, as in HTTP/1.1: servers send them.
    override func addToHead(_ name: Span<UInt8>, _ value: Span<UInt8>, of stream: MultiplexedStream) {
        guard !stream.isLost, !stream.isReleased else { return }
        response.add(name, value.extracting(value.trimmingBlanks(0..<value.count)))
        if response.isExcessive { exceed(.fields) }
    }

    override func note(_ frame: nghttp2_frame) {
        let isAcknowledgement = UInt32(frame.hd.flags) & NGHTTP2_FLAG_ACK.rawValue != 0
        switch UInt32(frame.hd.type) {
        case NGHTTP2_SETTINGS.rawValue: if isAcknowledgement { isProven = true }
        case NGHTTP2_RST_STREAM.rawValue: (stream(frame.hd.stream_id) as? ResponseStream)?.progress.isReset = true
        case NGHTTP2_PING.rawValue: if isAcknowledgement { awaitsPing = false }
        case NGHTTP2_GOAWAY.rawValue:
            if frame.goaway.error_code == NGHTTP2_HTTP_1_1_REQUIRED.rawValue { requiresHTTP11 = true }
        default: break
        }
    }

    override func noteClosed(_ stream: MultiplexedStream, _ code: UInt32) {
        stream.close(code)
        if stream.isReleased, !leftovers.isEmpty { leftovers.removeAll { $0.stream === stream } }
        guard code == NGHTTP2_REFUSED_STREAM.rawValue else { return }
        refusal = Refusal(running: running, end: now &+ Self.refusalTime)
    }

    override func noteResetSent(_ code: UInt32) { if !sentResetBudget.take(at: now) { isDraining = true } }

    override func noteHeadSent(_ frame: nghttp2_frame, on stream: MultiplexedStream) {
        guard frame.headers.cat == NGHTTP2_HCAT_REQUEST else { return }
        (stream as? ResponseStream)?.progress.isSent = true
        resetBudget.give(1)
        frameBudget.give(Self.framesForRequest)
    }

    override func noteEndSent(on stream: MultiplexedStream) {
        if stream.state.isHeadComplete, stream.state.hasInputEnded || stream.isReleased { hasSentLate = true }
    }

    override func noteHeadNotSent(_ error: Int32, on stream: MultiplexedStream) {
        switch error {
        // The library closes the stream as refused.
        case NGHTTP2_ERR_START_STREAM_NOT_ALLOWED.rawValue, NGHTTP2_ERR_SESSION_CLOSING.rawValue,
            NGHTTP2_ERR_STREAM_CLOSING.rawValue:
            break
        default: (stream as? ResponseStream)?.fail(.faultyRequest)
        }
    }
}
