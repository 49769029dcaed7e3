/// A fault for which an intermediary must not pass a message on. `HTTPError` adds whose message it was.
public enum Defect: Error, Equatable, Sendable, CustomStringConvertible {
    // Size.
    case startLineTooLong(limit: Int)
    case methodTooLong(limit: Int)
    case headTooLarge(limit: Int)
    case tooManyFields(limit: Int)
    case trailersTooLarge(limit: Int)
    case chunkExtensionTooLong(limit: Int)
    case tooManyConnectionOptions(limit: Int)

    // Lines (RFC 9112 section 2.2).
    case bareLineFeed
    case bareCarriageReturn
    case controlCharacter
    case emptyLineBeforeMessage

    // Start line (RFC 9112 sections 3 and 4).
    case malformedRequestLine
    case malformedMethod
    case malformedStatusLine
    case statusOutOfRange
    case malformedVersion
    case unsupportedVersion
    /// A frame of HTTP/2 in place of a status line.
    case onlyHTTP2
    /// Anything but SETTINGS at the start of a connection of HTTP/2 (RFC 9113 section 3.4).
    case noHTTP2

    // Target and Host (RFC 9112 section 3.2).
    case malformedTarget
    case fragmentInTarget
    /// Unencoded bytes above 0x7F.
    case rawBytesInTarget
    case malformedUserinfo
    case malformedHost
    case malformedPort
    case missingPort
    case missingHost
    case repeatedHost

    // Fields of HTTP/2 (RFC 9113 sections 8.2 and 8.3).
    case malformedPseudoField
    case connectionSpecificField
    case differingHost
    /// A CONNECT for a protocol that the proxy does not know (RFC 8441).
    case unsupportedProtocol

    // Field lines (RFC 9112 section 5).
    case blankBeforeFirstField
    case foldedLine
    case blankBeforeColon
    case missingColon
    case malformedFieldName

    // Framing (RFC 9112 sections 6 and 7).
    case malformedContentLength
    case repeatedContentLength
    case contentLengthAndTransferEncoding
    case transferEncodingInVersion10
    case malformedTransferEncoding
    case chunkedNotFinal
    case unsupportedTransferCoding
    case malformedChunkSize
    case chunkSizeTooLarge
    case malformedChunkEnd
    case forbiddenTrailer
    /// The connection closed before the message was complete.
    case incomplete

    // Fields a proxy acts on (RFC 9110 sections 7.6 and 10.1.1).
    case malformedConnection
    case connectionNamesEssentialField
    case malformedMaxForwards
    case unmetExpectation

    /// Whether old servers write it in responses with only one possible meaning, which the client can get.
    var isLenientlyRead: Bool {
        [.bareLineFeed, .foldedLine, .blankBeforeColon].contains(self)
    }

    public var description: String {
        switch self {
        case .startLineTooLong(let limit): "the start line is longer than \(limit) bytes"
        case .methodTooLong(let limit): "the method is longer than \(limit) bytes"
        case .headTooLarge(let limit): "the header section is larger than \(limit) bytes"
        case .tooManyFields(let limit): "there are more than \(limit) field lines"
        case .trailersTooLarge(let limit): "the trailer section exceeds its limit of \(limit)"
        case .chunkExtensionTooLong(let limit): "a chunk extension is longer than \(limit) bytes"
        case .tooManyConnectionOptions(let limit): "there are more than \(limit) connection options"
        case .bareLineFeed: "a line ends with a line feed alone"
        case .bareCarriageReturn: "a carriage return is not followed by a line feed"
        case .controlCharacter: "there is a control character in a line"
        case .emptyLineBeforeMessage: "there are empty lines before the message"
        case .malformedRequestLine: "the request line is not method, target and version with one space between"
        case .malformedMethod: "the method is not a token"
        case .malformedStatusLine: "the status line is malformed"
        case .statusOutOfRange: "the status code is not between 100 and 599"
        case .malformedVersion: "the start line does not name an HTTP version"
        case .unsupportedVersion: "the HTTP version is not supported"
        case .onlyHTTP2:
            "the server speaks only HTTP/2, which it has not offered by TLS (ALPN); if it has no TLS, write 'http2 prior-knowledge' in its route"
        case .noHTTP2:
            "the server does not speak HTTP/2; if its route says 'http2 prior-knowledge', remove that"
        case .malformedTarget: "the request target is malformed"
        case .fragmentInTarget: "the request target has a fragment"
        case .rawBytesInTarget: "the request target has bytes that must be percent-encoded"
        case .malformedUserinfo: "the user information in the request target is malformed"
        case .malformedHost: "the host name is malformed"
        case .malformedPort: "the port is not a number between 1 and 65535"
        case .missingPort: "the request target names no port"
        case .missingHost: "there is no Host field"
        case .repeatedHost: "there are several Host fields"
        case .malformedPseudoField: "a pseudo-field of HTTP/2 is missing, repeated, empty, unknown or not in front"
        case .connectionSpecificField: "a field of HTTP/1.1 connections is in a message by HTTP/2"
        case .differingHost: "the Host field differs from :authority"
        case .unsupportedProtocol: "the protocol of an extended CONNECT is not supported: only websocket is"
        case .blankBeforeFirstField: "there is white space before the first field"
        case .foldedLine: "a field line is folded"
        case .blankBeforeColon: "there is white space between a field name and its colon"
        case .missingColon: "a field line has no colon"
        case .malformedFieldName: "a field name is not a token"
        case .malformedContentLength: "the Content-Length is not a number"
        case .repeatedContentLength: "there are several Content-Length fields"
        case .contentLengthAndTransferEncoding: "there are both Content-Length and Transfer-Encoding"
        case .transferEncodingInVersion10: "there is a Transfer-Encoding in an HTTP/1.0 message"
        case .malformedTransferEncoding: "the Transfer-Encoding is malformed"
        case .chunkedNotFinal: "chunked is not the last transfer coding, once"
        case .unsupportedTransferCoding: "the transfer coding is not supported"
        case .malformedChunkSize: "a chunk size is not a hexadecimal number"
        case .chunkSizeTooLarge: "a chunk size is too large"
        case .malformedChunkEnd: "a chunk is not followed by the end of its line"
        case .forbiddenTrailer: "a field that controls the message is in its trailer section"
        case .incomplete: "the message is incomplete"
        case .malformedConnection: "the Connection field is not a list of tokens"
        case .connectionNamesEssentialField: "the Connection field names a field that must not be removed"
        case .malformedMaxForwards: "the Max-Forwards field is not a number"
        case .unmetExpectation: "the expectation cannot be met"
        }
    }
}
