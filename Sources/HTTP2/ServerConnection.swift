import Bytes
import CNghttp2
import HTTP

/// The server's side of an HTTP/2 connection. See `MultiplexedConnection`.
public final class ServerConnection: MultiplexedConnection {
    public struct Settings: Sendable {
        /// The limit of streams at once.
        public var streams: UInt32 = 100
        /// The limits of a request's head.
        public var limits = Limits.request
        public var form = RequestForm.absolute

        public init(form: RequestForm) { self.form = form }
    }

    /// The request whose fields come.
    let request: ReceivedRequest
    /// The response whose head is read.
    let response = WrittenResponse()
    /// The number of streams that the client has opened.
    public private(set) var opened = 0
    private var faultBudget = FrameBudget(100, perSecond: 10)
    private var refusalBudget = FrameBudget(400, perSecond: 20)

    private static let window: Int32 = 1 << 20

    /// - Throws: `OutOfMemory` if the library has no memory.
    public init(_ settings: Settings) throws(OutOfMemory) {
        request = ReceivedRequest(limits: settings.limits, form: settings.form)
        try super.init(
            .server,
            settings: [
                Self.setting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, settings.streams),
                Self.setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, Self.streamWindow),
                Self.setting(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: settings.limits.head)),
                Self.setting(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
                Self.setting(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1),
            ], window: Self.window)
    }

    /// Whether streams are open, or their responses wait to be sent.
    public var hasStreams: Bool { !streams.isEmpty }

    /// Takes the next stream that has changed, in the order of their changes. Nil: no more streams have changed.
    public func nextChanged() -> RequestStream? { nextMarked() as? RequestStream }

    /// Counts a request that was refused as malformed, like a stream that is reset for the client's fault.
    public func noteMalformed() { noteFault() }

    private func noteFault() { if !faultBudget.take(at: now) { exceed(.faults) } }

    /// Sends the head of a response, which was read in the text of `stream`, without the fields that belong to a connection
    /// (RFC 9113 section 8.2.2).
    func submit(isInterim: Bool, hasContent: Bool, on stream: RequestStream) {
        let response = response
        let head = response.head
        let written = stream.written
        let text = written.text
        let bytes = text.readable
        // RFC 8441 section 5: the server's 101 is the client's 200.
        let isSwitch = head.status == .switchingProtocols
        fields.add(":status") { $0.append(decimal: isSwitch ? 200 : Int(head.status.rawValue)) }
        let isTunnel = isSwitch || stream.asksForTunnel && head.status.isSuccessful
        let hasNoLength = isTunnel || isInterim || head.status == .noContent
        let dropped = FieldSet.outsideHTTP2.union(hasNoLength ? FieldSet(.contentLength) : [])
        for field in head.fields where !dropped.contains(field.known) {
            if isSwitch, bytes.extracting(field.name).equalsIgnoringCase("sec-websocket-accept") { continue }
            fields.add(field, in: bytes)
        }
        send(isInterim: isInterim, hasContent: hasContent, on: stream)
        response.dropHead(in: text)
    }

    private func send(isInterim: Bool, hasContent: Bool, on stream: RequestStream) {
        let none = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        let result = fields.handOver { fields in
            if isInterim {
                return nghttp2_submit_headers(session, none, stream.id, nil, fields.baseAddress, fields.count, nil)
            }
            guard hasContent else {
                return nghttp2_submit_response(session, stream.id, fields.baseAddress, fields.count, nil)
            }
            var provider = nghttp2_data_provider()
            provider.read_callback = Self.provide
            return nghttp2_submit_response(session, stream.id, fields.baseAddress, fields.count, &provider)
        }
        if result != 0 { reset(stream, .internalError) }
    }

    // MARK: - What the callbacks note

    override func beginHead(_ frame: nghttp2_frame) {
        guard frame.headers.cat == NGHTTP2_HCAT_REQUEST else { return }
        opened &+= 1
        request.reset()
        let stream = takeSpare() as? RequestStream ?? RequestStream(of: self)
        stream.begin(frame.hd.stream_id)
        add(stream)
    }

    override func addToHead(_ name: Span<UInt8>, _ value: Span<UInt8>, of stream: MultiplexedStream) {
        request.add(name, value)
        if request.isExcessive { exceed(.fields) }
    }

    override func noteHeadNotSent(_ error: Int32, on stream: MultiplexedStream) { reset(stream, .internalError) }

    override func noteEndSent(on stream: MultiplexedStream) {
        // The client must be told to stop sending.
        if stream.isReleased, !stream.state.hasInputEnded { reset(stream, .noError) }
    }

    override func noteResetSent(_ code: UInt32) {
        switch StreamError(rawValue: code) {
        case .noError, .cancel, .internalError, .connectError, .enhanceYourCalm, .inadequateSecurity: break
        case .refused, .http11Required: if !refusalBudget.take(at: now) { exceed(.refusals) }
        case .protocolError, nil: noteFault()
        }
    }
}
