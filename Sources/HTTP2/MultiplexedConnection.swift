import Bytes
import CNghttp2
import HTTP

/// An HTTP/2 connection (RFC 9113) without I/O and clock, in the part that is the same for both sides. Bytes of the peer go in
/// by `receive`, and bytes for it come out by `produce`. After each of them, `nextChanged` names the streams on which
/// something happened.
///
/// The library's callbacks only note what they see, and never call the owner. What a peer may make us do is limited by
/// budgets of frames; an exhausted one is an `excess`, after which the owner ends the connection.
public class MultiplexedConnection {
    /// A limit that the peer has exceeded.
    public enum Excess: String, Sendable, CaseIterable {
        /// Streams that the peer reset.
        case resets
        /// Streams that were reset because of the peer's faults.
        case faults
        /// Streams that were refused because too many were served.
        case refusals
        case settings
        /// Frames that move nothing.
        case frames
        /// A field section far beyond the limit.
        case fields
        /// Frames that violate the protocol. The library has ended the connection, with the code of the fault.
        case violations
    }

    /// The library has no memory.
    public struct OutOfMemory: Error {}

    enum Role {
        case server, client
    }

    let session: OpaquePointer
    private let role: Role
    private(set) var streams = StreamTable()
    /// The stream that was found last, which `streams` holds: most frames are for the same one as the frame before.
    private var recent: (id: Int32, stream: Unmanaged<MultiplexedStream>)?
    /// Objects of streams that have ended, for the next ones.
    private var spare: [MultiplexedStream] = []
    private var changed: [MultiplexedStream] = []
    /// The number of streams in `changed` that were taken.
    private var taken = 0
    /// The buffer into which frames are made now, and how many bytes it may hold.
    private var target: (buffer: ByteBuffer, limit: Int)?
    /// The time of the current call, in nanoseconds.
    private(set) var now: UInt64 = 0
    public private(set) var excess: Excess?
    /// Whether the peer has sent bytes.
    private(set) var hasInput = false
    /// Whether the peer's bytes cannot be read any further.
    public private(set) var hasFailed = false
    private var isLost = false
    /// Whether a field section has begun and is not complete.
    public private(set) var isReceivingHead = false
    /// The time when the last frame began, in nanoseconds; 0 before the first one.
    public private(set) var lastFrame: UInt64 = 0
    /// The streams that were reset by the peer, and by us.
    public private(set) var resetsReceived = 0
    public private(set) var resetsSent = 0

    var resetBudget = FrameBudget(200, perSecond: 20)
    private var settingsBudget = FrameBudget(32, perSecond: 1)
    var frameBudget = FrameBudget(1000, perSecond: 200)
    /// The frames, such as WINDOW_UPDATE, that the peer may send for each DATA frame that we send.
    private static let framesForData: UInt64 = 10
    /// DATA that fills the window of the peer counts only from this size on.
    private static let usefulSize = 1024

    /// The limit of objects that are kept.
    private static let mostSpare = 100
    /// The size of a frame's header, in bytes (RFC 9113 section 4.1).
    private static let frameHeader = 9
    /// The limit of a DATA frame's content, in bytes: the frame fills a record of TLS.
    private static let largestData = 16 * 1024 - frameHeader
    /// The room that a DATA frame should have, in bytes.
    private static let leastRoom = 2048

    static let streamWindow: UInt32 = 64 * 1024
    private static let largestHead = 352 * 1024
    /// The types of frames that RFC 9113 does not define.
    private static let unknownTypes: ClosedRange<UInt8> = 0x0A...0xFF

    /// The field section that is sent next.
    let fields = SentFields()

    /// - Parameters:
    ///   - settings: the entries of our SETTINGS.
    ///   - window: the window of the connection, in bytes.
    /// - Throws: `OutOfMemory` if the library has no memory.
    init(_ role: Role, settings: [nghttp2_settings_entry], window: Int32) throws(OutOfMemory) {
        self.role = role
        var callbacks: OpaquePointer?
        var option: OpaquePointer?
        var session: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { throw OutOfMemory() }
        defer { nghttp2_session_callbacks_del(callbacks) }
        guard nghttp2_option_new(&option) == 0, let option else { throw OutOfMemory() }
        defer { nghttp2_option_del(option) }
        Self.set(callbacks)
        Self.set(option, for: role)
        // The library takes a dozen pieces of memory for each stream.
        var memory = nghttp2_mem(
            mem_user_data: nil, malloc: { size, _ in PieceMemory.allocate(size) },
            free: { piece, _ in PieceMemory.free(piece) },
            calloc: { count, size, _ in PieceMemory.allocateZeroed(count, size) },
            realloc: { piece, size, _ in PieceMemory.reallocate(piece, size) })
        let isMade =
            role == .server
            ? nghttp2_session_server_new3(&session, callbacks, nil, option, &memory)
            : nghttp2_session_client_new3(&session, callbacks, nil, option, &memory)
        guard isMade == 0, let session else { throw OutOfMemory() }
        self.session = session
        nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
        let none = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        nghttp2_submit_settings(session, none, settings, settings.count)
        nghttp2_session_set_local_window_size(session, none, 0, window)
    }

