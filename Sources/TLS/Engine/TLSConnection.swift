import Bytes
import COpenSSL
import Glibc
import Model

/// One side of one TLS connection over a transport. Does no I/O of its own, and never waits.
///
/// Belongs to the loop of its transport. `handshake` is called until it says `done`, and its questions are answered in
/// between; then `read` and `write` move the plain bytes. Whatever says `wouldBlock` is called again after an event on
/// the transport in *either* direction, since a read may have to send and a write may have to receive.
public final class TLSConnection {
    enum State {
        /// Becomes `open` when the handshake is done.
        case handshaking
        case open
        /// Stays so.
        case failed(TLSError)
    }

    let handle: OpaquePointer
    let port: RecordPort
    /// Exactly one of the two is there.
    let client: ClientRole?
    let server: ServerRole?
    /// Our context keeps OpenSSL's alive, and the callbacks of this connection use it.
    private let context: AnyObject
    var state = State.handshaking
    /// Plain bytes whose record was made, but has not left entirely: they are not reported as written before.
    public internal(set) var owed = 0

    /// The client's side.
    /// - Parameters:
    ///   - name: the server that is meant; a host is sent as server name (RFC 6066 section 3), an address never.
    ///   - sessions: where a session may be found and new ones are left.
    ///   - chooseIdentity: called whenever the server wants a certificate, with the issuers that it accepts (none: any).
    ///     Never before the server is trusted. Nil declines.
    public convenience init(
        client context: ClientTLSContext, to name: ServerName, over transport: any RecordTransport,
        sessions: (any SessionSlot)? = nil, chooseIdentity: (([DistinguishedName]) -> Identity?)? = nil
    ) throws(TLSError) {
        let role = ClientRole(sessions: sessions, chooseIdentity: chooseIdentity)
        let port = RecordPort(transport, client: role, after: nil)
        try self.init(context.context, keeping: context, port: port, client: role, server: nil)
        if case .host(let host) = name { try TLSContext.require(tls_set_server_name(handle, host)) }
        if let session = role.resumed { SSL_set_session(handle, session.session.pointer) }
        SSL_set_connect_state(handle)
    }

    /// The server's side.
    /// - Parameters:
    ///   - earlier: bytes of the client that were read from the transport to look at them; emptied.
    ///   - identity: if there is none yet, the handshake asks for it with the client's server name.
    public convenience init(
        server context: ServerTLSContext, over transport: any RecordTransport, after earlier: ByteBuffer? = nil,
        identity: Identity? = nil
    ) throws(TLSError) {
        let port = RecordPort(transport, client: nil, after: earlier)
        let role = ServerRole(context, identity: identity)
        try self.init(context.context, keeping: context, port: port, client: nil, server: role)
        SSL_set_accept_state(handle)
    }

