import Bytes
import CNghttp2
import HTTP

/// The server's side of an HTTP/2 connection (RFC 9113), without I/O and clock. Bytes of the client go in by `receive`, and
/// bytes for it come out by `produce`. After each of them, `takeChanged` names the streams on which something happened.
///
/// The library's callbacks only note what they see, and never call the owner. What a client may make us do is limited by
/// budgets of frames; an exhausted one is an `excess`, after which the owner ends the connection.
public final class ServerConnection {
    /// A limit that the client has exceeded.
    public enum Excess: String, Sendable, CaseIterable {
        /// Streams that the client reset.
        case resets
        /// Streams that were reset because of the client's faults.
        case faults
        /// Streams that were refused because too many were served.
        case refusals
        case settings
        /// Frames that move nothing.
        case frames
        /// A field section far beyond the limit.
        case fields
    }

    public struct Settings: Sendable {
        /// The limit of streams at once.
        public var streams: UInt32 = 100
        /// The limits of a request's head.
        public var limits = Limits.request
        public var form = RequestForm.absolute

        public init(form: RequestForm) { self.form = form }
    }

    private let session: OpaquePointer
    private let settings: Settings
    private var streams: [Int32: RequestStream] = [:]
    private var changed: [RequestStream] = []
    /// The time of the current call, in nanoseconds.
    private var now: UInt64 = 0
    public private(set) var excess: Excess?
    /// Whether the client's bytes cannot be read any further.
    public private(set) var hasFailed = false
    /// Whether a field section has begun and is not complete.
    public private(set) var isReceivingHead = false
    /// The number of streams that the client has opened.
    public private(set) var opened = 0
    /// The streams that were reset by the client, and by us.
    public private(set) var resetsReceived = 0
    public private(set) var resetsSent = 0

    private var resetBudget = FrameBudget(200, perSecond: 20)
    private var faultBudget = FrameBudget(100, perSecond: 10)
    private var refusalBudget = FrameBudget(400, perSecond: 20)
    private var settingsBudget = FrameBudget(32, perSecond: 1)
    private var frameBudget = FrameBudget(1000, perSecond: 200)
    /// A DATA frame of at least this size lets the client send more frames that move nothing.
    private static let usefulSize = 1024
    private static let framesForData: UInt64 = 10

    /// The windows of a stream and of the connection, in bytes.
    private static let streamWindow: UInt32 = 64 * 1024
    private static let connectionWindow: Int32 = 1 << 20
    private static let largestHead = 352 * 1024
    /// The types of frames that RFC 9113 does not define.
    private static let unknownTypes: ClosedRange<UInt8> = 0x0A...0xFF

    private var names: [UInt8] = []
    private var pairs: [(name: Range<Int>, value: Range<Int>, isSecret: Bool)] = []