    deinit { nghttp2_session_del(session) }

    private static func set(_ option: OpaquePointer, for role: Role) {
        nghttp2_option_set_no_auto_window_update(option, 1)
        nghttp2_option_set_no_closed_streams(option, 1)
        nghttp2_option_set_max_outbound_ack(option, 100)
        nghttp2_option_set_max_settings(option, 32)
        // Else the library would not tell of frames of unknown types.
        for type in unknownTypes { nghttp2_option_set_user_recv_extension_type(option, type) }
        nghttp2_option_set_max_send_header_block_length(option, largestHead)
        guard role == .client else { return }
        // A response's head of 256 KiB does not fit into the eight frames that a request may take.
        nghttp2_option_set_max_continuations(option, 20)
        // Servers send blanks around values, and clients read over them, as in HTTP/1.1.
        nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(option, 1)
    }

    static func setting(_ name: nghttp2_settings_id, _ value: UInt32) -> nghttp2_settings_entry {
        nghttp2_settings_entry(settings_id: Int32(name.rawValue), value: value)
    }

    /// The version of libnghttp2 that is loaded.
    public static var libraryVersion: String {
        nghttp2_version(0).map { String(cString: $0.pointee.version_str) } ?? "unknown"
    }

    // MARK: - Bytes

    /// Reads bytes of the peer.
    /// - Parameter now: a time that never goes back, in nanoseconds.
    public func receive(_ bytes: Span<UInt8>, at now: UInt64) {
        self.now = now
        guard !hasFailed, !bytes.isEmpty else { return }
        hasInput = true
        let read = bytes.withUnsafeBufferPointer { nghttp2_session_mem_recv(session, $0.baseAddress, $0.count) }
        guard read < 0 else { return }
        hasFailed = true
        switch Int32(clamping: read) {
        case NGHTTP2_ERR_FLOODED.rawValue: exceed(.frames)
        case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS.rawValue: exceed(.fields)
        default: break
        }
        if excess == nil { end(with: UInt32(NGHTTP2_PROTOCOL_ERROR.rawValue)) }
    }

