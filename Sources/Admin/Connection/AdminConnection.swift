import Bytes
import HTTP
import IO
import Transport

/// One client of the administrator's listener. Its requests are answered one after the other.
final class AdminConnection {
    private let loop: EventLoop
    private let site: any AdminResponder
    private let security: DashboardSources.Handshake?
    private let timeouts: AdminConnection.Timeouts
    private let stream: ByteStream
    private let head = RequestHead(limits: Limits(startLine: 8 << 10, head: 16 << 10, fields: 64))

    /// Whether the connection waits for a request, whose head may have arrived in part.
    private(set) var isIdle = true
    /// Whether the last answer was sent, so that the connection only waits for the client to close.
    private(set) var isEnding = false
    /// Whether there are unread bytes of the client.
    var hasInput: Bool { stream.hasInput() }
    /// Whether the connection uses TLS.
    private var isSecure = false
    /// Called when the connection begins to wait for another request.
    var onIdle: (() -> Void)?

    /// The bytes that are read and dropped after an answer that ends the connection.
    private static let lingerBytes = 64 << 10

    init(
        takingOwnership descriptor: Int32, to site: any AdminResponder, security: DashboardSources.Handshake? = nil,
        timeouts: AdminConnection.Timeouts, on loop: EventLoop
    ) throws(IOError) {
        self.loop = loop
        self.site = site
        self.security = security
        self.timeouts = timeouts
        stream = try ByteStream(takingOwnership: descriptor, on: loop)
        stream.wakeup = Wakeup()
    }

    func close() { stream.close() }

    /// Serves until either side closes the connection.
    func serve() async {
        let inbound = loop.buffers.take()
        let outbound = loop.buffers.take()
        defer {
            loop.buffers.give(inbound)
            loop.buffers.give(outbound)
            stream.close()
        }
        do throws(IOError) {
            guard try await secure(inbound) else { return }
            while try await answerNext(inbound, outbound) {}
            try await linger(inbound)
        } catch {
            // The client is gone or too slow, which has no other effect.
            return
        }
    }

    /// Starts TLS if the client begins with it. Health and metrics are available without TLS at the same port.
    /// - Returns: false if the connection has ended.
    private func secure(_ inbound: ByteBuffer) async throws(IOError) -> Bool {
        guard let security else { return true }
        stream.setDeadline(after: timeouts.idle)
        guard try await stream.read(into: inbound) > 0 else { return false }
        guard inbound.readable[0] == Self.handshakeRecord else { return true }
        isSecure = await security(stream, inbound)
        return isSecure
    }

    /// The first byte of a TLS handshake record.
    private static let handshakeRecord: UInt8 = 22

    /// Answers the next request.
    /// - Returns: whether another request can follow.
    private func answerNext(_ inbound: ByteBuffer, _ outbound: ByteBuffer) async throws(IOError) -> Bool {
        head.reset()
        let response: AdminResponse
        var keepsConnection = false
        // The method may be unknown if the request was refused or not read completely.
        var hasBody = true
        do throws(HTTPError) {
            switch try await readHead(inbound) {
            case .head(let length):
                var request = AdminRequest(head, inbound.readable, via: site.via)
                request.isSecure = isSecure
                request.client = waiting
                hasBody = head.method != .head
                inbound.consume(length)
                let mayHaveBody = site.acceptsBody(of: request, at: stream.localAddress)
                let isWhole = try await readBody(of: &request, upTo: mayHaveBody ? Self.bodyLimit : 0, inbound)
                keepsConnection = isWhole && head.keepAlive && head.version == .http11
                response = await site.response(to: request, at: stream.localAddress, now: loop.now)
            case .late:
                response = .text(.requestTimeout, "the request did not arrive in time")
            case .nothing: return false
            }
        } catch {
            response = .text(error.status, error.description)
        }
        outbound.clear()
        if response.events != nil { keepsConnection = false }
        let date = SystemClock.wallTime
        response.write(into: outbound, withBody: hasBody, date: date, closing: !keepsConnection)
        stream.setDeadline(after: timeouts.response)
        try await stream.write(from: outbound)
        if let events = response.events { try await tell(events, outbound) }
        return keepsConnection
    }

    /// The client, as one that waits for work.
    private var waiting: WaitingClient? {
        guard let wakeup = stream.wakeup, let address = stream.peerAddress?.address else { return nil }
        return WaitingClient(address: address, wakeup: wakeup, on: loop) { [stream] in
            stream.isClosed || stream.isAtEnd()
        }
    }

