import COpenSSL
import Model
import Synchronization

/// The common part of all client connections with equal settings. Created once and never changed.
public final class ClientTLSContext: Sendable {
    public let settings: Settings
    let context: LibraryObject

    private static let known = Mutex<[Settings: ClientTLSContext]>([:])

    /// The context for these settings; one object for as long as the process runs.
    public static func shared(for settings: Settings) throws(TLSError) -> ClientTLSContext {
        if let context = known.withLock({ $0[settings] }) { return context }
        let made = try ClientTLSContext(settings)
        return known.withLock { contexts in
            if let earlier = contexts[settings] { return earlier }
            contexts[settings] = made
            return made
        }
    }

    init(_ settings: Settings) throws(TLSError) {
        self.settings = settings
        context = try TLSContext.make(
            TLS_client_method(), from: settings.minimum, to: settings.maximum, ciphers: settings.cipherList)
        let handle = context.pointer
        if settings.isLegacy { SSL_CTX_set_options(handle, tls_option_legacy_server) }
        try TLSContext.require(TLSContext.offer(settings.applicationProtocols, on: handle))
        tls_request_staple(handle)
        tls_keep_no_sessions_as_client(handle)
        SSL_CTX_sess_set_new_cb(handle) { connection, session in
            guard let connection, let session, let client = TLSConnection.owning(connection).client else { return 0 }
            defer { tls_clear_errors() }
            return client.keep(session, of: connection) ? 1 : 0
        }
        SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(
            handle,
            { evaluation, _ in
                guard let evaluation, let connection = tls_connection_of(evaluation),
                    let client = TLSConnection.owning(connection).client
                else { return 0 }
                defer { tls_clear_errors() }
                return client.serverPresented(evaluation, on: connection)
            }, nil)
        SSL_CTX_set_cert_cb(
            handle,
            { connection, _ in
                guard let connection, let client = TLSConnection.owning(connection).client else { return 0 }
                defer { tls_clear_errors() }
                return client.identityWanted(on: connection)
            }, nil)
        SSL_CTX_set_post_handshake_auth(handle, 1)
    }

    /// The versions and protocols that connections to servers may use. Connections with equal settings share a context.
    public struct Settings: Sendable, Hashable {
        public var minimum: TLSVersion
        public var maximum: TLSVersion
        /// The protocols offered by ALPN (RFC 7301), the preferred first; empty offers nothing.
        public var applicationProtocols: [String]

        public init(
            minimum: TLSVersion = .v12, maximum: TLSVersion = .v13, applicationProtocols: [String] = ["http/1.1"]
        ) {
            self.minimum = minimum
            self.maximum = max(minimum, maximum)
            self.applicationProtocols = applicationProtocols
        }

        /// Whether a version before 1.2 is allowed. A server of that age also needs old ciphers, short keys, SHA-1 in
        /// handshakes, and no secure renegotiation (RFC 5746).
        var isLegacy: Bool { minimum < .v12 }

        var cipherList: String { isLegacy ? "ALL:!aNULL:!eNULL:@SECLEVEL=0" : "DEFAULT:!PSK:!SRP:@SECLEVEL=2" }
    }
}
