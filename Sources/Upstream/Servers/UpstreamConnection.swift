import Authentication
import Bytes
import HTTP
import HTTP2
import IO
import TLS
import Transport

/// The upstream's side of an exchange: a connection, and the response head that arrived on it.
public final class UpstreamConnection {
    /// The failures between the request and the head of its response.
    public enum Failure: Error {
        /// The connection ended or was reset before any byte of the response.
        case died
        case timedOut
        /// The response may not be passed on.
        case invalid(HTTPError)
        /// TLS failed: the origin sent an alert, or broke the protocol.
        case insecure(TLSError)
        /// The server has not processed the request, so that any request may be sent again.
        case unprocessed
        /// The server has not processed the request, and wants it by HTTP/1.1.
        case needsHTTP11
        /// The request cannot be said by HTTP/2.
        case unspeakable
        /// The server has reset the stream.
        case reset(StreamReset)
    }

    public let head: ResponseHead
    /// The received bytes: up to `consumeHead` the head is at the front, then the body follows.
    public let inbound: ByteBuffer
    private var connection: OriginConnection?
    /// Whether the connection has served a request before, so that the server may have closed it meanwhile.
    public var isReused = false
    public private(set) var headLength = 0
    /// Whether the response was understood, but the start of a next response is uncertain.
    public private(set) var isCondemned = false
    /// The part of the body that was read in advance, and how much of it was consumed. The rest follows on the stream.
    private var kept: (body: ReplayCopy, offset: Int)?

    public init(limits: Limits, on loop: EventLoop) {
        head = ResponseHead(limits: limits)
        inbound = loop.buffers.take()
    }

    /// The number of bytes read with a head. The head that the client gets is longer, and still fits into a buffer.
    private static let firstPiece = BufferPool.regular - 1024

    public var isConnected: Bool { connection != nil }
    public var stream: ByteStream? { connection?.stream }
    /// Whether there is a connection, and it was made to that server.
    public func leads(to peer: UpstreamServer) -> Bool { connection?.peer === peer }
    public var security: ConnectionSecurity? { connection?.security }
    /// The TLS of the server that gets the requests, an origin or a parent.
    public var peerSecurity: ConnectionSecurity? { connection?.peerSecurity }
    var peer: UpstreamServer? { connection?.peer }
    /// Whether the connection is a stream of an HTTP/2 connection; meaningless without a connection.
    public private(set) var isStream = false
    /// The address of the server, or of the parent on the way to it.
    public var peerAddress: IPAddress? { connection?.peerAddress }

    /// Has no table of the connection keep the fields with these names, beside those that are known as secret.
    /// - Parameter names: in lower case.
    public func hide(fields names: [String]) { connection?.sharedStream?.stream?.secretNames = names }
    /// Whether the connection is a stream, or that with a parent uses TLS; meaningless without a connection.
    public private(set) var isNotable = false
    /// Whether the connection leads through a parent, or to it, by HTTP/2.
    public var asksParentByHTTP2: Bool { connection?.parentSecurity?.speaksHTTP2 ?? false }
    /// The reason why a gateway gave no response; nil if it is not the gateway's fault.
    public var gatewayRefusal: Refusal? { connection?.gateway?.refusal }

    public func attach(_ connection: consuming OriginConnection, isReused: Bool) {
        isNotable = connection.isNotable
        isStream = connection.isStream
        self.connection = consume connection
        self.isReused = isReused
        kept.forget()
        isCondemned = false
        headLength = 0
        inbound.clear()
        head.reset()
    }

    /// Returns the connection as it is and forgets it.
    public func detach() -> OriginConnection? {
        defer { connection = nil }
        return connection
    }

    public func reset() {
        stream?.close()
        connection.forget()
        kept.forget()
        isCondemned = false
        headLength = 0
        inbound.clear()
        head.reset()
    }

    /// The login that reserves the connection for one client; nil: it may serve any client.
    public var login: ConnectionLogin? { connection?.login }
    /// The login at the parent; nil if none.
    public var parentLogin: ConnectionLogin? { connection?.parentLogin }
    /// Whether a user is logged in on the connection.
    public var isLoggedIn: Bool { connection?.isLoggedIn ?? false }

    /// Reserves the connection for one client until it closes.
    public func claim(for login: ConnectionLogin) { connection?.claim(for: login) }

    public func login(to origin: UpstreamServer) -> ConnectionLogin? { origin.isProxy ? parentLogin : login }

    /// Whether the connection has no login, or exactly these. A nil version is the client's own login. A stream has none.
    public func serves(_ version: CredentialVersion?, atParent parentVersion: CredentialVersion?) -> Bool {
        if isStream { return version == nil && parentVersion == nil }
        return (login.map { $0.version == version } ?? true)
            && (parentLogin.map { $0.version == parentVersion } ?? true)
    }

    /// Prepares for the next head.
    public func forgetHead() {
        if head.isIrregular { condemn() }
        consumeHead()
        head.reset()
    }

    /// Makes `release` close the connection instead of keeping it.
    public func condemn() { isCondemned = true }

    /// Returns the connection to its server for other requests if its response left it usable; else closes it.
    /// - Returns: a logged-in connection, which the caller must keep.
    public func release(keptFor limit: Milliseconds) -> OriginConnection? {
        guard let connection = connection.take() else { return nil }
        guard head.keepAlive, !isCondemned, inbound.isEmpty, !holdsBody else {
            connection.stream.close()
            return nil
        }
        if connection.isLoggedIn { return connection }
        connection.rest(for: limit)
        return nil
    }

