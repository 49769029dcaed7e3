import Bytes
import COpenSSL
import Glibc
import Model

/// One side of a TLS connection over a transport. It does no I/O of its own, and never waits.
///
/// Belongs to the loop of its transport. Call `handshake` until it returns `done`, and answer its questions meanwhile.
/// Then `read` and `write` move the plain bytes. Call a method that returned `wouldBlock` again after an event on the
/// transport in *either* direction: a read may have to send, and a write may have to receive.
public final class TLSConnection: RecordTransport {
    enum State {
        /// Becomes `open` when the handshake is done.
        case handshaking
        case open
        /// Stays.
        case failed(TLSError)
    }

    let handle: OpaquePointer
    let port: RecordPort
    /// Exactly one of the two is set.
    let client: ClientRole?
    let server: ServerRole?
    /// Retained, since our context keeps OpenSSL's alive, and the callbacks of this connection use it.
    private let context: AnyObject
    var state = State.handshaking
    /// The number of plain bytes whose record was made but not sent completely. They do not count as written yet.
    public internal(set) var owed = 0

    /// Creates the client's side.
    /// - Parameters:
    ///   - name: the server to connect to. A host is sent as server name (RFC 6066 section 3), an address never.
    ///   - sessions: the store to take a session from and to keep new ones in.
    ///   - chooseIdentity: called whenever the server requests a certificate, with the issuers that it accepts (empty:
    ///     any). Never called before the server is trusted. Nil declines.
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

    /// Creates the server's side.
    /// - Parameters:
    ///   - earlier: bytes of the client that were already read from the transport to inspect them; emptied.
    ///   - identity: the certificate to show; nil: the handshake asks for it with the client's server name.
    ///   - offersHTTP2: whether the client may choose `h2` by ALPN, before the protocols of the context.
    public convenience init(
        server context: ServerTLSContext, over transport: any RecordTransport, after earlier: ByteBuffer? = nil,
        identity: Identity? = nil, offersHTTP2: Bool = false
    ) throws(TLSError) {
        let port = RecordPort(transport, client: nil, after: earlier)
        let role = ServerRole(context, identity: identity)
        role.offersHTTP2 = offersHTTP2
        try self.init(context.context, keeping: context, port: port, client: nil, server: role)
        SSL_set_accept_state(handle)
    }

    private init(
        _ shared: LibraryObject, keeping context: AnyObject, port: RecordPort, client: ClientRole?, server: ServerRole?
    ) throws(TLSError) {
        tls_clear_errors()
        guard let bio = RecordPort.BIO.make(for: port) else { throw OpenSSLErrors.take().failure }
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
        // Without these flags OpenSSL would take the session for broken, and invalidate the stored one too.
        SSL_set_shutdown(handle, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        SSL_free(handle)
        tls_clear_errors()
    }

    /// The connection whose method is running when OpenSSL calls back.
    static func owning(_ handle: OpaquePointer) -> TLSConnection {
        Unmanaged<TLSConnection>.fromOpaque(tls_owner(handle)).takeUnretainedValue()
    }

    /// The reason of a failure, once `read`, `write` or the handshake has failed.
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

    /// The reason why OpenSSL failed: a callback's reason, else the peer's, else the transport's.
    var reasonForFailing: TLSError {
        let errors = OpenSSLErrors.take()
        if let cause = client?.cause ?? server?.cause { return cause }
        if let alert = errors.alert {
            let isAboutIdentity = client?.identityAnswer == .declined && alert.mayMeanMissingIdentity
            return isAboutIdentity ? .identityWanted(alert) : .alert(alert)
        }
        return endOfTransport ?? .peer(reason: errors.reason)
    }

    /// Fails permanently, unless it has already failed; returns the reason.
    @discardableResult
    func fail(_ error: TLSError) -> TLSError {
        if case .failed(let earlier) = state { return earlier }
        state = .failed(error)
        return error
    }

    /// Advances the handshake as far as possible. After a question, answer it and call again.
    ///
    /// - Throws: the reason of a failed handshake. The peer got an alert, if that was possible.
    public func handshake() throws(TLSError) -> TLSConnection.Step {
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
        // Before TLS 1.3 the handshake stops where it would send an answer. A stapled response has arrived by then.
        case (SSL_ERROR_WANT_RETRY_VERIFY, .asked(let chain)), (SSL_ERROR_WANT_WRITE, .asked(let chain)),
            (SSL_ERROR_WANT_X509_LOOKUP, .asked(let chain)):
            return .serverTrust(chain.stapled(with: staple))
        case (SSL_ERROR_WANT_X509_LOOKUP, _): return .serverIdentity(serverName: serverName)
        case (SSL_ERROR_WANT_READ, _), (SSL_ERROR_WANT_WRITE, _): return .wouldBlock
        case (SSL_ERROR_ZERO_RETURN, _) where port.end == nil: throw fail(.alert(.closeNotify))
        default: throw fail(reasonForFailing)
        }
    }

