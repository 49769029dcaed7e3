import Bytes
import COpenSSL

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
    var owed = 0

    /// The client's side.
    /// - Parameters:
    ///   - name: who is meant; a host is sent as server name (RFC 6066 section 3), an address never.
    ///   - sessions: where a session may be found and new ones are left.
    ///   - chooseIdentity: called whenever the server wants a certificate, with the issuers that it accepts (none: any).
    ///     Never before the server is trusted. Nil declines.
    public convenience init(
        client context: ClientTLSContext, to name: ServerName, over transport: any RecordTransport,
        sessions: (any SessionPlace)? = nil, chooseIdentity: (([DistinguishedName]) -> Identity?)? = nil
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
