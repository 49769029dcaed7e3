import Authentication
import Bytes
import HTTP
import IO
import TLS
import Transport

/// The upstream's side of an exchange: a connection, and the response head that came on it.
final class UpstreamConnection {
    /// What can go wrong between the request and its response's head.
    enum Failure: Error {
        /// The connection ended or broke before any byte of the response.
        case died
        case timedOut
        /// The response is none that may be passed on.
        case invalid(HTTPError)
        /// TLS came to a bad end: the origin said why, or broke its protocol.
        case insecure(TLSError)
    }

    let head: ResponseHead
    /// What came from the upstream: the head at its front until `consumeHead`, then body.
    let inbound: ByteBuffer
    private var connection: OriginConnection?
    /// What makes the connection one client's; nil for one that may serve anybody.
    private(set) var login: ConnectionLogin?
    /// The same at the parent that the connection was made to.
    private(set) var parentLogin: ConnectionLogin?
    /// Whether the connection has served before, another request or this one: it may have been closed under us.
    private(set) var isReused = false
    private(set) var headLength = 0
    /// Something came on the connection that was understood, but leaves open where a next response would begin.
    private var isCondemned = false
    /// A part of the body that was read before it was passed on, and how much of it was: the rest follows on the stream.
    private var kept: (body: ReplayCopy, offset: Int)?

    init(limits: Limits, on loop: EventLoop) {
        head = ResponseHead(limits: limits)
        inbound = loop.buffers.take()
    }

    var stream: ByteStream? { connection?.stream }
    /// Whether there is a connection, and it was made to that server.
    func leads(to peer: Origin) -> Bool { connection?.peer === peer }
    var security: ConnectionSecurity? { connection?.security }
    /// Why a gateway gave no response; nil where it is not the gateway's fault.
    var gatewayRefusal: Refusal? { connection?.gateway?.refusal }

    func attach(_ connection: OriginConnection, isReused: Bool) {
        self.connection = connection
        self.isReused = isReused
        login = nil
        parentLogin = nil
        kept = nil
        isCondemned = false
        headLength = 0
        inbound.clear()
        head.reset()
    }

    /// Takes over a connection of the client's own, with who is logged in on it.
    func attach(_ held: HeldConnections.Held) {
        attach(held.connection, isReused: true)
        login = held.login
        parentLogin = held.parentLogin
    }

    /// Gives the connection away as it is.
    func detach() -> OriginConnection? {
        defer { connection = nil }
        return connection
    }

    func reset() {
        stream?.close()
        connection = nil
        login = nil
        parentLogin = nil
        kept = nil
        isCondemned = false
        headLength = 0
        inbound.clear()
        head.reset()
    }

    /// From now on the connection is one client's. It stays so to its end.
    func claim(for login: ConnectionLogin) {
        if login.origin.isProxy { parentLogin = login } else { self.login = login }
    }

    /// Whether no login on the connection is under way.
    var needsNoLogin: Bool {
        login?.context?.isEstablished ?? true && parentLogin?.context?.isEstablished ?? true
    }

    func login(to origin: Origin) -> ConnectionLogin? { origin.isProxy ? parentLogin : login }

    /// Whether the connection counts as nobody's, or as just these users'; nil is the client itself.
    func serves(_ version: CredentialVersion?, atParent parentVersion: CredentialVersion?) -> Bool {
        (login.map { $0.version == version } ?? true) && (parentLogin.map { $0.version == parentVersion } ?? true)
    }

    /// Makes ready for the next head.
    func forgetHead() {
        if head.isIrregular { condemn() }
        consumeHead()
        head.reset()
    }

    /// From now on the connection serves nobody else.
    func condemn() { isCondemned = true }

    /// Gives the connection back for other requests, or for its client's, if its response left it usable; else closes it.
    func release(keptFor limit: Int) {
        guard let connection else { return }
        let (login, parentLogin) = (login, parentLogin)
        self.connection = nil
        self.login = nil
        self.parentLogin = nil
        guard head.keepAlive, !isCondemned, inbound.isEmpty, !holdsBody else { return connection.stream.close() }
        if let holder = login ?? parentLogin {
            let held = HeldConnections.Held(connection: connection, login: login, parentLogin: parentLogin)
            holder.rest(held, for: limit)
        } else {
            connection.peer.keep(connection, for: limit)
        }
    }

