import Bytes
import HTTP

/// One request on an HTTP/2 connection to a server, and its response, both as the text of HTTP/1.1. The writer writes the
/// request as for a server of HTTP/1.1; the reader gets the response as such a server would send it, and then the end.
public final class ResponseStream: MultiplexedStream {
    /// The reason why a stream ended before its response was whole.
    public enum Failure: Equatable, Sendable {
        /// The server has not processed the request. It may be sent again with any method.
        case unprocessed
        /// The server has not processed the request, and wants it by HTTP/1.1.
        case requiresHTTP11
        /// The server has reset the stream with that code (RFC 9113 section 7).
        case reset(UInt32)
        /// The library has reset the stream with that code, because the server has violated the protocol.
        case violated(UInt32)
        /// The server has sent a response that cannot be passed on. The stream was reset.
        case malformed(Defect)
        /// The text of the request is not what this proxy writes. The stream was reset, or never sent.
        case faultyRequest
        /// The connection was lost behind the request's HEADERS.
        case lost
    }

    /// The facts about the request and its response.
    struct Progress {
        var failure: Failure?
        /// The method of the request; it has a meaning once the head is written.
        var method = Method.get
        /// The bytes that were read since the window has its size.
        var readBytes = 0
        /// The bytes of content that are still to come; nil if that is not known.
        var missing: Int?
        /// Whether HEADERS of the request were sent.
        var isSent = false
        /// Whether the server has sent RST_STREAM.
        var isReset = false
    }

    private let client: ClientConnection
    var progress = Progress()
    private(set) var scheme: StaticString = "http"
    /// The names of fields of the request that no table of the connection may keep, in lower case, beside `authorization`,
    /// `proxy-authorization` and `cookie`. It has an effect until the head is written.
    public var secretNames: [String] = []
    /// The bytes that content takes from the budget of the windows.
    private var borrowed = 0
    /// The size of the window, in bytes.
    var window = Int32(MultiplexedConnection.streamWindow)

    init(of client: ClientConnection) {
        self.client = client
        super.init(of: client)
    }

    // A stream may hold as much as its window until it is gone.
    deinit { giveWindowBack() }

    /// Prepares for a request.
    func begin(scheme: StaticString) {
        begin(0)
        progress = Progress()
        self.scheme = scheme
    }

    override func clear() -> Bool {
        giveWindowBack()
        if !secretNames.isEmpty { secretNames = [] }
        return super.clear()
    }

    private func giveWindowBack() {
        let growth = window - Int32(MultiplexedConnection.streamWindow)
        guard growth > 0 || borrowed > 0 else { return }
        window -= growth
        client.windows.give(Int(growth) + borrowed)
        borrowed = 0
    }

    /// Counts the content that waits to be sent among the windows: no exchange limits it any longer.
    /// - Returns: false if there is no room for it.
    func borrowForContent() -> Bool {
        let content = written.content.count
        borrowed = client.windows.take(upTo: content)
        return borrowed == content
    }

    /// The reason why the stream ended early; nil while it is open, and if the response is whole.
    public var failure: Failure? { progress.failure }

    // MARK: - What comes