    /// Sends the events of a feed until the client has gone or is no longer admitted. A client that does not take them
    /// within the time for an answer is dropped.
    private func tell(_ events: AdminResponse.Events, _ outbound: ByteBuffer) async throws(IOError) {
        guard let wakeup = stream.wakeup else { return }
        let reader = events.feed.open(wakeup)
        defer { events.feed.close(reader) }
        while events.isAdmitted() {
            outbound.clear()
            events.feed.write(to: reader, into: outbound)
            guard outbound.isEmpty else {
                stream.setDeadline(after: timeouts.response)
                try await stream.write(from: outbound)
                continue
            }
            stream.setDeadline(after: nil)
            await wakeup.wait()
            try stream.check()
            // A client sends nothing after its request, so input means that it closed.
            if stream.hasInput() { return }
        }
    }

    private enum Arrival {
        /// The head is in the first `length` bytes of the buffer.
        case head(length: Int)
        /// The rest of the head did not arrive in time.
        case late
        /// The client has closed, failed, or sent nothing for the allowed time.
        case nothing
    }

    private func readHead(_ inbound: ByteBuffer) async throws(HTTPError) -> Arrival {
        stream.setDeadline(after: inbound.isEmpty ? timeouts.idle : timeouts.head)
        while true {
            let isFirst = inbound.isEmpty
            if !isFirst, case .complete(let length) = try head.parse(inbound.readable) {
                isIdle = false
                return .head(length: length)
            }
            if !isIdle { noteWaiting() }
            // The parser's limits bound the buffer: it refuses a head long before the buffer is large.
            inbound.reserve(1)
            do throws(IOError) {
                guard try await stream.read(into: inbound) > 0 else { return .nothing }
            } catch {
                return error == .timedOut && !isFirst ? .late : .nothing
            }
            if isFirst { stream.setDeadline(after: timeouts.head) }
        }
    }

    /// Notes that the connection waits for its client, and may be closed to make room for another.
    private func noteWaiting() {
        isIdle = true
        onIdle?()
    }

    /// Reads the body of a POST with at most `limit` bytes. Any other body is not read; the connection closes instead.
    /// - Returns: whether the request is complete.
    private func readBody(
        of request: inout AdminRequest, upTo limit: Int, _ inbound: ByteBuffer
    ) async throws(HTTPError) -> Bool {
        switch head.framing {
        case .none, .length(0): return true
        case .length(let count) where request.method == .post && count <= limit:
            if inbound.count < count { noteWaiting() }
            defer { isIdle = false }
            while inbound.count < count {
                inbound.reserve(1)
                do throws(IOError) { if try await stream.read(into: inbound) == 0 { return false } } catch {
                    return false
                }
            }
            request.body = inbound.readable.extracting(first: count).array
            inbound.consume(count)
            return true
        default: return false
        }
    }

    private static let bodyLimit = 16 << 10

    /// Closes our side and reads for a moment. An immediate close would reset the connection, and a reset may destroy
    /// the answer before the client has read it.
    private func linger(_ buffer: ByteBuffer) async throws(IOError) {
        stream.shutdownWrite()
        isEnding = true
        stream.setDeadline(after: timeouts.linger)
        var rest = Self.lingerBytes
        while rest > 0 {
            buffer.clear()
            let count = try await stream.read(into: buffer)
            if count == 0 { return }
            rest -= count
        }
    }

    /// The time limits for clients of the administrator's listener.
    struct Timeouts: Sendable {
        /// The limit between two requests. Prometheus asks every 15 to 60 seconds and reconnects if necessary.
        var idle: Milliseconds = 30_000
        /// The limit from a request's first byte to the end of its head.
        var head: Milliseconds = 5_000
        /// The limit for the client to take an answer.
        var response: Milliseconds = 10_000
        /// The limit for reading after an answer that ends the connection, while the client may still send.
        var linger: Milliseconds = 1_000
    }
}

/// Answers requests, without sockets.
protocol AdminResponder {
    /// The proxy's name in `Via`; nil if requests never come through a proxy.
    var via: Via? { get }

    /// Whether the body of a request is read. The client may send it slowly.
    func acceptsBody(of request: AdminRequest, at local: SocketAddress?) -> Bool

