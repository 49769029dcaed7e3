import Authentication
import Bytes
import HTTP
import IO
import TLS
import Transport

/// The upstream's side of an exchange: a connection, and the response head that came on it.
public final class UpstreamConnection {
    /// The failures between the request and its response's head.
    public enum Failure: Error {
        /// The connection ended or broke before any byte of the response.
        case died
        case timedOut
        /// The response is none that may be passed on.
        case invalid(HTTPError)
        /// TLS came to a bad end: the origin said why, or broke its protocol.
        case insecure(TLSError)
    }

    public let head: ResponseHead
    /// Bytes that came from the upstream: the head at its front until `consumeHead`, then body.
    public let inbound: ByteBuffer
    private var connection: OriginConnection?
    /// Whether the connection has served before, another request or this one: it may have been closed under us.
    public var isReused = false
    public private(set) var headLength = 0
    /// Something came on the connection that was understood, but leaves open where a next response would begin.
    public private(set) var isCondemned = false
    /// A part of the body that was read before it was passed on, and how much of it was: the rest follows on the stream.
    private var kept: (body: ReplayCopy, offset: Int)?

    public init(limits: Limits, on loop: EventLoop) {
        head = ResponseHead(limits: limits)
        inbound = loop.buffers.take()
    }

    /// The bytes that are read with a head: what the client gets of them, whose head is longer, fits in a buffer.
    private static let firstPiece = BufferPool.regular - 1024

    public var isConnected: Bool { connection != nil }
    public var stream: ByteStream? { connection?.stream }
    /// Whether there is a connection, and it was made to that server.
    public func leads(to peer: UpstreamServer) -> Bool { connection?.peer === peer }
    public var security: ConnectionSecurity? { connection?.security }
    /// The TLS of the server that requests are made of, an origin or a parent.
    public var peerSecurity: ConnectionSecurity? {
        guard let connection else { return nil }
        return connection.peer.isProxy ? connection.parentSecurity : connection.security
    }
    var peer: UpstreamServer? { connection?.peer }
    /// Whether a parent is spoken to by TLS; of no meaning without a connection.
    public private(set) var hasSecureParent = false
    /// Why a gateway gave no response; nil where it is not the gateway's fault.
    public var gatewayRefusal: Refusal? { connection?.gateway?.refusal }

    public func attach(_ connection: consuming OriginConnection, isReused: Bool) {
        hasSecureParent = connection.parentSecurity != nil
        self.connection = consume connection
        self.isReused = isReused
        kept.forget()
        isCondemned = false
        headLength = 0
        inbound.clear()
        head.reset()
    }

    /// Gives the connection away as it is.
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

    /// The login that makes the connection one client's; nil for one that may serve anybody.
    public var login: ConnectionLogin? { connection?.login }
    /// The same at the parent that the connection was made to.
    public var parentLogin: ConnectionLogin? { connection?.parentLogin }
    /// Whether the connection counts as somebody's.
    public var isLoggedIn: Bool { connection?.isLoggedIn ?? false }

    /// From now on the connection is one client's. It stays so to its end.
    public func claim(for login: ConnectionLogin) { connection?.claim(for: login) }

    public func login(to origin: UpstreamServer) -> ConnectionLogin? { origin.isProxy ? parentLogin : login }

    /// Whether the connection counts as nobody's, or as just these users'; nil is the client itself.
    public func serves(_ version: CredentialVersion?, atParent parentVersion: CredentialVersion?) -> Bool {
        (login.map { $0.version == version } ?? true) && (parentLogin.map { $0.version == parentVersion } ?? true)
    }

    /// Makes ready for the next head.
    public func forgetHead() {
        if head.isIrregular { condemn() }
        consumeHead()
        head.reset()
    }

    /// From now on the connection serves nobody else.
    public func condemn() { isCondemned = true }

    /// Gives the connection back for other requests, if its response left it usable; else closes it.
    /// - Returns: a connection that is logged in, which the requester is to keep.
    public func release(keptFor limit: Int) -> OriginConnection? {
        guard let connection = connection.take() else { return nil }
        guard head.keepAlive, !isCondemned, inbound.isEmpty, !holdsBody else {
            connection.stream.close()
            return nil
        }
        if connection.isLoggedIn { return connection }
        connection.rest(for: limit)
        return nil
    }

    /// Reads what has come of the next response head, which may be an interim one. One that is there already is the next.
    /// - Returns: whether it is whole. If not, an event of the stream brings more, or the end of its deadline.
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

    /// Reads the next response head in a task.
    /// - Parameter limit: milliseconds.
    public func receiveHead(answering method: Method, within limit: Int) async throws(Failure) {
        stream?.setDeadline(after: limit)
        while try !advanceHead(answering: method) { await stream?.socket.waitForEvent() }
    }

    /// The meaning of an end of the connection that was no end in order.
    private var breach: Failure {
        if let failure = tlsFailure { return .insecure(failure) }
        return inbound.isEmpty ? .died : .invalid(HTTPError(.upstream, .incomplete))
    }

    /// The failure of TLS; nil without one, and where no more than the connection broke.
    private var tlsFailure: TLSError? {
        switch stream?.tls?.failure {
        case nil, .truncated?, .transport?: nil
        case let failure?: failure
        }
    }

    /// Whether the origin was shown a certificate on this connection.
    public var hasShownIdentity: Bool { stream?.tls?.identityAnswer == .shown }

    /// Whether a part of the body was read ahead and not yet passed on.
    public var holdsBody: Bool { kept.map { $0.offset < $0.body.count } ?? false }

    /// From now on `readBody` gives this first: what was read behind the bytes that stand in `inbound`.
    public func keep(_ body: ReplayCopy) { kept = (body, 0) }

    /// How far one step of the body came.
    public enum BodyStep {
        case moved
        /// The connection has ended.
        case ended
        /// There is nothing to do until an event of the connection.
        case awaitsUpstream
        /// A part that was read ahead has to be read back from its file first: `readBody`.
        case awaitsCopy
    }

    /// Reads what has come of the body.
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
        case .failed(let errno): throw Self.failure(stream.failure(errno, "cannot read"))
        }
    }

    /// Reads more of the body in a task.
    /// - Returns: the count; 0 is the end of the connection.
    public func readBody(within limit: Int) async throws(ExchangeFailure) -> Int {
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
    /// - Returns: the count; 0 is the end of the connection.
    public func readBody(into buffer: ByteBuffer, within limit: Int) async throws(ExchangeFailure) -> Int {
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

    /// Drops the head's bytes: what follows is the body.
    public func consumeHead() {
        inbound.consume(headLength)
        headLength = 0
    }

    /// The bytes of the head, for as long as it was not consumed.
    public func withHeadBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        let inbound = inbound
        return body(inbound.readable.extracting(first: headLength))
    }
}