    /// Appends bytes for the peer to `buffer`, until it holds almost `limit`. Only a frame without content makes it more.
    public func produce(into buffer: ByteBuffer, limit: Int, at now: UInt64) {
        self.now = now
        target = (buffer, limit)
        defer { target = nil }
        while limit - buffer.count >= Self.leastRoom {
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

    /// Takes the next stream that has changed, in the order of their changes.
    func nextMarked() -> MultiplexedStream? {
        guard taken < changed.count else {
            changed.removeAll(keepingCapacity: true)
            taken = 0
            return nil
        }
        let stream = changed[taken]
        taken += 1
        stream.isMarked = false
        return stream
    }

    // MARK: - Streams

    func stream(_ id: Int32) -> MultiplexedStream? { find(id)?.takeUnretainedValue() }

    /// Whether there is a stream of that number.
    func hasStream(_ id: Int32) -> Bool { find(id) != nil }

    /// Finds a stream without retaining it. The stream must not be removed while it is used.
    private func find(_ id: Int32) -> Unmanaged<MultiplexedStream>? {
        if let recent, recent.id == id { return recent.stream }
        guard let stream = streams[id] else { return nil }
        let found = Unmanaged.passUnretained(stream)
        recent = (id, found)
        return found
    }

    /// Calls `use` with the stream of that number without retaining it. `use` must not remove the stream.
    /// - Returns: the result; nil for the number of no stream.
    @inline(__always) @discardableResult
    private func with<Result>(_ id: Int32, _ use: (MultiplexedStream) -> Result) -> Result? {
        find(id)?._withUnsafeGuaranteedRef { use($0) }
    }

    func add(_ stream: MultiplexedStream) {
        streams.insert(stream)
        recent = (stream.id, Unmanaged.passUnretained(stream))
    }

    @discardableResult
    func remove(_ id: Int32) -> MultiplexedStream? {
        recent = nil
        return streams.remove(id)
    }

    /// Takes an object for the next stream. Nil if none is kept, or if another object still refers to it.
    func takeSpare() -> MultiplexedStream? {
        guard var stream = spare.popLast(), isKnownUniquelyReferenced(&stream) else { return nil }
        return stream
    }

    /// Keeps the object of a stream that has ended.
    func keep(_ stream: MultiplexedStream) {
        guard !isLost, spare.count < Self.mostSpare, stream.clear() else { return }
        spare.append(stream)
    }

    /// Frees the memory that only streams need.
    public func trim() { spare.removeAll() }

    // MARK: - Orders

    /// Ends the connection because of its `excess`.
    public func endForExcess() { end(with: UInt32(NGHTTP2_ENHANCE_YOUR_CALM.rawValue)) }

    /// Ends the connection at once, in order.
    public func end() { end(with: UInt32(NGHTTP2_NO_ERROR.rawValue)) }

    func end(with code: UInt32) { nghttp2_session_terminate_session(session, code) }

    /// Tells the peer that no more streams are opened; those that exist go on.
    public func drain() {
        let last = nghttp2_session_get_last_proc_stream_id(session)
        nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, UInt32(NGHTTP2_NO_ERROR.rawValue), nil, 0)
    }

    /// The connection below is lost, and all its streams.
    public func lose() {
        (hasFailed, isLost) = (true, true)
        for stream in streams.all { lose(stream) }
        streams.removeAll()
        recent = nil
        spare.removeAll()
    }

    func lose(_ stream: MultiplexedStream) {
        stream.lose()
        mark(stream)
    }

    // MARK: - Orders of streams

    /// Gives the peer room for bytes of a stream that were read or dropped.
    func consume(_ count: Int, of stream: MultiplexedStream) {
        guard count > 0, !isLost else { return }
        switch role {
        case .server: nghttp2_session_consume(session, stream.id, count)
        // The connection's window had them back when they came: a slow reader must not stop the other streams.
        case .client: if !stream.state.hasInputEnded { nghttp2_session_consume_stream(session, stream.id, count) }
        }
    }

    func reset(_ stream: MultiplexedStream, _ code: StreamError) {
        guard !isLost else { return }
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
    }

    /// Continues to send content.
    func resume(_ stream: MultiplexedStream) {
        guard stream.state.isDeferred, stream.hasOutput, !isLost else { return }
        stream.state.isDeferred = false
        nghttp2_session_resume_data(session, stream.id)
    }

    /// Sends the trailer section.
    private func submit(trailers lines: ByteBuffer, on stream: MultiplexedStream) {
        fields.add(lines: lines)
        let result = fields.handOver { nghttp2_submit_trailer(session, stream.id, $0.baseAddress, $0.count) }
        if result != 0 { reset(stream, .internalError) }
    }

    // MARK: - What the callbacks note

    func mark(_ stream: MultiplexedStream) {
        guard !stream.isMarked else { return }
        stream.isMarked = true
        changed.append(stream)
    }

    func exceed(_ excess: Excess) { if self.excess == nil { self.excess = excess } }

    // MARK: - For the role

    /// Whether the peer may send that frame.
    func admits(_ frame: nghttp2_frame_hd) -> Bool { true }

    /// HEADERS have begun.
    func beginHead(_ frame: nghttp2_frame) {}

    /// A field of a head has come.
    func addToHead(_ name: Span<UInt8>, _ value: Span<UInt8>, of stream: MultiplexedStream) {}

    /// A frame that concerns the connection was read.
    func note(_ frame: nghttp2_frame) {}

    /// The library has closed the stream.
    func noteClosed(_ stream: MultiplexedStream, _ code: UInt32) { stream.close(code) }

    /// HEADERS were sent.
    func noteHeadSent(_ frame: nghttp2_frame, on stream: MultiplexedStream) {}

    /// The library cannot send HEADERS, for that reason.
    func noteHeadNotSent(_ error: Int32, on stream: MultiplexedStream) {}

    /// The end of a written message was sent.
    func noteEndSent(on stream: MultiplexedStream) {}

    /// The reader has read `count` bytes of a stream.
    /// - Parameter isAll: whether no more have come.
    func noteRead(_ count: Int, of stream: MultiplexedStream, isAll: Bool) {}

    /// A stream was reset by us.
    func noteResetSent(_ code: UInt32) {}
}

// The functions that the library calls. Each gets the connection as `data`.
extension MultiplexedConnection {
    /// Calls `use` with the connection without retaining it.
    /// - Returns: the result; nil if `data` is nil.
    @inline(__always) @discardableResult
    private static func lend<Result>(
        _ data: UnsafeMutableRawPointer?, _ use: (MultiplexedConnection) -> Result
    ) -> Result? {
        data.map { Unmanaged<MultiplexedConnection>.fromOpaque($0)._withUnsafeGuaranteedRef { use($0) } }
    }

