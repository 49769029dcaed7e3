/// What went wrong in an exchange the proxy had to end itself, as a proxy error type of RFC 9209 section 2.3.
public enum ProxyErrorType: Int, CaseIterable, Sendable {
    case dnsTimeout
    case dnsError
    case destinationNotFound
    case destinationUnavailable
    case destinationProhibited
    case destinationUnroutable
    case connectionRefused
    case connectionTerminated
    case connectionTimeout
    case connectionReadTimeout
    case connectionWriteTimeout
    case connectionLimitReached
    case requestError
    case requestDenied
    case responseIncomplete
    case responseHeadTooLarge
    case responseFieldTooLarge
    case responseBodyTooLarge
    case responseTrailersTooLarge
    case responseTransferCoding
    case responseContentCoding
    case responseTimeout
    case upgradeFailed
    case protocolError
    case internalResponse
    case internalError
    case configurationError
    case loopDetected

    /// The registered name, as it stands in `Proxy-Status`, in the log and in the metrics.
    public var token: StaticString {
        switch self {
        case .dnsTimeout: "dns_timeout"
        case .dnsError: "dns_error"
        case .destinationNotFound: "destination_not_found"
        case .destinationUnavailable: "destination_unavailable"
        case .destinationProhibited: "destination_ip_prohibited"
        case .destinationUnroutable: "destination_ip_unroutable"
        case .connectionRefused: "connection_refused"
        case .connectionTerminated: "connection_terminated"
        case .connectionTimeout: "connection_timeout"
        case .connectionReadTimeout: "connection_read_timeout"
        case .connectionWriteTimeout: "connection_write_timeout"
        case .connectionLimitReached: "connection_limit_reached"
        case .requestError: "http_request_error"
        case .requestDenied: "http_request_denied"
        case .responseIncomplete: "http_response_incomplete"
        case .responseHeadTooLarge: "http_response_header_section_size"
        case .responseFieldTooLarge: "http_response_header_size"
        case .responseBodyTooLarge: "http_response_body_size"
        case .responseTrailersTooLarge: "http_response_trailer_section_size"
        case .responseTransferCoding: "http_response_transfer_coding"
        case .responseContentCoding: "http_response_content_coding"
        case .responseTimeout: "http_response_timeout"
        case .upgradeFailed: "http_upgrade_failed"
        case .protocolError: "http_protocol_error"
        case .internalResponse: "proxy_internal_response"
        case .internalError: "proxy_internal_error"
        case .configurationError: "proxy_configuration_error"
        case .loopDetected: "proxy_loop_detected"
        }
    }
}