    /// - Throws: `OutOfMemory` if the library has no memory.
    public init(_ settings: Settings) throws(OutOfMemory) {
        self.settings = settings
        var callbacks: OpaquePointer?
        var option: OpaquePointer?
        var session: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { throw OutOfMemory() }
        defer { nghttp2_session_callbacks_del(callbacks) }
        guard nghttp2_option_new(&option) == 0, let option else { throw OutOfMemory() }
        defer { nghttp2_option_del(option) }
        Self.set(callbacks)
        nghttp2_option_set_no_auto_window_update(option, 1)
        nghttp2_option_set_no_closed_streams(option, 1)
        nghttp2_option_set_max_outbound_ack(option, 100)
        nghttp2_option_set_max_settings(option, 32)
        // Else the library would not tell of frames of unknown types.
        for type in Self.unknownTypes { nghttp2_option_set_user_recv_extension_type(option, type) }
        nghttp2_option_set_max_send_header_block_length(option, Self.largestHead)
        guard nghttp2_session_server_new2(&session, callbacks, nil, option) == 0, let session else {
            throw OutOfMemory()
        }
        self.session = session
        nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
        let entries = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: settings.streams),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: Self.streamWindow),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: UInt32(clamping: settings.limits.head)),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES.rawValue), value: 1),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL.rawValue), value: 1),
        ]
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
        nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Self.connectionWindow)
    }

    deinit { nghttp2_session_del(session) }

    /// The version of libnghttp2 that is loaded.
    public static var libraryVersion: String {
        nghttp2_version(0).map { String(cString: $0.pointee.version_str) } ?? "unknown"
    }

    /// The library has no memory.
    public struct OutOfMemory: Error {}

    // MARK: - Bytes

    /// Reads bytes of the client.
    /// - Parameter now: a time that never goes back, in nanoseconds.
    public func receive(_ bytes: Span<UInt8>, at now: UInt64) {
        self.now = now
        guard !hasFailed, !bytes.isEmpty else { return }
        let read = bytes.withUnsafeBufferPointer { nghttp2_session_mem_recv(session, $0.baseAddress, $0.count) }
        guard read < 0 else { return }
        hasFailed = true
        if read == Int(NGHTTP2_ERR_FLOODED.rawValue), excess == nil { excess = .frames }
        if excess == nil { end(with: UInt32(NGHTTP2_PROTOCOL_ERROR.rawValue)) }
    }

    /// Appends bytes for the client to `buffer`, until it holds about `limit`.
    public func produce(into buffer: ByteBuffer, limit: Int, at now: UInt64) {
        self.now = now
        while buffer.count < limit {
            var start: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &start)
            guard count > 0, let start else {
                if count < 0 { hasFailed = true }
                return
            }
            buffer.append(UnsafeBufferPointer(start: start, count: count).span)
        }
    }

    /// Whether the library has nothing more to read or to send.
    public var isOver: Bool {
        nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    }

    /// Whether streams are open, or their responses wait to be sent.
    public var hasStreams: Bool { !streams.isEmpty }

    /// The streams that have changed since the last call, in the order of their changes.
    public func takeChanged() -> [RequestStream] {
        if changed.isEmpty { return [] }
        let taken = changed
        changed.removeAll(keepingCapacity: true)
        for stream in taken { stream.isMarked = false }
        return taken
    }

    // MARK: - Orders

    /// Ends the connection because of its `excess`.
    public func endForExcess() { end(with: UInt32(NGHTTP2_ENHANCE_YOUR_CALM.rawValue)) }

    /// Ends the connection at once, in order.
    public func end() { end(with: UInt32(NGHTTP2_NO_ERROR.rawValue)) }

    private func end(with code: UInt32) { nghttp2_session_terminate_session(session, code) }

    /// Takes no more streams; those that exist go on.
    public func drain() {
        let last = nghttp2_session_get_last_proc_stream_id(session)
        nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, UInt32(NGHTTP2_NO_ERROR.rawValue), nil, 0)
    }

    /// Counts a request that was refused as malformed, like a stream that is reset for the client's fault.
    public func noteMalformed() { noteFault() }

    /// The connection below is lost, and all its streams.
    public func lose() {
        hasFailed = true
        for stream in streams.values {
            stream.close(isWhole: false)
            mark(stream)
        }
        streams.removeAll()
    }

    // MARK: - Orders of streams

    func consume(_ count: Int, of stream: RequestStream) {
        guard count > 0 else { return }
        nghttp2_session_consume(session, stream.id, count)
    }

    func reset(_ stream: RequestStream, _ code: StreamError) {
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
    }

    /// Continues to send the content of the response.
    func resume(_ stream: RequestStream) {
        guard stream.isDeferred, stream.hasOutput else { return }
        stream.isDeferred = false
        nghttp2_session_resume_data(session, stream.id)
    }

    /// Sends the head of a response, without the fields that belong to a connection (RFC 9113 section 8.2.2).
    func submit(
        _ head: ResponseHead, _ bytes: Span<UInt8>, isInterim: Bool, hasContent: Bool, on stream: RequestStream
    ) {
        names.removeAll(keepingCapacity: true)
        pairs.removeAll(keepingCapacity: true)
        // RFC 8441 section 5: the server's 101 is the client's 200.
        let isSwitch = head.status == .switchingProtocols
        add(":status".utf8Span.span, (isSwitch ? "200" : "\(head.status.rawValue)").utf8Span.span)
        let isTunnel = isSwitch || stream.asksForTunnel && head.status.isSuccessful
        let hasNoLength = isTunnel || isInterim || head.status == .noContent
        for field in head.fields {
            let name = bytes.extracting(field.name)
            if Self.belongsToConnection(name) || hasNoLength && name.equalsIgnoringCase("content-length") { continue }
            if isSwitch, name.equalsIgnoringCase("sec-websocket-accept") { continue }
            add(name, bytes.extracting(field.value))
        }
        send(isInterim: isInterim, hasContent: hasContent, on: stream)
    }

    private func send(isInterim: Bool, hasContent: Bool, on stream: RequestStream) {
        let none = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        let result = withPairs { pairs in
            if isInterim {
                return nghttp2_submit_headers(session, none, stream.id, nil, pairs.baseAddress, pairs.count, nil)
            }
            guard hasContent else {
                return nghttp2_submit_response(session, stream.id, pairs.baseAddress, pairs.count, nil)
            }
            var provider = nghttp2_data_provider()
            provider.read_callback = Self.provide
            return nghttp2_submit_response(session, stream.id, pairs.baseAddress, pairs.count, &provider)
        }
        if result != 0 { reset(stream, .internalError) }
    }

    /// Sends the trailer section.
    private func submit(trailers lines: ByteBuffer, on stream: RequestStream) {
        names.removeAll(keepingCapacity: true)
        pairs.removeAll(keepingCapacity: true)
        let bytes = lines.readable
        var start = 0
        while let end = bytes.firstIndex(of: .carriageReturn, from: start) {
            if let colon = bytes.firstIndex(of: .colon, in: start..<end) {
                add(
                    bytes.extracting(start..<colon),
                    bytes.extracting(bytes.trimmingBlanks(colon + 1..<end)))
            }
            start = min(end + 2, bytes.count)
        }
        let result = withPairs { nghttp2_submit_trailer(session, stream.id, $0.baseAddress, $0.count) }
        if result != 0 { reset(stream, .internalError) }
    }

    private static func belongsToConnection(_ name: Span<UInt8>) -> Bool {
        switch name.count {
        case 7: name.equalsIgnoringCase("upgrade")
        case 10: name.equalsIgnoringCase("connection") || name.equalsIgnoringCase("keep-alive")
        case 16: name.equalsIgnoringCase("proxy-connection")
        case 17: name.equalsIgnoringCase("transfer-encoding")
        default: false
        }
    }

    /// Adds a field to the list, its name in lower case.
    private func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        let start = names.count
        for place in name.indices { names.append(name[place].asciiLowercased) }
        let middle = names.count
        for place in value.indices { names.append(value[place]) }
        pairs.append((start..<middle, middle..<names.count, name.equalsIgnoringCase("set-cookie")))
    }

    private func withPairs(_ body: (UnsafeBufferPointer<nghttp2_nv>) -> Int32) -> Int32 {
        names.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return Int32(NGHTTP2_ERR_NOMEM.rawValue) }
            let fields = pairs.map { pair in
                nghttp2_nv(
                    name: base + pair.name.lowerBound, value: base + pair.value.lowerBound, namelen: pair.name.count,
                    valuelen: pair.value.count,
                    flags: UInt8((pair.isSecret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE).rawValue))
            }
            return fields.withUnsafeBufferPointer(body)
        }
    }

    // MARK: - What the callbacks note

    private func mark(_ stream: RequestStream) {
        guard !stream.isMarked else { return }
        stream.isMarked = true
        changed.append(stream)
    }

    private func exceed(_ excess: Excess) { if self.excess == nil { self.excess = excess } }

    private func noteFault() { if !faultBudget.take(at: now) { exceed(.faults) } }
}