    /// Reads what has come. False: no whole, final head is there, for whatever reason; `receiveHead` finds out which.
    func receiveHeadAtOnce(answering method: Method) -> Bool {
        guard let stream, case .moved = stream.tryRead(into: inbound) else { return false }
        let inbound = inbound
        guard case .complete(let length)? = try? head.parse(inbound, answering: method) else { return false }
        headLength = length
        return !head.status.isInterim
    }

    /// Reads the next response head, which may be an interim one. One that is there already is the next.
    /// - Parameter limit: milliseconds until its first byte, and between its bytes.
    func receiveHead(answering method: Method, within limit: Int) async throws(Failure) {
        guard let stream else { throw .died }
        if headLength > 0 { return }
        let inbound = inbound
        stream.setDeadline(after: limit)
        while true {
            if !inbound.isEmpty {
                do throws(HTTPError) {
                    if case .complete(let length) = try head.parse(inbound, answering: method) {
                        headLength = length
                        return
                    }
                } catch { throw .invalid(error) }
                if inbound.writableCount == 0 { inbound.reserve(1) }
            }
            guard try await read(from: stream) > 0 else {
                throw inbound.isEmpty ? .died : .invalid(HTTPError(.upstream, .incomplete))
            }
        }
    }

    private func read(from stream: ByteStream) async throws(Failure) -> Int {
        do throws(IOError) {
            return try await stream.read(into: inbound)
        } catch {
            if error == .timedOut { throw .timedOut }
            if let failure = tlsFailure { throw .insecure(failure) }
            throw inbound.isEmpty ? .died : .invalid(HTTPError(.upstream, .incomplete))
        }
    }

    /// What TLS says of its failure; nil without one, and where no more than the connection broke.
    private var tlsFailure: TLSError? {
        switch stream?.tls?.failure {
        case nil, .truncated?, .transport?: nil
        case let failure?: failure
        }
    }

    /// Whether the origin was shown a certificate on this connection.
    var hasShownIdentity: Bool { stream?.tls?.identityAnswer == .shown }

    /// Whether a part of the body was read ahead and not yet passed on.
    var holdsBody: Bool { kept.map { $0.offset < $0.body.count } ?? false }

    /// From now on `readBody` gives this first: what was read behind the bytes that stand in `inbound`.
    func keep(_ body: ReplayCopy) { kept = (body, 0) }

    /// Reads more of the body.
    /// - Returns: the count; 0 is the end of the connection.
    func readBody(within limit: Int) async throws(ExchangeFailure) -> Int {
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
    func readBody(into buffer: ByteBuffer, within limit: Int) async throws(ExchangeFailure) -> Int {
        guard let stream else { return 0 }
        stream.setDeadline(after: limit)
        do throws(IOError) {
            return try await stream.read(into: buffer)
        } catch {
            throw error == .timedOut
                ? .cutShort(.httpResponseTimeout, "the origin stopped in the middle of its response")
                : .cutShort(.connectionTerminated, "the connection to the origin broke in the middle of its response")
        }
    }

    /// Drops the head's bytes: what follows is the body.
    func consumeHead() {
        inbound.consume(headLength)
        headLength = 0
    }

    /// The bytes behind the head that have come.
    var bodyCount: Int { inbound.count - headLength }

    /// The bytes of the head, for as long as it was not consumed.
    func withHeadBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        let inbound = inbound
        return body(inbound.readable.extracting(first: headLength))
    }

    /// Reads the rest of a response that nobody wants, if there is little of it, so that its connection can be used
    /// again; gives up at `limit` bytes.
    func discardBody(upTo limit: Int, limits: Limits, within milliseconds: Int) async {
        consumeHead()
        defer { head.reset() }
        guard let stream else { return }
        let inbound = inbound
        var progress = BodyProgress(head.framing, of: .upstream, limits: limits)
        var discarded = 0
        stream.setDeadline(after: milliseconds)
        while !progress.isEnded {
            guard let taken = try? progress.take(inbound.readable) else { return reset() }
            inbound.consume(taken)
            discarded += taken
            if progress.isEnded { break }
            if discarded > limit || head.framing == .untilClose { return reset() }
            if inbound.writableCount == 0 { inbound.reserve(1) }
            let isHeld = holdsBody
            guard
                let count = isHeld
                    ? try? await readBody(within: milliseconds) : try? await stream.read(into: inbound), count > 0
            else { return reset() }
        }
        // What else there is, an end or a response nobody asked for, makes it useless.
        let isAtEnd = inbound.isEmpty && !progress.isIrregular && !isCondemned
        if !isAtEnd || stream.hasInput() { return reset() }
        isReused = true
    }
}
