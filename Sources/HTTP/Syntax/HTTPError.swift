/// The reason why a message is refused, and who sent it.
public struct HTTPError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Fault: Sendable {
        /// The client sent a bad request.
        case client
        /// The upstream sent a bad response.
        case upstream
    }

    public let fault: Fault
    public let defect: Defect

    public init(_ fault: Fault, _ defect: Defect) {
        self.fault = fault
        self.defect = defect
    }

    public var description: String {
        switch fault {
        case .client: "the request is refused: \(defect)"
        case .upstream: "the response is refused: \(defect)"
        }
    }

    /// The status for the client. The connection at fault is closed afterwards, since the start of its next message is
    /// unknown.
    public var status: Status {
        if fault == .upstream { return .badGateway }
        return switch defect {
        case .startLineTooLong: .uriTooLong
        case .headTooLarge, .tooManyFields, .trailersTooLarge, .tooManyConnectionOptions: .requestHeaderFieldsTooLarge
        case .unmetExpectation: .expectationFailed
        case .unsupportedTransferCoding, .unsupportedProtocol, .methodTooLong: .notImplemented
        case .unsupportedVersion: .httpVersionNotSupported
        default: .badRequest
        }
    }

    /// The error type to report (RFC 9209 section 2.3).
    public var proxyError: ProxyError {
        if fault == .client { return .httpRequestError }
        return switch defect {
        case .startLineTooLong, .headTooLarge, .tooManyFields: .httpResponseHeaderSectionSize
        case .trailersTooLarge: .httpResponseTrailerSectionSize
        case .malformedTransferEncoding, .chunkedNotFinal, .unsupportedTransferCoding: .httpResponseTransferCoding
        case .incomplete: .httpResponseIncomplete
        default: .httpProtocolError
        }
    }
}