    /// Answers `serverTrust` with yes. The decision applies as long as the server is the same, and to resumed sessions.
    public func trust(_ trust: ServerTrust) {
        if let client, client.isSilent { client.trust = .given(trust) }
    }

    /// Answers `serverTrust` with no. Call `handshake` again to finish it.
    public func refuseTrust() {
        if let client, client.isSilent { client.trust = .refused }
    }

    /// Answers `serverIdentity`.
    public func setIdentity(_ identity: Identity) { server?.choice = .given(identity) }

    /// Declines `serverIdentity`. Call `handshake` again to finish it.
    public func refuseIdentity() { server?.choice = .refused }

    /// Sends the alert about the server's certificate.
    ///
    /// OpenSSL itself sends the alert of TLS 1.3, since it waits for the decision. Before TLS 1.3 OpenSSL has passed the
    /// certificate, and its next message was held back. No cipher is in use yet for what the server receives.
    private func refuseServer() throws(TLSError) {
        if version == .v13 { return }
        let contents: [UInt8] = [2, TLSAlert.badCertificate.rawValue]
        port.sendPlainly([21, 3, 3, 0, UInt8(contents.count)] + contents)
        throw fail(.trustRefused)
    }

    private func finish() throws(TLSError) -> TLSConnection.Step {
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
        // A client writes its request at once and needs the buffers again.
        if server != nil { releaseBuffers() }
        return .done
    }

    /// Reads into the free room of `buffer`, which must have some, at most `limit` bytes.
    ///
    /// `endOfStream` is an orderly close by the peer. If only the transport ends, the result is `failed`, with
    /// `failure` `truncated`. Writing is still possible after both.
    public func read(into buffer: ByteBuffer, limit: Int = .max) -> RecordTransfer {
        var outcome = RecordTransfer.wouldBlock
        _ = buffer.withWritable { room in
            outcome = read(into: UnsafeMutableRawBufferPointer(rebasing: room.prefix(limit)))
            return if case .moved(let count) = outcome { count } else { 0 }
        }
        return outcome
    }

    /// Writes from the front of `buffer`, and consumes the written bytes. Refused bytes must be offered again before
    /// any others: their record may already be made.
    public func write(from buffer: ByteBuffer, limit: Int = .max) -> RecordTransfer {
        var outcome = RecordTransfer.wouldBlock
        let written = buffer.withReadable { held in
            outcome = write(UnsafeRawBufferPointer(rebasing: held.prefix(limit)))
            return if case .moved(let count) = outcome { count } else { 0 }
        }
        buffer.consume(written)
        return outcome
    }

    /// Sends the rest of the record whose bytes are `owed`. The caller may have dropped those bytes.
    /// - Returns: the number of plain bytes that now count as written.
    public func writeOwed() -> RecordTransfer {
        guard case .open = state else { return refusal }
        guard port.flush() else { return stoppedSending }
        defer { owed = 0 }
        return .moved(owed)
    }

    /// Whether a read may take more from the transport than the next record. That saves calls, but OpenSSL holds a
    /// buffer until all of it was consumed. If false, OpenSSL holds no buffer once a record was read completely.
    public var readsAhead: Bool {
        get { SSL_get_read_ahead(handle) != 0 }
        set { SSL_set_read_ahead(handle, newValue ? 1 : 0) }
    }

    /// Whether a read would not return `wouldBlock`.
    ///
    /// It processes received bytes first. If an idle connection received only messages of TLS itself, such as a new
    /// session ticket, it is not readable.
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

    /// Whether the peer has closed its side, orderly or not, and everything before was read. It processes received
    /// bytes first.
    public var isAtEnd: Bool { isReadable && !hasPending && (hasPeerEnded || failure != nil) }

    /// Whether decrypted bytes are ready to be read.
    public var hasPending: Bool { SSL_pending(handle) > 0 }

    /// Sends close_notify: no more bytes follow from this side. The peer may still send.
    public func shutdownWrite() {
        guard case .open = state, SSL_get_shutdown(handle) & SSL_SENT_SHUTDOWN == 0 else { return }
        tls_clear_errors()
        SSL_shutdown(handle)
        _ = port.flush()
    }

    /// Whether OpenSSL has work: the rest of the last read, or bytes that the transport may deliver.
    private var mayRead: Bool { SSL_has_pending(handle) == 1 || hasPeerEnded || port.mayBring }

