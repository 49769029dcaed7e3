import Bytes
import HTTP
import IO
import Transport

/// One client of the administrator's listener: its requests are answered one after the other.
final class AdminConnection {
    private let loop: EventLoop
    private let site: any AdminResponder
    private let security: AdminSecurity?
    private let timeouts: AdminTimeouts
    private let stream: ByteStream
    private let head = RequestHead(limits: Limits(startLine: 8 << 10, head: 16 << 10, fields: 64))

    /// Whether it waits for a request, of whose head a part may be there.
    private(set) var isIdle = true
    /// Whether it was answered for the last time, and waits for its client's end.
    private(set) var isEnding = false
    /// Whether bytes of its client have come that were not read.
    var hasInput: Bool { stream.hasInput() }
    /// Whether it speaks TLS.
    private var isSecure = false
    /// Called when it begins to wait for another one.
    var onIdle: (() -> Void)?

    /// Bytes that are read and thrown away after an answer that ends the connection.
    private static let lingerBytes = 64 << 10

    init(
        takingOwnership descriptor: Int32, to site: any AdminResponder, security: AdminSecurity? = nil,
        timeouts: AdminTimeouts, on loop: EventLoop
    ) throws(IOError) {
        self.loop = loop
        self.site = site
        self.security = security
        self.timeouts = timeouts
        stream = try ByteStream(takingOwnership: descriptor, on: loop)
        stream.wakeup = Wakeup()
    }

    func close() { stream.close() }

    /// Serves until either side ends the connection.
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
            // The client is gone or too slow, and nobody else is concerned.
            return
        }
    }

    /// Speaks TLS with a client that begins with it. Health and metrics are asked for in clear at the same port.
    /// - Returns: false where there is nobody to talk to.
    private func secure(_ inbound: ByteBuffer) async throws(IOError) -> Bool {
        guard let security else { return true }
        stream.setDeadline(after: timeouts.idle)
        guard try await stream.read(into: inbound) > 0 else { return false }
        guard inbound.readable[0] == Self.handshakeRecord else { return true }
        isSecure = await security.handshake(stream, inbound)
        return isSecure
    }

    /// The first byte of TLS.
    private static let handshakeRecord: UInt8 = 22

    /// Answers the next request.
    /// - Returns: whether another one can follow.
    private func answerNext(_ inbound: ByteBuffer, _ outbound: ByteBuffer) async throws(IOError) -> Bool {
        head.reset()
        let response: AdminResponse
        var keepsConnection = false
        // Of a request that was refused or not read to its end the method may not be known.
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
        let date = SystemClock.epochMilliseconds / 1000
        response.write(into: outbound, withBody: hasBody, date: date, closing: !keepsConnection)
        stream.setDeadline(after: timeouts.response)
        try await stream.write(from: outbound)
        if let events = response.events { try await tell(events, outbound) }
        return keepsConnection
    }

    /// The client, as it waits for work.
    private var waiting: WaitingClient? {
        guard let wakeup = stream.wakeup, let address = stream.peerAddress?.address else { return nil }
        return WaitingClient(address: address, wakeup: wakeup, on: loop) { [stream] in
            stream.isClosed || stream.isAtEnd()
        }
    }

    /// Tells the events of a feed until the client has gone or is admitted no longer. One that does not take what there is
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
            // It has nothing more to say, so this is its end.
            if stream.hasInput() { return }
        }
    }

    private enum Arrival {
        /// The head is the buffer's first `length` bytes.
        case head(length: Int)
        /// The time for the rest of a head is over.
        case late
        /// The client has ended, failed, or sent nothing for as long as it may.
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
            // The parser's limits bound this: it refuses a head long before the buffer is large.
            inbound.reserve(1)
            do throws(IOError) {
                guard try await stream.read(into: inbound) > 0 else { return .nothing }
            } catch {
                return error == .timedOut && !isFirst ? .late : .nothing
            }
            if isFirst { stream.setDeadline(after: timeouts.head) }
        }
    }

    /// Notes that the connection waits for its client now, and may have to make room for another.
    private func noteWaiting() {
        isIdle = true
        onIdle?()
    }

    /// Reads the body of a POST with at most that many bytes. Any other body is not read: the connection ends instead.
    /// - Returns: whether the request is over.
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

    /// Ends our side and reads what still comes for a moment: closing at once would reset the connection, and a reset
    /// may destroy the answer before it was read.
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
}

