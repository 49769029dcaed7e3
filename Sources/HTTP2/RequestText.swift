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
struct RequestText {
    /// The end of the body in the text.
    enum Framing: Equatable {
        case none
        /// The bytes of the body follow as they are.
        case length
        case chunked
        /// The bytes of a tunnel follow.
        case raw
    }

    private let limits: Limits
    private var method: [UInt8]?
    private var scheme: [UInt8]?
    private var authority: [UInt8]?
    private var path: [UInt8]?
    /// The protocol for which a CONNECT asks (RFC 8441).
    private var protocolName: [UInt8]?
    private var host: [UInt8]?
    private var contentLength: [UInt8]?
    private var isGRPC = false
    private let fields = ByteBuffer(capacity: 512)
    /// The crumbs of the cookie (RFC 9113 section 8.2.3), joined.
    private var cookie: ByteBuffer?
    private var count = 0
    /// The size of the list as RFC 9113 section 6.5.2 counts it.
    private(set) var size = 0
    /// The first defect.
    private(set) var defect: Defect?

    init(limits: Limits) { self.limits = limits }

    /// Whether the list is so much larger than allowed that its connection should end.
    var isExcessive: Bool { size > 4 &* limits.head }

    mutating func note(_ defect: Defect) { if self.defect == nil { self.defect = defect } }

    /// Adds a field of the list.
    mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        size = size &+ name.count &+ value.count &+ 32
        let isCrumb = name.equals("cookie" as StaticString)
        if !isCrumb || cookie == nil { count &+= 1 }
        if size > limits.head { note(.headTooLarge(limit: limits.head)) }
        if count > limits.fields { note(.tooManyFields(limit: limits.fields)) }
        guard defect == nil else { return }
        if !name.isEmpty, name[0] == .colon { return addPseudo(name, value) }
        guard Self.isName(name) else { return note(.malformedFieldName) }
        guard Self.isValue(value) else { return note(.controlCharacter) }
        if isCrumb { return addCrumb(value) }
        addRegular(name, value)
    }

    private mutating func addPseudo(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        // A pseudo-field behind a field is malformed (section 8.3).
        guard !value.isEmpty, fields.isEmpty, cookie == nil, host == nil, contentLength == nil else {
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
            return
        case 4 where name.equals("host" as StaticString):
            if host != nil { note(.repeatedHost) }
            host = Array(copying: value)
            return
        case 14 where name.equals("content-length" as StaticString):
            if contentLength != nil { note(.repeatedContentLength) }
            contentLength = Array(copying: value)
            return
        case 14 where name.equals("http2-settings" as StaticString): return
        case 17 where name.equals("sec-websocket-key" as StaticString) && protocolName != nil: return
        case 12 where name.equals("content-type" as StaticString):
            isGRPC = value.count >= 16 && value.extracting(first: 16).equals("application/grpc" as StaticString)
        case 7 where name.equals("upgrade" as StaticString),
            10 where name.equals("connection" as StaticString) || name.equals("keep-alive" as StaticString),
            16 where name.equals("proxy-connection" as StaticString),
            17 where name.equals("transfer-encoding" as StaticString):
            return note(.connectionSpecificField)
        default: break
        }
        Self.append(name, value, to: fields)
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
    ) throws(Defect) -> (method: Method, framing: Framing, handshake: WebSocketHandshake?) {
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
        text.append(fields.readable)
        if let cookie { Self.append("cookie".utf8Span.span, cookie.readable, to: text) }
        if let handshake {
            handshake.append(to: text)
            text.appendLineEnd()
            return (method, .raw, handshake)
        }
        let framing = framing(of: method, endsWithHead)
        switch framing {
        case .length:
            if let contentLength { Self.append("content-length".utf8Span.span, contentLength.span, to: text) }
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
        guard method == .connect, contentLength == nil else { throw .malformedPseudoField }
        guard protocolName.span.equals("websocket" as StaticString) else { throw .unsupportedProtocol }
        return WebSocketHandshake()
    }

    private func framing(of method: Method, _ endsWithHead: Bool) -> Framing {
        if method == .connect, contentLength == nil { return .raw }
        if contentLength != nil, !isGRPC || endsWithHead { return .length }
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

    static func append(_ name: Span<UInt8>, _ value: Span<UInt8>, to buffer: ByteBuffer) {
        buffer.append(name)
        buffer.append(": " as StaticString)
        buffer.append(value)
        buffer.appendLineEnd()
    }

    /// Whether it is a token without capitals (RFC 9113 section 8.2.1).
    static func isName(_ name: Span<UInt8>) -> Bool {
        guard !name.isEmpty else { return false }
        for place in name.indices {
            let byte = name[place]
            if !byte.isTokenByte || byte.asciiLowercased != byte { return false }
        }
        return true
    }

    /// Whether no control character but a tab is in the value, and no blank at either end (RFC 9113 section 8.2.1).
    static func isValue(_ value: Span<UInt8>) -> Bool {
        guard !value.isEmpty else { return true }
        if value[0].isBlank || value[value.count - 1].isBlank { return false }
        for place in value.indices {
            let byte = value[place]
            if byte < 0x20 && byte != 0x09 || byte == 0x7F { return false }
        }
        return true
    }
}

extension [UInt8] {
    init(copying span: Span<UInt8>) {
        self.init()
        reserveCapacity(span.count)
        for place in span.indices { append(span[place]) }
    }
}