    private var hasPeerEnded: Bool { SSL_get_shutdown(handle) & SSL_RECEIVED_SHUTDOWN != 0 }

    // MARK: - Memory

    /// Reads all that is there and fits, one record at a time.
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

    /// Frees OpenSSL's empty record buffers of 33 KiB. OpenSSL does so itself after plain bytes
    /// (`SSL_MODE_RELEASE_BUFFERS`), but not after messages about the connection: a handshake, a new session, new keys.
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

    /// The reason why OpenSSL moved no bytes.
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

    public func read(into room: inout MutableRawSpan) -> RecordTransfer {
        room.withUnsafeMutableBytes { read(into: $0) }
    }

    public func write(_ bytes: RawSpan) -> RecordTransfer {
        bytes.withUnsafeBytes { write($0) }
    }

    /// The state of a handshake after a call.
    public enum Step {
        /// The handshake waits for the transport.
        case wouldBlock
        /// The handshake waits for `trust` or `refuseTrust`. It sends nothing between the chain and the answer.
        case serverTrust(PresentedChain)
        /// The handshake waits for `setIdentity` or `refuseIdentity`. The name is the client's (RFC 6066 section 3),
        /// unchanged.
        case serverIdentity(serverName: String?)
        case done
    }

    public enum IdentityAnswer: Sendable {
        case notRequested
        case shown
        case declined
    }

    /// The answer to the server's latest request for a client certificate.
    public var identityAnswer: IdentityAnswer { client?.identityAnswer ?? .notRequested }

    /// The trust decision about the server: from this handshake or, if the session was resumed, from its first
    /// handshake.
    public var serverTrust: ServerTrust? {
        if case .given(let trust) = client?.trust { trust } else { nil }
    }

    /// The version; nil before both sides have agreed.
    public var version: TLSVersion? { TLSVersion(rawValue: SSL_version(handle)) }

    /// The cipher's name by the IANA: `TLS_AES_128_GCM_SHA256`.
    public var cipher: String? {
        SSL_get_current_cipher(handle).flatMap { SSL_CIPHER_standard_name($0) }.map { String(cString: $0) }
    }

    /// The server name that the client sent, unchanged.
    public var serverName: String? { tls_server_name(handle).map { String(cString: $0) } }

    /// Whether both sides have agreed on HTTP/2 by ALPN.
    public var speaksHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(handle, &name, &count)
        return UnsafeBufferPointer(start: name, count: Int(count)).span.equals("h2" as StaticString)
    }

    /// Whether the server may no longer ask for a certificate (RFC 9113 section 9.2, RFC 8740): its answer could not be told
    /// to a request.
    var forbidsLaterIdentity: Bool {
        guard case .open = state else { return false }
        return speaksHTTP2
    }

    public var isResumed: Bool { tls_was_resumed(handle) }

    /// A client's certificates; after a resumed session only the client's own.
    public var clientChain: PresentedChain? {
        guard server != nil, let leaf = SSL_get0_peer_certificate(handle) else { return nil }
        let others = PathVerification.Stack.objects(in: SSL_get_peer_cert_chain(handle))
        return PresentedChain(leaf: Certificate(borrowing: leaf), others: others.map { Certificate(borrowing: $0) })
    }

    /// The `tls-server-end-point` channel binding (RFC 5929 section 4.1), equal on both sides: a hash of the server's
    /// certificate. The hash is that of the certificate's signature, or SHA-256 if that is weaker. Nil if the signature
    /// uses no hash, for which the RFC defines no binding.
    public var serverEndPointBinding: [UInt8]? {
        guard let leaf = client == nil ? SSL_get_certificate(handle) : SSL_get0_peer_certificate(handle) else {
            return nil
        }
        var hash: Int32 = 0
        guard X509_get_signature_info(leaf, &hash, nil, nil, nil) == 1, hash != NID_undef else { return nil }
        let isWeak = hash == NID_md5 || hash == NID_sha1
        guard let algorithm = isWeak ? EVP_sha256() : EVP_get_digestbyname(OBJ_nid2sn(hash)) else { return nil }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard X509_digest(leaf, algorithm, &digest, &count) == 1 else { return nil }
        return Array(digest.prefix(Int(count)))
    }

    /// The OCSP response that the server stapled to its certificate.
    var staple: [UInt8]? {
        var start: UnsafePointer<UInt8>?
        let count = tls_staple(handle, &start)
        guard let start, count > 0 else { return nil }
        return Array(UnsafeBufferPointer(start: start, count: count))
    }
}
