import Bytes

/// The Proxy-Status response field (RFC 9209): which proxy answered, and why.
public struct ProxyStatus: Sendable {
    public var proxy: String
    public var error: ProxyError?
    public var details: String?
    /// The status of the next hop, if the response is not simply passed on.
    public var receivedStatus: UInt16?
    /// The alert of `tlsAlertReceived`, as number and name.
    public var alert: (id: Int, message: String)?

    public init(
        proxy: String, error: ProxyError? = nil, details: String? = nil, receivedStatus: UInt16? = nil,
        alert: (id: Int, message: String)? = nil
    ) {
        self.proxy = proxy
        self.alert = alert
        self.error = error
        self.details = details
        self.receivedStatus = receivedStatus
    }

    /// The field's value: a structured-field list of one member (RFC 8941).
    public var value: String {
        var text = Self.isToken(proxy) ? proxy : Self.string(proxy)
        if let error { text += "; error=\(error.rawValue)" }
        if let alert { text += "; alert-id=\(alert.id); alert-message=\(Self.string(alert.message))" }
        if let receivedStatus { text += "; received-status=\(receivedStatus)" }
        if let details { text += "; details=\(Self.string(details))" }
        return text
    }

    /// Whether the text is a token of RFC 8941 section 3.3.4: it begins with a letter or `*`; then token bytes, `:` and
    /// `/`.
    private static func isToken(_ text: String) -> Bool {
        guard let first = text.utf8.first, first == UInt8(ascii: "*") || first.asciiLowercased &- 0x61 < 26
        else { return false }
        return text.utf8.allSatisfy { $0.isTokenByte || $0 == .colon || $0 == .slash }
    }

    /// A string of RFC 8941 section 3.3.3: printable ASCII. Every other character becomes `?`.
    private static func string(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar.value >= 0x20 && scalar.value < 0x7F ? scalar : "?")
        }
        return quoted + "\""
    }
}

/// The proxy error types of RFC 9209 section 2.3; the raw value is the token on the wire.
public enum ProxyError: String, Sendable, CaseIterable {
    case dnsTimeout = "dns_timeout"
    case dnsError = "dns_error"
    case destinationNotFound = "destination_not_found"
    case destinationUnavailable = "destination_unavailable"
    case destinationIPProhibited = "destination_ip_prohibited"
    case destinationIPUnroutable = "destination_ip_unroutable"
    case connectionRefused = "connection_refused"
    case connectionTerminated = "connection_terminated"
    case connectionTimeout = "connection_timeout"
    case connectionReadTimeout = "connection_read_timeout"
    case connectionWriteTimeout = "connection_write_timeout"
    case connectionLimitReached = "connection_limit_reached"
    case tlsProtocolError = "tls_protocol_error"
    case tlsCertificateError = "tls_certificate_error"
    case tlsAlertReceived = "tls_alert_received"
    case httpRequestError = "http_request_error"
    case httpRequestDenied = "http_request_denied"
    case httpResponseIncomplete = "http_response_incomplete"
    case httpResponseHeaderSectionSize = "http_response_header_section_size"
    case httpResponseHeaderSize = "http_response_header_size"
    case httpResponseBodySize = "http_response_body_size"
    case httpResponseTrailerSectionSize = "http_response_trailer_section_size"
    case httpResponseTrailerSize = "http_response_trailer_size"
    case httpResponseTransferCoding = "http_response_transfer_coding"
    case httpResponseContentCoding = "http_response_content_coding"
    case httpResponseTimeout = "http_response_timeout"
    case httpUpgradeFailed = "http_upgrade_failed"
    case httpProtocolError = "http_protocol_error"
    case proxyInternalResponse = "proxy_internal_response"
    case proxyInternalError = "proxy_internal_error"
    case proxyConfigurationError = "proxy_configuration_error"
    case proxyLoopDetected = "proxy_loop_detected"
}