    override func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        guard !state.isLost, !state.isReleased else { return }
        super.add(name, value.extracting(value.trimmingBlanks(0..<value.count)))
    }

    override func noteInvalidField() { fault(.malformedFieldName) }

    override func completeHead(endsStream: Bool) {
        guard !state.isLost, !state.isReleased else { return }
        let response = client.response
        do throws(Defect) {
            let head = try response.write(to: text, answering: progress.method, endsWithHead: endsStream)
            guard !head.status.isInterim else { return try noteInterimHead() }
            state.framing = head.framing
            progress.missing = head.framing == .length ? response.contentLength : nil
        } catch { return fault(error) }
        state.isHeadComplete = true
        if endsStream { endInput() }
        // The tunnel is refused.
        if progress.method == .connect, state.framing != .raw { endOutput() }
    }

    /// An interim response came. A server must not fill the memory with them.
    private func noteInterimHead() throws(Defect) {
        client.noteUseless()
        let limit = client.headLimit
        guard text.count <= limit else { throw .headTooLarge(limit: limit) }
    }

    override func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard !state.isLost, !bytes.isEmpty else { return }
        guard state.isHeadComplete, state.framing != .none else { return fault(.malformedContentLength) }
        if let missing = progress.missing { progress.missing = missing - bytes.count }
        super.add(bytes)
    }

    /// Whether all content has come, though the server may not have said that it is the end.
    var hasWholeContent: Bool { state.isHeadComplete && (state.framing == .none || progress.missing == 0) }

    /// - Parameter isAll: whether no more bytes have come.
    /// - Returns: whether as much was read as the window holds, and the reader waits for more.
    func noteRead(_ count: Int, isAll: Bool) -> Bool {
        progress.readBytes += count
        guard isAll, progress.readBytes >= Int(window) else { return false }
        progress.readBytes = 0
        return true
    }

    override func endInput() {
        guard state.isHeadComplete else { return fault(.incomplete) }
        super.endInput()
    }

    /// The response cannot be passed on.
    private func fault(_ defect: Defect) {
        guard !state.isLost, !state.isReleased else { return }
        fail(.malformed(defect))
        client.reset(self, .protocolError)
    }

    func fail(_ failure: Failure) {
        guard progress.failure == nil else { return }
        progress.failure = failure
        state.isLost = true
        client.mark(self)
    }

    override func close(_ code: UInt32) {
        state.isOver = true
        if isTunnel { return closeTunnel(code) }
        // What follows a whole response concerns the rest of the request.
        guard !state.hasInputEnded else { return }
        switch StreamError(rawValue: code) {
        case .http11Required: fail(.requiresHTTP11)
        case .refused where !state.isHeadComplete:
            fail(client.requiresHTTP11 ? .requiresHTTP11 : .unprocessed)
        default: fail(progress.isReset ? .reset(code) : .violated(code))
        }
    }

    /// The library has closed the stream of a tunnel. By NO_ERROR the server says that it takes no more; nghttpx ends tunnels so
    /// when its own server has ended them.
    private func closeTunnel(_ code: UInt32) {
        if code == StreamError.noError.rawValue {
            super.endInput()
        } else if !state.hasInputEnded || !state.isOutputSent {
            fail(progress.isReset ? .reset(code) : .violated(code))
        }
    }

    override func lose() {
        state.isOver = true
        guard !state.hasInputEnded else { return }
        fail(client.hasOtherProtocol ? .malformed(.noHTTP2) : progress.isSent ? .lost : .unprocessed)
    }

    /// Whether the server has opened a tunnel.
    var isTunnel: Bool { state.framing == .raw }

    // MARK: - The reader

    /// Whether the response was whole, or failed, and everything before was read.
    override public var isAtEnd: Bool { state.isLost || isReadWhole }

    // MARK: - The writer

    override func readWritten() -> Bool {
        guard written.hasHead else { return readWrittenHead() }
        return readRest()
    }

    private func readWrittenHead() -> Bool {
        let request = client.request
        switch request.readHead(of: written) {
        case .head(let hasContent):
            progress.method = request.head.method
            client.submit(hasContent: hasContent, on: self)
            return !state.isLost && readRest()
        case .needsMore: return true
        case .fault:
            fail(.faultyRequest)
            return false
        }
    }

    private func readRest() -> Bool {
        if readWrittenBody() { return true }
        fail(.faultyRequest)
        return false
    }

    // MARK: - The end

    /// Closes the stream. Bytes that were not read are dropped. A response that is not whole is reset by CANCEL, a request
    /// that is not whole by NO_ERROR.
    /// - Parameter isFault: whether the server must see CANCEL, though the response is whole.
    override public func release(asFault isFault: Bool) {
        guard !state.isReleased else { return }
        state.isReleased = true
        owner = nil
        client.release(self, asFault: isFault)
        dropInput()
        keepIfEnded()
    }
}