    /// Reads the next response head as far as it has arrived. The head may be an interim one. A head that is already
    /// there is the next.
    /// - Returns: whether the head is complete. If not, wait for an event of the stream or for its deadline.
    public func advanceHead(answering method: Method) throws(Failure) -> Bool {
        guard let stream else { throw .died }
        if headLength > 0 { return true }
        let inbound = inbound
        while true {
            if !inbound.isEmpty {
                do throws(HTTPError) {
                    if case .complete(let length) = try head.parse(inbound, answering: method) {
                        headLength = length
                        return true
                    }
                } catch { throw .invalid(error) }
                if inbound.writableCount == 0 { inbound.reserve(1) }
            }
            switch stream.tryRead(into: inbound, limit: Self.firstPiece) {
            case .moved: continue
            case .wouldBlock:
                do throws(IOError) { try stream.check() } catch { throw error == .timedOut ? .timedOut : breach }
                return false
            case .endOfStream: throw inbound.isEmpty ? .died : .invalid(HTTPError(.upstream, .incomplete))
            case .failed: throw breach
            }
        }
    }

    /// The failure when the connection ends too early.
    private var breach: Failure {
        if let failure = tlsFailure { return .insecure(failure) }
        switch connection?.sharedStream?.stream?.failure {
        case nil, .lost?: break
        case .unprocessed?: return .unprocessed
        case .requiresHTTP11?: return .needsHTTP11
        case .faultyRequest?: return .unspeakable
        case .reset(let code)?, .violated(let code)?: return .reset(StreamReset(code: code))
        case .malformed(let defect)?: return .invalid(HTTPError(.upstream, defect))
        }
        return inbound.isEmpty ? .died : .invalid(HTTPError(.upstream, .incomplete))
    }

    /// The reason with which the server has reset the stream of the response; nil if it has not.
    public var streamReset: StreamReset? {
        if case .reset(let code)? = connection?.sharedStream?.stream?.failure { StreamReset(code: code) } else { nil }
    }

    /// The failure of TLS; nil if TLS did not fail, or if only the connection was reset.
    private var tlsFailure: TLSError? {
        switch connection?.tls?.failure {
        case nil, .truncated?, .transport?: nil
        case let failure?: failure
        }
    }

    /// Whether the origin was shown a certificate on this connection.
    public var hasShownIdentity: Bool { connection?.tls?.identityAnswer == .shown }

    /// Whether a part of the body was read in advance and not yet consumed.
    public var holdsBody: Bool { kept.map { $0.offset < $0.body.count } ?? false }

    /// Makes `readBody` return this copy first. It precedes the bytes that follow those in `inbound`.
    public func keep(_ body: ReplayCopy) { kept = (body, 0) }

    /// The result of one step of reading the body.
    public enum BodyStep {
        case moved
        /// The connection has ended.
        case ended
        /// No bytes are there. Wait for an event of the connection.
        case awaitsUpstream
        /// A part that was read in advance must be read back from its file first: call `readBody`.
        case awaitsCopy
    }

    /// Reads the part of the body that has arrived.
    public func advanceBody() throws(ExchangeFailure) -> BodyStep {
        if holdsBody { return .awaitsCopy }
        guard let stream else { return .ended }
        if inbound.writableCount == 0 { inbound.reserve(1) }
        switch stream.tryRead(into: inbound) {
        case .moved: return .moved
        case .endOfStream: return .ended
        case .wouldBlock:
            do throws(IOError) { try stream.check() } catch { throw Self.failure(error) }
            return .awaitsUpstream
        case .failed(let errno):
            switch connection?.sharedStream?.stream?.failure {
            case .reset(let code)?:
                throw .cutShort(
                    .connectionTerminated, "the origin reset its response (\(StreamReset(code: code)))")
            case .violated(let code)?:
                throw .cutShort(
                    .httpProtocolError, "the origin broke the protocol in its response (\(StreamReset(code: code)))")
            default: throw Self.failure(stream.failure(errno, "cannot read"))
            }
        }
    }

    /// Reads more of the body, in a task.
    /// - Returns: the number of bytes; 0 at the end of the connection.
    public func readBody(within limit: Milliseconds) async throws(ExchangeFailure) -> Int {
        if inbound.writableCount == 0 { inbound.reserve(1) }
        if let kept, kept.offset < kept.body.count {
            guard let count = await kept.body.read(from: kept.offset, into: inbound) else {
                throw .cutShort(.proxyInternalError, "the part of the response that was kept cannot be read back")
            }
            self.kept?.offset += count
            return count
        }
        return try await readBody(into: inbound, within: limit)
    }

    /// Reads more of the body from the connection.
    /// - Returns: the number of bytes; 0 at the end of the connection.
    public func readBody(into buffer: ByteBuffer, within limit: Milliseconds) async throws(ExchangeFailure) -> Int {
        guard let stream else { return 0 }
        stream.setDeadline(after: limit)
        do throws(IOError) {
            return try await stream.read(into: buffer)
        } catch { throw Self.failure(error) }
    }

    private static func failure(_ error: IOError) -> ExchangeFailure {
        error == .timedOut
            ? .cutShort(.httpResponseTimeout, "the origin stopped in the middle of its response")
            : .cutShort(.connectionTerminated, "the connection to the origin broke in the middle of its response")
    }

    /// Drops the bytes of the head, so that the body follows.
    public func consumeHead() {
        inbound.consume(headLength)
        headLength = 0
    }

    /// The bytes of the head, until it is consumed.
    public func withHeadBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        let inbound = inbound
        return body(inbound.readable.extracting(first: headLength))
    }
}
