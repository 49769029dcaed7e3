import Bytes
import HTTP

/// The form of the request target in the text of a request.
public enum RequestForm: Equatable, Sendable {
    /// The absolute-form, with scheme and authority, which clients write to a proxy.
    case absolute
    /// The origin-form, which clients write to the server itself. With another scheme than `https` it is the absolute-form.
    case origin
}

/// Makes the text of an HTTP/1.1 request from the fields of HEADERS (RFC 9113 section 8.3.1). The parser of HTTP/1.1
/// requests then judges it like any other. Nothing is repaired: what could change the text's meaning is a defect.
struct ReceivedRequest {
    private var fields: ReceivedFields
    private var method: [UInt8]?
    private var scheme: [UInt8]?
    private var authority: [UInt8]?
    private var path: [UInt8]?
    /// The protocol for which a CONNECT asks (RFC 8441).
    private var protocolName: [UInt8]?
    private var host: [UInt8]?
    /// The crumbs of the cookie (RFC 9113 section 8.2.3), joined.
    private var cookie: ByteBuffer?

    init(limits: Limits) { fields = ReceivedFields(limits: limits) }

    /// The first defect.
    var defect: Defect? { fields.defect }
    /// Whether the list is so much larger than allowed that its connection should end.
    var isExcessive: Bool { fields.isExcessive }

    /// Whether the request is a call of gRPC, as far as its fields were read.
    var isCall: Bool { fields.isGRPC && method.map { Method($0.span) == .post } ?? false }

    mutating func note(_ defect: Defect) { fields.note(defect) }

    /// Adds a field of the list.
    mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        let isCrumb = name.equals("cookie" as StaticString)
        fields.count(name, value, isContinuation: isCrumb && cookie != nil)
        guard defect == nil else { return }
        if !name.isEmpty, name[0] == .colon { return addPseudo(name, value) }
        guard fields.check(name, value) else { return }
        if isCrumb { return addCrumb(value) }
        addRegular(name, value)
    }

    private mutating func addPseudo(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        // A pseudo-field behind a field is malformed (section 8.3).
        guard !value.isEmpty, fields.lines.isEmpty, cookie == nil, host == nil, fields.contentLength == nil else {
            return note(.malformedPseudoField)
        }
        let bytes = Array(copying: value)
        if name.equals(":method" as StaticString), method == nil {
            method = bytes
        } else if name.equals(":scheme" as StaticString), scheme == nil {
            scheme = bytes
        } else if name.equals(":authority" as StaticString), authority == nil {
            authority = bytes
        } else if name.equals(":path" as StaticString), path == nil {
            path = bytes
        } else if name.equals(":protocol" as StaticString), protocolName == nil {
            protocolName = bytes
        } else {
            note(.malformedPseudoField)
        }
    }

    private mutating func addRegular(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        switch name.count {
        case 2 where name.equals("te" as StaticString):
            if !value.equals("trailers" as StaticString) { note(.connectionSpecificField) }
        case 4 where name.equals("host" as StaticString):
            if host != nil { note(.repeatedHost) }
            host = Array(copying: value)
            return
        case 14 where name.equals("http2-settings" as StaticString): return
        case 17 where name.equals("sec-websocket-key" as StaticString) && protocolName != nil: return
        default: break
        }
        fields.add(name, value)
    }

    private mutating func addCrumb(_ value: Span<UInt8>) {
        guard let cookie else {
            let first = ByteBuffer(capacity: value.count)
            first.append(value)
            cookie = first
            return
        }
        cookie.append("; " as StaticString)
        cookie.append(value)
    }

    /// Writes the head.
    /// - Parameter endsWithHead: whether HEADERS ended the stream, so that no body follows.
    /// - Returns: the method, how the body must be written, and the handshake if the request opens a WebSocket.
    func write(
        to text: ByteBuffer, in form: RequestForm, endsWithHead: Bool
    ) throws(Defect) -> (method: Method, framing: ReceivedFraming, handshake: WebSocketHandshake?) {
        if let defect { throw defect }
        guard let name = method else { throw .malformedPseudoField }
        guard name.allSatisfy(\.isTokenByte) else { throw .malformedMethod }
        var method = Method(name.span)
        let authority = try agreedAuthority
        let handshake = try handshake(of: method)
        if handshake == nil { text.append(name) } else { text.append("GET" as StaticString) }
        text.append(.space)
        if handshake != nil { method = .get }
        if method == .connect {
            guard scheme == nil, path == nil else { throw .malformedPseudoField }
            text.append(authority)
        } else {
            try writeTarget(authority, of: method, in: form, to: text)
        }
        text.append(" HTTP/1.1\r\nhost: " as StaticString)
        text.append(authority)
        text.appendLineEnd()
        text.append(fields.lines.readable)
        if let cookie { ReceivedFields.append("cookie".utf8Span.span, cookie.readable, to: text) }
        if let handshake {
            handshake.append(to: text)
            text.appendLineEnd()
            return (method, .raw, handshake)
        }
        let framing = framing(of: method, endsWithHead)
        switch framing {
        case .length: fields.appendLength(to: text)
        case .chunked: text.append("transfer-encoding: chunked\r\n" as StaticString)
        case .none where method == .post || method == .put || method == .patch:
            text.append("content-length: 0\r\n" as StaticString)
        case .none, .raw: break
        }
        text.appendLineEnd()
        return (method, framing, nil)
    }

    private func handshake(of method: Method) throws(Defect) -> WebSocketHandshake? {
        guard let protocolName else { return nil }
        guard method == .connect, fields.contentLength == nil else { throw .malformedPseudoField }
        guard protocolName.span.equals("websocket" as StaticString) else { throw .unsupportedProtocol }
        return WebSocketHandshake()
    }

    private func framing(of method: Method, _ endsWithHead: Bool) -> ReceivedFraming {
        if method == .connect, fields.contentLength == nil { return .raw }
        if fields.contentLength != nil, !fields.isGRPC || endsWithHead { return .length }
        return endsWithHead ? .none : .chunked
    }

    /// The authority, which `Host` must repeat if it is there.
    private var agreedAuthority: [UInt8] {
        get throws(Defect) {
            guard let authority = authority ?? host else { throw .missingHost }
            if let host, !host.span.equalsIgnoringCase(authority.span) { throw .differingHost }
            for byte in authority {
                switch byte {
                case 0...0x20, 0x7F..., .slash, .backslash, UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"):
                    throw .malformedHost
                default: break
                }
            }
            guard !authority.isEmpty else { throw .malformedHost }
            return authority
        }
    }

    private func writeTarget(
        _ authority: [UInt8], of method: Method, in form: RequestForm, to text: ByteBuffer
    ) throws(Defect) {
        guard let scheme, let path, let first = path.first else { throw .malformedPseudoField }
        let isSecure = scheme.span.equals("https" as StaticString)
        guard isSecure || scheme.span.equals("http" as StaticString) else { throw .malformedTarget }
        for byte in path {
            if byte <= 0x20 || byte == 0x7F { throw .malformedTarget }
            if byte == UInt8(ascii: "#") { throw .fragmentInTarget }
        }
        let isAsterisk = path.count == 1 && first == UInt8(ascii: "*") && method == .options
        guard first == .slash || isAsterisk else { throw .malformedTarget }
        if form == .absolute || !isSecure {
            text.append(scheme)
            text.append("://" as StaticString)
            text.append(authority)
            // RFC 9110 section 7.1: `OPTIONS *` through a proxy is a URL without a path.
            if isAsterisk { return }
        }
        text.append(path)
    }
}