    /// - Parameters:
    ///   - local: the address that the request arrived at; nil once the client is gone.
    ///   - now: the time on any monotonic clock.
    func response(to request: AdminRequest, at local: SocketAddress?, now: LoopInstant) async -> AdminResponse
}

/// The parts of a request that the administrator's site uses.
struct AdminRequest {
    var method: HTTP.Method
    /// The request target, unchanged.
    var target: [UInt8]
    /// The target's path without the query; empty for a target without a path.
    var path: [UInt8]
    var query: [UInt8] = []
    /// The server that an absolute target names; nil for the other forms.
    var authority: NamedAuthority?
    /// The host in the request's target or Host field, in lower case; nil in HTTP/1.0.
    var host: String?
    /// The values of all `Authorization` lines.
    var authorization: [[UInt8]]
    /// The values of all `Accept` lines.
    var accept: [String] = []
    /// The values of all `Cookie` lines.
    var cookies: [[UInt8]] = []
    /// The value of `X-Attache-Key`, which a page of another origin cannot make a browser send.
    var dashboardKey: [UInt8]?
    /// Whether the request came through the proxy.
    var isForwarded = false
    /// Whether the request came over TLS.
    var isSecure = false
    /// The client, for work that others may need too; nil: it has left.
    var client: WaitingClient?
    /// The body of a POST.
    var body: [UInt8] = []

    /// The scheme, host and port of an absolute target.
    struct NamedAuthority {
        var isHTTP: Bool
        var host: String
        var port: UInt16
    }
}

extension AdminRequest {
    /// - Parameters:
    ///   - bytes: the bytes that `head` was parsed from.
    ///   - via: the proxy's name in `Via`.
    init(_ head: RequestHead, _ bytes: Span<UInt8>, via: Via? = nil) {
        isForwarded = via?.occurs(in: head.fields, of: bytes) ?? false
        method = head.method
        target = bytes.extracting(head.target.text).array
        path = bytes.extracting(head.target.path).array
        if let mark = path.firstIndex(of: UInt8(ascii: "?")) {
            query = Array(path[mark...].dropFirst())
            path.removeSubrange(mark...)
        }
        if head.target.form == .absolute, let named = head.target.authority {
            if path.isEmpty { path = [.slash] }
            authority = NamedAuthority(
                isHTTP: head.target.scheme == .http, host: bytes.extracting(named.host).text.lowercased(),
                port: named.explicitPort ?? 80)
        }
        host = head.authority.map { bytes.extracting($0.host).text.lowercased() }
        authorization = []
        for field in head.fields where field.known == .authorization {
            authorization.append(bytes.extracting(field.value).array)
        }
        for field in head.fields where bytes.extracting(field.name).equalsIgnoringCase("accept") {
            accept.append(bytes.extracting(field.value).text)
        }
        for field in head.fields where field.known == .cookie { cookies.append(bytes.extracting(field.value).array) }
        dashboardKey = head.fields.first(named: "x-attache-key", in: bytes).map { bytes.extracting($0.value).array }
    }
}

/// An answer of the administrator's site, always text. It is complete, unless events follow.
struct AdminResponse {
    struct Field {
        let name: StaticString
        let value: String
    }

    let status: Status
    var contentType = "text/plain; charset=utf-8"
    var fields: [Field] = []
    var body: String
    /// The events that follow until either side closes the connection; nil: the body is complete.
    var events: Events?

    /// The events of a feed, as long as the client is admitted.
    struct Events {
        let feed: DashboardFeed
        let isAdmitted: () -> Bool
    }

    /// Creates a text of one line.
    static func text(_ status: Status, _ line: String, _ fields: [Field] = []) -> AdminResponse {
        AdminResponse(status: status, fields: fields, body: line + "\n")
    }

    /// - Parameters:
    ///   - withBody: false for HEAD: the body is omitted, but its length is sent.
    ///   - date: the current time.
    ///   - closing: whether the connection closes after this answer.
    func write(into buffer: ByteBuffer, withBody: Bool, date: WallTime, closing: Bool) {
        let writer = HeadWriter(status: status, into: buffer)
        writer.date(date)
        for field in fields { writer.field(field.name, field.value) }
        writer.field("Content-Type", contentType)
        if events == nil { writer.field("Content-Length", decimal: body.utf8.count) }
        writer.field("Cache-Control", "no-store" as StaticString)
        if closing { writer.field("Connection", "close" as StaticString) }
        writer.end()
        if withBody { buffer.append(body) }
    }
}
