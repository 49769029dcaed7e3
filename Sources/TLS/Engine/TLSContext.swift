import COpenSSL

/// The common part of both sides' contexts.
///
/// Their callbacks serve every connection, on every thread: each finds its own through the `SSL` that it is called for.
/// Each leaves the error queue empty, or OpenSSL would take what a decision left there for a failure of the connection.
enum TLSContext {
    /// The key shares, the cheapest first.
    static let groups = "X25519:P-256:X448:P-384:P-521"

    /// Those of TLS 1.3. AES-128 first: it costs least, and its handshake hashes with SHA-256, which processors have
    /// instructions for; most servers take the first that they know.
    static let suites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"

    static func make(_ method: OpaquePointer?) throws(TLSError) -> LibraryObject {
        tls_clear_errors()
        guard let handle = SSL_CTX_new(method) else { throw OpenSSLErrors.take().failure }
        let context = LibraryObject(takingOwnership: handle, free: { SSL_CTX_free($0) })
        tls_set_modes(handle)
        tls_read_ahead(handle)
        // An end of the transport is told apart from the end of TLS by the connection. For OpenSSL it would be a fatal
        // error, which takes the session with it and forbids to answer what was asked before.
        SSL_CTX_set_options(handle, tls_option_ignore_end | tls_option_no_compression)
        return context
    }

    static func require(_ success: Bool) throws(TLSError) {
        if !success { throw OpenSSLErrors.take().failure }
    }

    /// The names in the form of RFC 7301 section 3.1; those that do not fit there are left out.
    static func wireForm(_ protocols: [String]) -> [UInt8] {
        protocols.filter { 1...255 ~= $0.utf8.count }.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    }

    static func offer(_ protocols: [String], on context: OpaquePointer) -> Bool {
        let names = wireForm(protocols)
        return names.isEmpty || SSL_CTX_set_alpn_protos(context, names, UInt32(clamping: names.count)) == 0
    }
}

/// The errors that OpenSSL left in this thread's queue.
struct OpenSSLErrors {
    /// The alert that the peer sent, if that is the reason.
    var alert: TLSAlert?
    /// The library's words for the latest error.
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
        // A reason above 1000 is an alert that was received.
        if let number = UInt8(exactly: Int(reason) - Int(SSL_AD_REASON_OFFSET)) { alert = TLSAlert(rawValue: number) }
        if [SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_WRONG_VERSION_NUMBER].contains(reason) {
            isOtherProtocol = true
        }
    }

    /// As a failure of our own.
    var failure: TLSError { .local(reason: reason) }
}

extension Identity {
    /// Makes a connection show this identity, its intermediates included. False with a reason in OpenSSL's queue.
    func install(on connection: OpaquePointer) -> Bool {
        guard let issuers = tls_new_certificates() else { return false }
        defer { tls_free_certificates(issuers) }
        for certificate in intermediates where !tls_append_certificate(issuers, certificate.handle) { return false }
        return tls_use_identity(connection, leaf.handle, key.handle, issuers)
    }
}
