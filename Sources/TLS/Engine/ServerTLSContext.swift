import Bytes
import COpenSSL
import Crypto
import Glibc
import Model
import Synchronization

/// The common part of all client connections to one listener, or of all intercepted ones. It includes the keys of their
/// tickets, so that a client can resume its session. Only the keys change.
public final class ServerTLSContext: Sendable {
    public let settings: Settings
    let context: LibraryObject
    let tickets: Mutex<TicketKeys>
    /// The clock.
    let now: @Sendable () -> WallTime

    /// The time for which a client can resume a session.
    private static let lifetime: Milliseconds = .seconds(3600)
    private static let ciphers =
        "ECDHE+AESGCM+AES128:ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:ECDHE+AES:RSA+AESGCM:RSA+AES:!PSK:!SRP:@SECLEVEL=2"

    public convenience init(_ settings: Settings = Settings()) throws(TLSError) {
        try self.init(settings, now: { WallTime(seconds: time(nil)) })
    }

    init(_ settings: Settings, now: @escaping @Sendable () -> WallTime) throws(TLSError) {
        self.settings = settings
        self.now = now
        do { tickets = Mutex(try TicketKeys(lifetime: Self.lifetime, at: now())) } catch {
            throw .local(reason: "\(error)")
        }
        context = try TLSContext.make(
            TLS_server_method(), from: max(settings.minimum, .v12), to: .v13, ciphers: Self.ciphers)
        let handle = context.pointer
        SSL_CTX_set_options(
            handle, tls_option_no_renegotiation | tls_option_server_preference | tls_option_prioritize_chacha)
        try bindSessions()
        SSL_CTX_set_cert_cb(
            handle,
            { connection, _ in
                guard let connection, let server = TLSConnection.owning(connection).server else { return 0 }
                defer { tls_clear_errors() }
                return server.identityWanted(on: connection)
            }, nil)
        if !settings.applicationProtocols.isEmpty { answerProtocols() }
        if case .requested(let issuers, _) = settings.clientCertificates { requestCertificates(of: issuers) }
    }

    /// Binds tickets to this context: a ticket is valid only where the same client certificates are requested.
    private func bindSessions() throws(TLSError) {
        let handle = context.pointer
        tls_keep_no_sessions_as_server(handle)
        SSL_CTX_set_timeout(handle, Self.lifetime.seconds)
        let identifier: [UInt8]
        do { identifier = try RandomBytes.make(16) } catch { throw .local(reason: "\(error)") }
        try TLSContext.require(
            SSL_CTX_set_session_id_context(handle, identifier, UInt32(identifier.count)) == 1
                && SSL_CTX_set_num_tickets(handle, 1) == 1)
        try keyTickets()
    }

    private func answerProtocols() {
        SSL_CTX_set_alpn_select_cb(
            context.pointer,
            { connection, chosen, length, offered, count, _ in
                guard let connection, let chosen, let length, let offered,
                    let server = TLSConnection.owning(connection).server
                else { return SSL_TLSEXT_ERR_NOACK }
                let list = UnsafeBufferPointer(start: offered, count: Int(count))
                let permitsHTTP2 = server.offersHTTP2 && tls_permits_http2(connection)
                guard let range = server.chooseProtocol(from: list.span, permitsHTTP2: permitsHTTP2) else {
                    return SSL_TLSEXT_ERR_ALERT_FATAL
                }
                chosen.pointee = offered + range.lowerBound
                length.pointee = UInt8(range.count)
                return SSL_TLSEXT_ERR_OK
            }, nil)
    }

    private func requestCertificates(of issuers: [DistinguishedName]) {
        let handle = context.pointer
        if let names = tls_new_names() {
            for issuer in issuers {
                // A copy, since the list takes ownership of its names.
                guard let name = X509_NAME_dup(issuer.handle) else { continue }
                if !tls_append_name(names, name) { X509_NAME_free(name) }
            }
            SSL_CTX_set0_CA_list(handle, names)
        }
        SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(
            handle,
            { evaluation, _ in
                guard let evaluation, let connection = tls_connection_of(evaluation),
                    let server = TLSConnection.owning(connection).server
                else { return 0 }
                defer { tls_clear_errors() }
                return server.clientPresented(evaluation)
            }, nil)
    }

    /// Makes OpenSSL ask for the key of each ticket. OpenSSL never rotates its own key.
    func keyTickets() throws(TLSError) {
        let callback: TicketCallback = { connection, name, vector, cipher, mac, sealing in
            guard let connection, let name, let vector, let cipher, let mac,
                let server = TLSConnection.owning(connection).server
            else { return -1 }
            defer { tls_clear_errors() }
            let isSealing = sealing == 1
            let answer =
                isSealing
                ? server.context.seal(name, vector, cipher, mac)
                : server.context.open(name, vector, cipher, mac)
            // A ticket of TLS 1.3 is used once (RFC 8446 appendix C.4).
            return answer == 1 && !isSealing && SSL_version(connection) == TLSVersion.v13.rawValue ? 2 : answer
        }
        try TLSContext.require(SSL_CTX_set_tlsext_ticket_key_evp_cb(context.pointer, callback) == 1)
    }

    private typealias TicketCallback =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, OpaquePointer?, OpaquePointer?,
            Int32
        ) -> Int32

    /// Returns 1, or -1 if the connection must fail.
    private func seal(
        _ name: UnsafeMutablePointer<UInt8>, _ vector: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
        _ mac: OpaquePointer
    ) -> Int32 {
        guard let key = try? tickets.withLock({ try $0.key(at: now()) }),
            RAND_bytes(vector, tls_ticket_vector_length) == 1
        else { return -1 }
        name.update(from: key.name, count: TicketKeys.Key.nameLength)
        return key.apply(to: cipher, mac, vector, sealing: true) ? 1 : -1
    }

    /// Returns 1; 2 if a new ticket should follow; 0 for a ticket that cannot be opened, so that a full handshake
    /// follows.
    private func open(
        _ name: UnsafeMutablePointer<UInt8>, _ vector: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
        _ mac: OpaquePointer
    ) -> Int32 {
        let name = UnsafeBufferPointer(start: name, count: TicketKeys.Key.nameLength)
        guard let found = try? tickets.withLock({ try $0.key(named: name.span, at: now()) }) else { return 0 }
        guard found.key.apply(to: cipher, mac, vector, sealing: false) else { return -1 }
        return found.isOld ? 2 : 1
    }

    /// The versions and protocols that a client's connection may use.
    public struct Settings: Sendable {
        public enum ClientCertificates: Sendable {
            case notRequested
            /// A client may show a certificate. The issuers are a hint for it. `isTrusted` judges the certificate, in
            /// the handshake and on the loop; false fails the handshake.
            case requested(issuers: [DistinguishedName], isTrusted: @Sendable (PresentedChain) -> Bool)
        }

        public var minimum: TLSVersion
        /// The protocols accepted by ALPN, the preferred first. A client that offers only others is refused (RFC 7301
        /// section 3.2).
        public var applicationProtocols: [String]
        public var clientCertificates: ClientCertificates

        public init(
            minimum: TLSVersion = .v12, applicationProtocols: [String] = ["http/1.1"],
            clientCertificates: ClientCertificates = .notRequested
        ) {
            self.minimum = minimum
            self.applicationProtocols = applicationProtocols
            self.clientCertificates = clientCertificates
        }
    }
}
