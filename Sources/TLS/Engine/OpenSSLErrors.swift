import COpenSSL

/// What OpenSSL left in this thread's error queue.
struct OpenSSLErrors {
    /// The alert that the peer sent, if that is the reason.
    var alert: TLSAlert?
    /// The library's words for the latest error.
    var reason = "no reason was given"
    /// Whether what came is not TLS at all.
    private var isOtherProtocol = false

    /// Reads the queue and leaves it empty.
    static func take() -> OpenSSLErrors {
        var errors = OpenSSLErrors()
        while case let code = ERR_get_error(), code != 0 {
            if tls_library(code) == ERR_LIB_SSL { errors.note(tls_reason(code)) }
            if let text = ERR_reason_error_string(code) { errors.reason = String(cString: text) }
        }
        if errors.isOtherProtocol { errors.reason = "what came is not TLS" }
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
