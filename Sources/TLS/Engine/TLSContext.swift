import COpenSSL
import Model

/// The common part of both sides' contexts.
///
/// The callbacks of a context serve every connection, on every thread: each finds its own through the `SSL` that it
/// gets. Each leaves the error queue empty. Otherwise OpenSSL would take a leftover error for a failure of the
/// connection.
enum TLSContext {
    /// The groups for key exchange, the cheapest first.
    private static let groups = "X25519:P-256:X448:P-384:P-521"

    /// The cipher suites of TLS 1.3. AES-128 is first: it costs least, and its handshake hashes with SHA-256, for which
    /// processors have instructions. Most servers take the first suite that they know.
    private static let suites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"

    /// - Parameter ciphers: those of TLS 1.2 and earlier, as OpenSSL writes them.
    static func make(
        _ method: OpaquePointer?, from minimum: TLSVersion, to maximum: TLSVersion, ciphers: String
    ) throws(TLSError) -> LibraryObject {
        tls_clear_errors()
        guard let handle = SSL_CTX_new(method) else { throw OpenSSLErrors.take().failure }
        let context = LibraryObject(takingOwnership: handle, free: { SSL_CTX_free($0) })
        tls_set_modes(handle)
        tls_read_ahead(handle)
        // The connection itself distinguishes the end of the transport from the end of TLS. For OpenSSL the former
        // would be a fatal error, which invalidates the session and forbids to send pending answers.
        SSL_CTX_set_options(handle, tls_option_ignore_end | tls_option_no_compression)
        try require(
            tls_set_versions(handle, minimum.rawValue, maximum.rawValue)
                && SSL_CTX_set_ciphersuites(handle, suites) == 1 && SSL_CTX_set_cipher_list(handle, ciphers) == 1
                && tls_set_groups(handle, groups))
        return context
    }

    static func require(_ success: Bool) throws(TLSError) {
        if !success { throw OpenSSLErrors.take().failure }
    }

    /// Offers protocols in the form of RFC 7301 section 3.1; names that do not fit are omitted.
    static func offer(_ protocols: [String], on context: OpaquePointer) -> Bool {
        let names = protocols.filter { 1...255 ~= $0.utf8.count }.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        return names.isEmpty || SSL_CTX_set_alpn_protos(context, names, UInt32(clamping: names.count)) == 0
    }
}

/// The errors that OpenSSL left in this thread's queue.
struct OpenSSLErrors {
    /// The alert that the peer sent, if that is the reason.
    var alert: TLSAlert?
    /// The library's text for the latest error.
    var reason = "no reason was given"
    /// Whether the peer does not speak TLS at all.
    private var isOtherProtocol = false

    /// Reads the queue and leaves it empty.
    static func take() -> OpenSSLErrors {
        var errors = OpenSSLErrors()
        while case let code = ERR_get_error(), code != 0 {
            if tls_library(code) == ERR_LIB_SSL { errors.note(tls_reason(code)) }
            if let text = ERR_reason_error_string(code) { errors.reason = String(cString: text) }
        }
        if errors.isOtherProtocol { errors.reason = "the peer does not speak TLS" }
        return errors
    }

    private mutating func note(_ reason: Int32) {
        // A reason above 1000 is a received alert.
        if let number = UInt8(exactly: Int(reason) - Int(SSL_AD_REASON_OFFSET)) { alert = TLSAlert(rawValue: number) }
        if [SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_WRONG_VERSION_NUMBER].contains(reason) {
            isOtherProtocol = true
        }
    }

    /// The reason as a local failure.
    var failure: TLSError { .local(reason: reason) }
}

extension Identity {
    /// Makes a connection show this identity with its intermediates. False on failure, with the reason in OpenSSL's
    /// queue.
    func install(on connection: OpaquePointer) -> Bool {
        guard let issuers = PathVerification.Stack(intermediates.map(\.handle)) else { return false }
        return tls_use_identity(connection, leaf.handle, key.handle, issuers.pointer)
    }
}