    /// Calls `look` with the connection and a frame, without retaining the connection.
    /// - Returns: the result of the callback. After a failure the library reads no more.
    private static func show<Frame>(
        _ frame: UnsafePointer<Frame>?, to data: UnsafeMutableRawPointer?,
        _ look: (MultiplexedConnection, Frame) -> Bool
    ) -> Int32 {
        let failure = Int32(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
        guard let frame else { return failure }
        return lend(data) { look($0, frame.pointee) } == true ? 0 : failure
    }

    private static func set(_ callbacks: OpaquePointer) {
        setInput(callbacks)
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, data in
            MultiplexedConnection.lend(data) { $0.close(id, code) }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, data in
            MultiplexedConnection.show(frame, to: data) { connection, frame in
                connection.noteSent(frame)
                return true
            }
        }
        // A DATA frame fills the buffer that is written next. If that is almost full, it waits for another one.
        nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks) {
            _, _, _, window, streamWindow, largest, data in
            let room = MultiplexedConnection.lend(data) { $0.room } ?? 0
            let size = room < MultiplexedConnection.leastRoom ? .max : room
            return min(size, MultiplexedConnection.largestData, Int(window), Int(streamWindow), Int(largest))
        }
        nghttp2_session_callbacks_set_send_data_callback(callbacks) { _, frame, header, count, _, data in
            let failure = Int32(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
            guard let frame, let header else { return failure }
            let bytes = UnsafeBufferPointer(start: header, count: MultiplexedConnection.frameHeader)
            let id = frame.pointee.hd.stream_id
            return MultiplexedConnection.lend(data) { $0.send(bytes.span, count, of: id) } ?? failure
        }
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, error, data in
            MultiplexedConnection.show(frame, to: data) { connection, frame in
                // A message that cannot be sent must not leave its peer waiting.
                if UInt32(frame.hd.type) == NGHTTP2_HEADERS.rawValue,
                    let stream = connection.stream(frame.hd.stream_id)
                {
                    connection.noteHeadNotSent(error, on: stream)
                }
                return true
            }
        }
    }

