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
///
/// One object serves all requests of a connection, as no other frame comes between those of a field section.
final class ReceivedRequest {
    private let form: RequestForm
    private let fields: ReceivedFields
    /// The values of the pseudo-fields and of `host`.
    private let values = ByteBuffer(capacity: 256)
    private var places = Places()
    /// The crumbs of the cookie (RFC 9113 section 8.2.3), joined.
    private let cookie = ByteBuffer(capacity: 64)
    private var hasCookie = false

    /// The places of the values that were given.
    private struct Places {
        var method: Range<Int>?
        var scheme: Range<Int>?
        var authority: Range<Int>?
        var path: Range<Int>?
        /// The protocol for which a CONNECT asks (RFC 8441).
        var protocolName: Range<Int>?
        var host: Range<Int>?
    }

    init(limits: Limits, form: RequestForm = .absolute) {
        self.form = form
        fields = ReceivedFields(limits: limits)
    }

    /// The first defect.
    var defect: Defect? { fields.defect }
    /// Whether the list is so much larger than allowed that its connection should end.
    var isExcessive: Bool { fields.isExcessive }

    /// Whether the request is a call of gRPC, as far as its fields were read.
    var isCall: Bool {
        guard fields.isGRPC, let place = places.method else { return false }
        let values = values
        return Method(values.readable.extracting(place)) == .post
    }

    func note(_ defect: Defect) { fields.note(defect) }

    /// Prepares for the next request.
    func reset() {
        fields.reset()
        values.clear()
        cookie.clear()
        if values.capacity > ReceivedFields.keptCapacity { values.shrink() }
        if cookie.capacity > ReceivedFields.keptCapacity { cookie.shrink() }
        places = Places()
        hasCookie = false
    }

    /// Adds a field of the list.
    func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        let isCrumb = name.equals("cookie" as StaticString)
        fields.count(name, value, isContinuation: isCrumb && hasCookie)
        guard defect == nil else { return }
        if !name.isEmpty, name[0] == .colon { return addPseudo(name, value) }
        guard fields.check(name, value) else { return }
        if isCrumb { return addCrumb(value) }
        addRegular(name, value)
    }

    private func addPseudo(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        // A pseudo-field behind a field is malformed (section 8.3).
        guard !value.isEmpty, fields.lines.isEmpty, !hasCookie, places.host == nil, !fields.hasContentLength else {
            return note(.malformedPseudoField)
        }
        if name.equals(":method" as StaticString), places.method == nil {
            places.method = keep(value)
        } else if name.equals(":scheme" as StaticString), places.scheme == nil {
            places.scheme = keep(value)
        } else if name.equals(":authority" as StaticString), places.authority == nil {
            places.authority = keep(value)
        } else if name.equals(":path" as StaticString), places.path == nil {
            places.path = keep(value)
        } else if name.equals(":protocol" as StaticString), places.protocolName == nil {
            places.protocolName = keep(value)
        } else {
            note(.malformedPseudoField)
        }
    }

    /// - Returns: the place of the value in `values`.
    private func keep(_ value: Span<UInt8>) -> Range<Int> {
        let start = values.count
        values.append(value)
        return start..<values.count
    }

    private func addRegular(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        switch name.count {
        case 2 where name.equals("te" as StaticString):
            if !value.equals("trailers" as StaticString) { note(.connectionSpecificField) }
        case 4 where name.equals("host" as StaticString):
            if places.host != nil { note(.repeatedHost) }
            places.host = keep(value)
            return
        case 14 where name.equals("http2-settings" as StaticString): return
        case 17 where name.equals("sec-websocket-key" as StaticString) && places.protocolName != nil: return
        default: break
        }
        fields.add(name, value)
    }

    private func addCrumb(_ value: Span<UInt8>) {
        if hasCookie { cookie.append("; " as StaticString) }
        hasCookie = true
        cookie.append(value)
    }

    /// Writes the head.
    /// - Parameter endsWithHead: whether HEADERS ended the stream, so that no body follows.
    /// - Returns: the method, how the body must be written, and the handshake if the request opens a WebSocket.
    func write(
        to text: ByteBuffer, endsWithHead: Bool
    ) throws(Defect) -> (method: Method, framing: ReceivedFraming, handshake: WebSocketHandshake?) {
        if let defect { throw defect }
        guard let place = places.method else { throw .malformedPseudoField }
        let values = values
        let name = values.readable.extracting(place)
        guard name.endOfToken(in: name.indices) == name.count else { throw .malformedMethod }
        var method = Method(name)
        let authority = values.readable.extracting(try agreedAuthority)
        let handshake = try handshake(of: method)
        if handshake == nil { text.append(name) } else { text.append("GET" as StaticString) }
        text.append(.space)
        if handshake != nil { method = .get }
        if method == .connect {
            guard places.scheme == nil, places.path == nil else { throw .malformedPseudoField }
            text.append(authority)
        } else {
            try writeTarget(authority, of: method, to: text)
        }
        text.append(" HTTP/1.1\r\nhost: " as StaticString)
        text.append(authority)
        text.appendLineEnd()
        let lines = fields.lines
        text.append(lines.readable)
        if hasCookie {
            let cookie = cookie
            ReceivedFields.append("cookie".utf8Span.span, cookie.readable, to: text)
        }
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
        guard let place = places.protocolName else { return nil }
        guard method == .connect, !fields.hasContentLength else { throw .malformedPseudoField }
        let values = values
        let name = values.readable.extracting(place)
        guard name.equals("websocket" as StaticString) else { throw .unsupportedProtocol }
        return WebSocketHandshake()
    }

    private func framing(of method: Method, _ endsWithHead: Bool) -> ReceivedFraming {
        if method == .connect, !fields.hasContentLength { return .raw }
        if fields.hasContentLength, !fields.isGRPC || endsWithHead { return .length }
        return endsWithHead ? .none : .chunked
    }

    /// The place of the authority, which `Host` must repeat if it is there.
    private var agreedAuthority: Range<Int> {
        get throws(Defect) {
            guard let place = places.authority ?? places.host else { throw .missingHost }
            let values = values
            let bytes = values.readable
            let authority = bytes.extracting(place)
            if let host = places.host, !bytes.extracting(host).equalsIgnoringCase(authority) { throw .differingHost }
            for index in authority.indices {
                switch authority[index] {
                case 0...0x20, 0x7F..., .slash, .backslash, UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"):
                    throw .malformedHost
                default: break
                }
            }
            guard !authority.isEmpty else { throw .malformedHost }
            return place
        }
    }

    private func writeTarget(
        _ authority: Span<UInt8>, of method: Method, to text: ByteBuffer
    ) throws(Defect) {
        guard let schemePlace = places.scheme, let pathPlace = places.path else { throw .malformedPseudoField }
        let values = values
        let bytes = values.readable
        let (scheme, path) = (bytes.extracting(schemePlace), bytes.extracting(pathPlace))
        guard !path.isEmpty else { throw .malformedPseudoField }
        let isSecure = scheme.equals("https" as StaticString)
        guard isSecure || scheme.equals("http" as StaticString) else { throw .malformedTarget }
        for index in path.indices {
            let byte = path[index]
            if byte <= 0x20 || byte == 0x7F { throw .malformedTarget }
            if byte == UInt8(ascii: "#") { throw .fragmentInTarget }
        }
        let isAsterisk = path.count == 1 && path[0] == UInt8(ascii: "*") && method == .options
        guard path[0] == .slash || isAsterisk else { throw .malformedTarget }
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