    private init(
        _ shared: LibraryObject, keeping context: AnyObject, port: RecordPort, client: ClientRole?, server: ServerRole?
    ) throws(TLSError) {
        tls_clear_errors()
        guard let bio = TransportBIO.make(for: port) else { throw OpenSSLErrors.take().failure }
        guard let made = SSL_new(shared.pointer) else {
            BIO_free(bio)
            throw OpenSSLErrors.take().failure
        }
        SSL_set_bio(made, bio, bio)
        handle = made
        self.port = port
        self.client = client
        self.server = server
        self.context = context
        tls_set_owner(handle, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        // Without a farewell OpenSSL would take the session for broken, also the one that is kept.
        SSL_set_shutdown(handle, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        SSL_free(handle)
        tls_clear_errors()
    }

    /// The connection in whose method OpenSSL calls back.
    static func owning(_ handle: OpaquePointer) -> TLSConnection {
        Unmanaged<TLSConnection>.fromOpaque(tls_owner(handle)).takeUnretainedValue()
    }

    /// Why the connection failed, once `read`, `write` or the handshake has said that it did.
    public var failure: TLSError? {
        if case .failed(let error) = state { return error }
        return endOfTransport ?? port.sendError.map { .transport(errno: $0) }
    }

    private var endOfTransport: TLSError? {
        switch port.end {
        case .failed(let errno): .transport(errno: errno)
        case .orderly: .truncated
        case nil: nil
        }
    }

    /// Why OpenSSL gave up: what a callback said, else what the peer said, else what became of the transport.
    var reasonForFailing: TLSError {
        let errors = OpenSSLErrors.take()
        if let cause = client?.cause ?? server?.cause { return cause }
        if let alert = errors.alert {
            let isAboutIdentity = client?.identityAnswer == .declined && alert.mayMeanMissingIdentity
            return isAboutIdentity ? .identityWanted(alert) : .alert(alert)
        }
        return endOfTransport ?? .peer(reason: errors.reason)
    }

    /// Fails for good, unless it has already failed; returns why.
    @discardableResult
    func fail(_ error: TLSError) -> TLSError {
        if case .failed(let earlier) = state { return earlier }
        state = .failed(error)
        return error
    }
}

extension TLSConnection {
    /// Goes on with the handshake as far as it goes. After a question it goes on once the question is answered.
    ///
    /// - Throws: why there will be no connection. The peer was told by an alert, where that was possible.
    public func handshake() throws(TLSError) -> HandshakeStep {
        switch state {
        case .open: return .done
        case .failed(let error): throw error
        case .handshaking: break
        }
        _ = port.flush()
        if case .refused = client?.trust { try refuseServer() }
        tls_clear_errors()
        let result = SSL_do_handshake(handle)
        if result == 1 { return try finish() }
        switch (SSL_get_error(handle, result), client?.trust) {
        // Before TLS 1.3 it stops where it would answer the server, by when a stapled response has come too.
        case (SSL_ERROR_WANT_RETRY_VERIFY, .asked(let chain)), (SSL_ERROR_WANT_WRITE, .asked(let chain)),
            (SSL_ERROR_WANT_X509_LOOKUP, .asked(let chain)):
            return .serverTrust(chain.stapled(with: staple))
        case (SSL_ERROR_WANT_X509_LOOKUP, _): return .serverIdentity(serverName: serverName)
        case (SSL_ERROR_WANT_READ, _), (SSL_ERROR_WANT_WRITE, _): return .wouldBlock
        case (SSL_ERROR_ZERO_RETURN, _) where port.end == nil: throw fail(.alert(.closeNotify))
        default: throw fail(reasonForFailing)
        }
    }

    /// The answer to `serverTrust` is yes. Holds for as long as the server stays the same, and for what is resumed.
    public func trust(_ trust: ServerTrust) {
        if let client, client.isSilent { client.trust = .given(trust) }
    }

    /// The answer to `serverTrust` is no: the handshake goes on to its end.
    public func refuseTrust() {
        if let client, client.isSilent { client.trust = .refused }
    }

    /// The answer to `serverIdentity`.
    public func setIdentity(_ identity: Identity) { server?.choice = .given(identity) }

    /// There is no answer to `serverIdentity`: the handshake goes on to its end.
    public func refuseIdentity() { server?.choice = .refused }

    /// Tells the server what we think of its certificate.
    ///
    /// Since TLS 1.3 OpenSSL does, since it waits for the answer. Before, it has gone past the certificate, and made an
    /// answer that was held back; no cipher protects yet what the server hears from us.
    private func refuseServer() throws(TLSError) {
        if version == .v13 { return }
        let contents: [UInt8] = [2, TLSAlert.badCertificate.rawValue]
        port.sendPlainly([21, 3, 3, 0, UInt8(contents.count)] + contents)
        throw fail(.trustRefused)
    }

    private func finish() throws(TLSError) -> HandshakeStep {
        if let client {
            switch client.trust {
            case .given: break
            case .open:
                guard isResumed, let session = client.resumed else { fallthrough }
                client.trust = .given(session.trust)
            case .asked, .refused: throw fail(.local(reason: "the server's certificate was not judged"))
            }
        }
        state = .open
        // A client writes its request at once, and needs them again.
        if server != nil { releaseBuffers() }
        return .done
    }
}

extension TLSConnection {
    /// Reads into the free room of `buffer`, which must have some, at most `limit` bytes.
    ///
    /// `endOfStream` is the peer's orderly end. An end of the transport alone is `failed`, with `failure` `truncated`;
    /// what the peer still wants to hear may be written after both.
    public func read(into buffer: ByteBuffer, limit: Int = .max) -> RecordTransfer {
        var outcome = RecordTransfer.wouldBlock
        _ = buffer.withWritable { room in
            outcome = read(into: UnsafeMutableRawBufferPointer(rebasing: room.prefix(limit)))
            return if case .moved(let count) = outcome { count } else { 0 }
        }
        return outcome
    }

    /// Writes from the front of `buffer`, and consumes the written bytes. Refused ones must be offered again before
    /// anything else: its record may be made already.
    public func write(from buffer: ByteBuffer, limit: Int = .max) -> RecordTransfer {
        var outcome = RecordTransfer.wouldBlock
        let written = buffer.withReadable { held in
            outcome = write(UnsafeRawBufferPointer(rebasing: held.prefix(limit)))
            return if case .moved(let count) = outcome { count } else { 0 }
        }
        buffer.consume(written)
        return outcome
    }

    /// Sends what is left of the record whose bytes are `owed`. The caller may have dropped those bytes.
    /// - Returns: how many plain bytes count as written now.
    public func writeOwed() -> RecordTransfer {
        guard case .open = state else { return refusal }
        guard port.flush() else { return stoppedSending }
        defer { owed = 0 }
        return .moved(owed)
    }

    /// Whether more is read from the transport than the record that is wanted: fewer calls, and a buffer of OpenSSL's that is
    /// held until all of it was taken. Without it, OpenSSL holds no buffer once a record was read to its end.
    public var readsAhead: Bool {
        get { SSL_get_read_ahead(handle) != 0 }
        set { SSL_set_read_ahead(handle, newValue ? 1 : 0) }
    }

    /// Whether a read would not say `wouldBlock`.
    ///
    /// Takes in what has come: a connection at rest on which nothing came but what TLS itself has to say, such as a new
    /// session ticket, stays not readable.
    public var isReadable: Bool {
        guard case .open = state else { return failure != nil }
        if hasPending || hasPeerEnded { return true }
        _ = port.flush()
        guard mayRead else { return false }
        var byte: UInt8 = 0
        var count = 0
        tls_clear_errors()
        if SSL_peek_ex(handle, &byte, 1, &count) == 1 { return true }
        let outcome = stopped()
        releaseBuffers()
        return outcome != .wouldBlock
    }

    /// Whether the peer has ended its side, in order or not, and all that it sent before was read. Takes in what has come.
    public var isAtEnd: Bool { isReadable && !hasPending && (hasPeerEnded || failure != nil) }

    /// Whether decrypted bytes wait.
    public var hasPending: Bool { SSL_pending(handle) > 0 }

    /// Says to the peer that nothing more will come from here (close_notify). It may still say what it has to say.
    public func shutdownWrite() {
        guard case .open = state, SSL_get_shutdown(handle) & SSL_SENT_SHUTDOWN == 0 else { return }
        tls_clear_errors()
        SSL_shutdown(handle)
        _ = port.flush()
    }

    /// Whether OpenSSL has anything to work on: the rest of the last reading, or bytes that the transport may bring.
    private var mayRead: Bool { SSL_has_pending(handle) == 1 || hasPeerEnded || port.mayBring }

    private var hasPeerEnded: Bool { SSL_get_shutdown(handle) & SSL_RECEIVED_SHUTDOWN != 0 }

    // MARK: - Memory

    /// All that is there and fits: a record at a time, for as long as the next one is there too.
    func read(into room: UnsafeMutableRawBufferPointer) -> RecordTransfer {
        guard case .open = state else { return refusal }
        _ = port.flush()
        guard mayRead, !room.isEmpty else { return .wouldBlock }
        var total = 0
        while let start = room.baseAddress, total < room.count {
            var count = 0
            tls_clear_errors()
            guard SSL_read_ex(handle, start + total, room.count - total, &count) == 1 else {
                let reason = stopped()
                releaseBuffers()
                return total > 0 ? .moved(total) : reason
            }
            total += count
            if SSL_has_pending(handle) == 0 { break }
        }
        releaseBuffers()
        return .moved(total)
    }

    /// Gives back OpenSSL's empty buffers for records, 33 KiB. It does so itself after plain bytes (`SSL_MODE_RELEASE_BUFFERS`),
    /// but not after what the two sides say to each other about the connection: a handshake, a new session, new keys.
    private func releaseBuffers() {
        if SSL_has_pending(handle) == 0 { _ = SSL_free_buffers(handle) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> RecordTransfer {
        guard case .open = state else { return refusal }
        if SSL_get_shutdown(handle) & SSL_SENT_SHUTDOWN != 0 { return .failed(errno: EPIPE) }
        guard port.flush() else { return stoppedSending }
        var total = min(owed, bytes.count)
        owed -= total
        while let start = bytes.baseAddress, total < bytes.count {
            var count = 0
            tls_clear_errors()
            guard SSL_write_ex(handle, start + total, bytes.count - total, &count) == 1 else {
                let reason = stopped()
                return total > 0 ? .moved(total) : reason
            }
            guard !port.isBlocked, port.sendError == nil else {
                owed = count
                return total > 0 ? .moved(total) : stoppedSending
            }
            total += count
        }
        return .moved(total)
    }

    /// Why OpenSSL moved nothing.
    private func stopped() -> RecordTransfer {
        switch SSL_get_error(handle, 0) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
        case SSL_ERROR_ZERO_RETURN: return port.end == nil ? .endOfStream : refusal
        default:
            fail(reasonForFailing)
            return refusal
        }
    }

    private var stoppedSending: RecordTransfer {
        port.sendError.map { .failed(errno: $0) } ?? .wouldBlock
    }

    private var refusal: RecordTransfer {
        switch failure {
        case nil: .wouldBlock
        case .truncated: .failed(errno: ECONNRESET)
        case .transport(let errno): .failed(errno: errno)
        default: .failed(errno: EPROTO)
        }
    }
}

extension TLSConnection: RecordTransport {
    public func read(into room: inout MutableRawSpan) -> RecordTransfer {
        room.withUnsafeMutableBytes { read(into: $0) }
    }

    public func write(_ bytes: RawSpan) -> RecordTransfer {
        bytes.withUnsafeBytes { write($0) }
    }
}

/// Where a handshake stands.
public enum HandshakeStep {
    /// It waits for the transport.
    case wouldBlock
    /// It waits for `trust` or `refuseTrust`. Nothing was sent since the chain came, and nothing is until then.
    case serverTrust(PresentedChain)
    /// It waits for `setIdentity` or `refuseIdentity`; the name is the client's (RFC 6066 section 3), as it came.
    case serverIdentity(serverName: String?)
    case done
}
