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

    /// The recommended status; nil where the RFC leaves it to the proxy.
    public var recommendedStatus: Status? {
        switch self {
        case .httpRequestError, .proxyInternalResponse: nil
        case .httpRequestDenied: .forbidden
        case .destinationNotFound, .proxyInternalError, .proxyConfigurationError: .internalServerError
        case .destinationUnavailable, .connectionLimitReached: .serviceUnavailable
        case .dnsTimeout, .connectionTimeout, .connectionReadTimeout, .connectionWriteTimeout, .httpResponseTimeout:
            .gatewayTimeout
        case .dnsError, .destinationIPProhibited, .destinationIPUnroutable, .connectionRefused, .connectionTerminated,
            .tlsProtocolError, .tlsCertificateError, .tlsAlertReceived, .httpResponseIncomplete,
            .httpResponseHeaderSectionSize, .httpResponseHeaderSize, .httpResponseBodySize,
            .httpResponseTrailerSectionSize, .httpResponseTrailerSize, .httpResponseTransferCoding,
            .httpResponseContentCoding, .httpUpgradeFailed, .httpProtocolError, .proxyLoopDetected:
            .badGateway
        }
    }
}