/// Answers requests, without sockets.
protocol AdminResponder {
    /// The proxy's name in `Via`; nil where no request comes through a proxy.
    var via: Via? { get }

    /// Whether the body of a request is read, which may take its client as long as it likes.
    func acceptsBody(of request: AdminRequest, at local: SocketAddress?) -> Bool

    /// - Parameters:
    ///   - local: the address that the request arrived at; nil once the client is gone.
    ///   - now: milliseconds on any clock that never goes back.
    func response(to request: AdminRequest, at local: SocketAddress?, now: UInt64) async -> AdminResponse
}

/// The parts of a request that the administrator's site looks at.
struct AdminRequest {
    var method: HTTP.Method
    /// The request target as it was sent.
    var target: [UInt8]
    /// The target's path without the query; empty where a target has none.
    var path: [UInt8]
    var query: [UInt8] = []
    /// The server that an absolute target names; nil for the other forms.
    var authority: NamedAuthority?
    /// The host that the request names, in its target or its Host field, in lower case; nil in HTTP/1.0.
    var host: String?
    /// The values of all `Authorization` lines.
    var authorization: [[UInt8]]
    /// The values of all `Accept` lines.
    var accept: [String] = []
    /// The values of all `Cookie` lines.
    var cookies: [[UInt8]] = []
    /// The value of `X-Attache-Key`, which a page of another origin cannot have a browser send unasked.
    var dashboardKey: [UInt8]?
    /// Whether the proxy has passed it on.
    var isForwarded = false
    /// Whether it came by TLS.
    var isSecure = false
    /// The client, for work that others may want as well; nil: it has left.
    var client: WaitingClient?
    /// Of a POST.
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
    ///   - bytes: those that `head` was parsed from.
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

/// An answer of the administrator's site, always text; whole, but for one that goes on with events.
struct AdminResponse: Equatable {
    struct Field: Equatable {
        let name: StaticString
        let value: String

        static func == (left: Field, right: Field) -> Bool {
            left.name.description == right.name.description && left.value == right.value
        }
    }

    let status: Status
    var contentType = "text/plain; charset=utf-8"
    var fields: [Field] = []
    var body: String
    /// Those that follow until either side ends the connection; nil: the body is all.
    var events: Events?

    /// The events of a feed, for as long as the client is admitted.
    struct Events: Equatable {
        let feed: DashboardFeed
        let isAdmitted: () -> Bool

        static func == (left: Events, right: Events) -> Bool { left.feed === right.feed }
    }

    /// A text of one line.
    static func text(_ status: Status, _ line: String, _ fields: [Field] = []) -> AdminResponse {
        AdminResponse(status: status, fields: fields, body: line + "\n")
    }

    /// - Parameters:
    ///   - withBody: false for HEAD: the length is that of the body which is left out.
    ///   - date: now, in seconds since 1970.
    ///   - closing: the connection ends behind this answer.
    func write(into buffer: ByteBuffer, withBody: Bool, date: Int, closing: Bool) {
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

/// How long a client of the administrator's listener may take, in milliseconds.
struct AdminTimeouts: Sendable {
    /// Between two requests. Prometheus asks every 15 to 60 seconds and connects anew where it must.
    var idle = 30_000
    /// From a request's first byte to the end of its head.
    var head = 5_000
    /// To take an answer.
    var response = 10_000
    /// To read an answer that ends the connection while the client may still be sending.
    var linger = 1_000
}