// The functions that the library calls. Each gets the connection as `data`.
extension ServerConnection {
    private static func connection(_ data: UnsafeMutableRawPointer?) -> ServerConnection? {
        data.map { Unmanaged<ServerConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let failure = Int32(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)

    private static func set(_ callbacks: OpaquePointer) {
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, header, data in
            guard let header, let connection = ServerConnection.connection(data) else {
                return ServerConnection.failure
            }
            return connection.begin(header.pointee) ? 0 : ServerConnection.failure
        }
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, data in
            guard let frame, let connection = ServerConnection.connection(data) else { return ServerConnection.failure }
            connection.beginHead(frame.pointee)
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameLength, value, valueLength, _, data in
            guard let frame, let connection = ServerConnection.connection(data) else { return ServerConnection.failure }
            let isTaken = connection.take(
                UnsafeBufferPointer(start: name, count: nameLength).span,
                UnsafeBufferPointer(start: value, count: valueLength).span, on: frame.pointee.hd.stream_id)
            return isTaken ? 0 : ServerConnection.failure
        }
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, frame, _, _, _, _, _, data in
            guard let frame, let connection = ServerConnection.connection(data) else { return ServerConnection.failure }
            // Without this note the library would drop the field, and pass the request on.
            connection.streams[frame.pointee.hd.stream_id]?.noteInvalidField()
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, data in
            guard let frame, let connection = ServerConnection.connection(data) else { return ServerConnection.failure }
            connection.complete(frame.pointee)
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, data in
            guard let connection = ServerConnection.connection(data) else { return ServerConnection.failure }
            connection.take(UnsafeBufferPointer(start: bytes, count: count), on: id)
            return 0
        }
        nghttp2_session_callbacks_set_unpack_extension_callback(callbacks) { _, _, _, _ in
            Int32(NGHTTP2_ERR_CANCEL.rawValue)
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, data in
            ServerConnection.connection(data)?.close(id, code)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, data in
            if let frame { ServerConnection.connection(data)?.noteSent(frame.pointee) }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, _, data in
            guard let frame, let connection = ServerConnection.connection(data) else { return 0 }
            // A response that cannot be sent must not leave its client waiting.
            if UInt32(frame.pointee.hd.type) == NGHTTP2_HEADERS.rawValue,
                let stream = connection.streams[frame.pointee.hd.stream_id]
            {
                connection.reset(stream, .internalError)
            }
            return 0
        }
    }

    /// - Returns: false if the client has sent too many frames of this kind.
    private func begin(_ header: nghttp2_frame_hd) -> Bool {
        guard excess == nil else { return false }
        let isAcknowledgement = UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue != 0
        if UInt32(header.type) != NGHTTP2_CONTINUATION.rawValue { isReceivingHead = false }
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_CONTINUATION.rawValue, NGHTTP2_GOAWAY.rawValue: break
        case NGHTTP2_DATA.rawValue:
            let isEnd = UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
            if header.length == 0, !isEnd, !frameBudget.take(at: now) { exceed(.frames) }
        case NGHTTP2_RST_STREAM.rawValue:
            resetsReceived &+= 1
            if !resetBudget.take(at: now) { exceed(.resets) }
        case NGHTTP2_SETTINGS.rawValue:
            if !isAcknowledgement, !settingsBudget.take(at: now) { exceed(.settings) }
        default: if !frameBudget.take(at: now) { exceed(.frames) }
        }
        return excess == nil
    }

    private func beginHead(_ frame: nghttp2_frame) {
        isReceivingHead = true
        guard frame.headers.cat == NGHTTP2_HCAT_REQUEST else { return }
        opened &+= 1
        let stream = RequestStream(frame.hd.stream_id, of: self, limits: settings.limits)
        streams[stream.id] = stream
    }

    /// - Returns: false if the field section is excessive.
    private func take(_ name: Span<UInt8>, _ value: Span<UInt8>, on id: Int32) -> Bool {
        guard let stream = streams[id] else { return true }
        stream.add(name, value)
        if stream.isExcessive { exceed(.fields) }
        return excess == nil
    }

    private func take(_ bytes: UnsafeBufferPointer<UInt8>, on id: Int32) {
        guard let stream = streams[id], !stream.isReleased else {
            nghttp2_session_consume(session, id, bytes.count)
            return
        }
        stream.add(bytes)
        mark(stream)
    }

    private func complete(_ frame: nghttp2_frame) {
        let isEnd = UInt32(frame.hd.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
        switch UInt32(frame.hd.type) {
        case NGHTTP2_HEADERS.rawValue:
            isReceivingHead = false
            guard let stream = streams[frame.hd.stream_id] else { return }
            if frame.headers.cat == NGHTTP2_HCAT_REQUEST {
                stream.completeHead(in: settings.form, endsWithHead: isEnd)
            } else if isEnd {
                stream.endInput()
            }
            mark(stream)
        case NGHTTP2_DATA.rawValue where isEnd:
            guard let stream = streams[frame.hd.stream_id] else { return }
            stream.endInput()
            mark(stream)
        default: break
        }
    }

    private func close(_ id: Int32, _ code: UInt32) {
        guard let stream = streams.removeValue(forKey: id) else { return }
        stream.close(isWhole: code == NGHTTP2_NO_ERROR.rawValue)
        mark(stream)
    }

    private func noteSent(_ frame: nghttp2_frame) {
        let isEnd = UInt32(frame.hd.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
        switch UInt32(frame.hd.type) {
        case NGHTTP2_DATA.rawValue:
            if frame.hd.length >= Self.usefulSize { frameBudget.give(Self.framesForData) }
            if isEnd { noteEndSent(frame.hd.stream_id) }
        case NGHTTP2_HEADERS.rawValue where isEnd: noteEndSent(frame.hd.stream_id)
        case NGHTTP2_RST_STREAM.rawValue:
            resetsSent &+= 1
            switch frame.rst_stream.error_code {
            case NGHTTP2_NO_ERROR.rawValue, NGHTTP2_CANCEL.rawValue, NGHTTP2_INTERNAL_ERROR.rawValue,
                NGHTTP2_CONNECT_ERROR.rawValue:
                break
            case NGHTTP2_REFUSED_STREAM.rawValue, NGHTTP2_HTTP_1_1_REQUIRED.rawValue:
                if !refusalBudget.take(at: now) { exceed(.refusals) }
            default: noteFault()
            }
        default: break
        }
    }

    private func noteEndSent(_ id: Int32) {
        guard let stream = streams[id], stream.noteOutputSent() else { return }
        reset(stream, .noError)
    }

    /// Moves content of a response into a DATA frame.
    private static let provide: nghttp2_data_source_read_callback = { _, id, room, length, flags, _, data in
        guard let room, let flags, let connection = ServerConnection.connection(data),
            let stream = connection.streams[id]
        else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
        let target = UnsafeMutableRawBufferPointer(start: room, count: length)
        let wasBlocked = !stream.isWritable
        guard let piece = stream.takeContent(into: target) else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
        if wasBlocked, stream.isWritable { connection.mark(stream) }
        guard piece.isLast else { return piece.count }
        flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
        if let trailers = piece.trailers {
            flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
            connection.submit(trailers: trailers, on: stream)
        }
        return piece.count
    }
}