    private static func setInput(_ callbacks: OpaquePointer) {
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, header, data in
            MultiplexedConnection.show(header, to: data) { $0.begin($1) }
        }
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, data in
            MultiplexedConnection.show(frame, to: data) { connection, frame in
                connection.isReceivingHead = true
                connection.beginHead(frame)
                return true
            }
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameLength, value, valueLength, _, data in
            MultiplexedConnection.show(frame, to: data) { connection, frame in
                connection.take(
                    UnsafeBufferPointer(start: name, count: nameLength).span,
                    UnsafeBufferPointer(start: value, count: valueLength).span, on: frame.hd.stream_id)
            }
        }
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, frame, _, _, _, _, _, data in
            MultiplexedConnection.show(frame, to: data) { connection, frame in
                // Without this note the library would drop the field, and pass the message on.
                connection.stream(frame.hd.stream_id)?.noteInvalidField()
                return true
            }
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, data in
            MultiplexedConnection.show(frame, to: data) { connection, frame in
                connection.complete(frame)
                return true
            }
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, data in
            let bytes = UnsafeBufferPointer(start: bytes, count: count)
            let isTaken: Void? = MultiplexedConnection.lend(data) { $0.take(bytes, on: id) }
            return isTaken == nil ? Int32(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) : 0
        }
        nghttp2_session_callbacks_set_unpack_extension_callback(callbacks) { _, _, _, _ in
            Int32(NGHTTP2_ERR_CANCEL.rawValue)
        }
    }

    /// - Returns: false if the peer has sent too many frames of this kind, or one that it must not send.
    private func begin(_ header: nghttp2_frame_hd) -> Bool {
        lastFrame = now
        guard excess == nil, admits(header) else { return false }
        let isAcknowledgement = UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue != 0
        if UInt32(header.type) != NGHTTP2_CONTINUATION.rawValue { isReceivingHead = false }
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_CONTINUATION.rawValue: break
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

    /// - Returns: false if the field section is excessive.
    private func take(_ name: Span<UInt8>, _ value: Span<UInt8>, on id: Int32) -> Bool {
        with(id) { stream in
            if stream.state.isHeadComplete { stream.add(name, value) } else { addToHead(name, value, of: stream) }
        }
        return excess == nil
    }

    private func take(_ bytes: UnsafeBufferPointer<UInt8>, on id: Int32) {
        if role == .client { nghttp2_session_consume_connection(session, bytes.count) }
        guard let found = find(id), found._withUnsafeGuaranteedRef({ !$0.state.isReleased }) else {
            if role == .server { nghttp2_session_consume(session, id, bytes.count) }
            return
        }
        found._withUnsafeGuaranteedRef { stream in
            stream.add(bytes)
            mark(stream)
        }
    }

    private func complete(_ frame: nghttp2_frame) {
        let isEnd = UInt32(frame.hd.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
        switch UInt32(frame.hd.type) {
        case NGHTTP2_HEADERS.rawValue:
            isReceivingHead = false
            with(frame.hd.stream_id) { stream in
                if !stream.state.isHeadComplete {
                    stream.completeHead(endsStream: isEnd)
                } else if isEnd {
                    stream.endInput()
                }
                mark(stream)
            }
        case NGHTTP2_DATA.rawValue:
            guard isEnd else { return }
            with(frame.hd.stream_id) { stream in
                stream.endInput()
                mark(stream)
            }
        default: note(frame)
        }
    }

    private func close(_ id: Int32, _ code: UInt32) {
        guard let stream = remove(id) else { return }
        noteClosed(stream, code)
        mark(stream)
        stream.keepIfEnded()
    }

    private func noteSent(_ frame: nghttp2_frame) {
        let isEnd = UInt32(frame.hd.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
        switch UInt32(frame.hd.type) {
        case NGHTTP2_DATA.rawValue:
            if isEnd { with(frame.hd.stream_id) { noteEnd(on: $0) } }
        case NGHTTP2_HEADERS.rawValue:
            with(frame.hd.stream_id) { stream in
                noteHeadSent(frame, on: stream)
                if isEnd { noteEnd(on: stream) }
            }
        case NGHTTP2_RST_STREAM.rawValue:
            resetsSent &+= 1
            noteResetSent(frame.rst_stream.error_code)
        case NGHTTP2_GOAWAY.rawValue:
            // The end for an excess, and the end in order, are the owner's.
            if frame.goaway.error_code != NGHTTP2_NO_ERROR.rawValue { exceed(.violations) }
        default: break
        }
    }

    private func noteEnd(on stream: MultiplexedStream) {
        stream.state.isOutputSent = true
        noteEndSent(on: stream)
    }

    /// The room for content in the buffer into which frames are made, in bytes.
    private var room: Int { target.map { $0.limit - $0.buffer.count - Self.frameHeader } ?? 0 }

    /// Makes a DATA frame of written content. If the buffer has no room for it, the library tries it again with the next one.
    private func send(_ header: Span<UInt8>, _ count: Int, of id: Int32) -> Int32 {
        let failure = Int32(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        guard let target else { return failure }
        let result = with(id) { stream in
            let written = stream.written
            guard count <= written.content.count else { return failure }
            guard target.buffer.isEmpty || count <= room else { return Int32(NGHTTP2_ERR_WOULDBLOCK.rawValue) }
            target.buffer.append(header)
            let wasBlocked = !stream.isWritable
            stream.moveContent(count, to: target.buffer)
            if wasBlocked, stream.isWritable { mark(stream) }
            return 0
        }
        return result ?? failure
    }

    /// Says what the next DATA frame of a stream holds.
    static let provide: nghttp2_data_source_read_callback = { _, id, _, length, flags, _, data in
        MultiplexedConnection.lend(data) { $0.provide(id, upTo: length, flags) }
            ?? Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }

    private func provide(_ id: Int32, upTo length: Int, _ flags: UnsafeMutablePointer<UInt32>?) -> Int {
        let count = with(id) { stream in
            guard let flags else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
            guard let piece = stream.nextPiece(upTo: length) else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
            flags.pointee |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue
            if piece.count >= Self.usefulSize || piece.count > 0 && piece.count < length {
                frameBudget.give(Self.framesForData)
            }
            guard piece.isLast else { return piece.count }
            flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
            if let trailers = piece.trailers {
                flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
                submit(trailers: trailers, on: stream)
            }
            return piece.count
        }
        return count ?? Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }
}
