import Bytes

/// A request's head, read in the way an intermediary must: anything that two programs could understand differently is
/// refused, not repaired. Everything is an offset into the parsed bytes.
///
/// One object serves a connection's whole life: `reset` keeps its memory, so a further request allocates nothing.
public final class RequestHead {
    public let limits: Limits
    private var state = HeadState.initial

    public private(set) var method = Method.get
    public private(set) var methodName = 0..<0
    public private(set) var target = RequestTarget()
    public private(set) var version = Version.http11
    public let fields: FieldTable
    private(set) var host = HostLine()
    /// The authority read last; it outlives `reset`.
    private var recent = RecentAuthority()
    public private(set) var framing = BodyFraming.none
    public private(set) var options: ConnectionOptions = []
    /// Whether the client can send another request on this connection (RFC 9112 section 9.3).
    public private(set) var keepAlive = false
    /// Whether the client waits for `100 Continue` before it sends its body (RFC 9110 section 10.1.1).
    public private(set) var expectsContinue = false
    /// The value of `Max-Forwards`, for OPTIONS and TRACE (RFC 9110 section 7.6.2); other methods ignore it.
    public private(set) var maxForwards: Int?
    /// The protocol of a `Connection: upgrade` with an Upgrade field, in HTTP/1.1.
    public private(set) var upgrade: Upgrade?

    /// The content of the Host field of a request, and the values assumed without it.
    struct HostLine {
        /// Whether the field equals the target's authority, byte for byte.
        var isKept = false
        /// The authority of the field, if the target names none.
        var authority: Authority?
        /// The port of an authority without one, if it is not the scheme's default.
        var assumedPort: UInt16?
    }

    /// The part of a head that follows from its version and its fields alone.
    private struct Conclusion {
        let version: Version
        let options: ConnectionOptions
        let framing: BodyFraming
        let keepAlive: Bool
        let expectsContinue: Bool
    }

    /// The conclusion from the fields that `fields` recalls; nil before the second head with these fields.
    private var former: Conclusion?

    /// The authority of the request, from the target, else from the Host field. Nil only for HTTP/1.0 in origin-form or
    /// asterisk-form without Host.
    public var authority: Authority? { target.authority ?? host.authority }

    public init(limits: Limits = .request) {
        self.limits = limits
        fields = FieldTable(limits: limits, remembers: true)
    }

    /// Forgets the current head and prepares for the next one.
    public func reset() {
        state = .initial
        fields.removeAll()
        method = .get
        methodName = 0..<0
        version = .http11
        target = RequestTarget()
        host = HostLine()
        framing = .none
        options = []
        keepAlive = false
        expectsContinue = false
        maxForwards = nil
        upgrade = nil
    }

    /// Notes the version by which the client spoke, if the parsed text was made from another one.
    public func note(_ version: Version) { self.version = version }

    /// Sets the port of an authority without one.
    public func assume(port: UInt16) {
        host.assumedPort = port
        host.isKept = false
    }

    /// Continues parsing, from a buffer that begins with the head. Bytes above 0x7F in the target, which some tools
    /// send unencoded, are percent-encoded in the buffer first (RFC 3986 section 2.5). So all code sees the target in
    /// the form that the origin gets.
    public func parse(_ buffer: ByteBuffer) throws(HTTPError) -> HeadProgress {
        do throws(HTTPError) { return try parse(buffer.readable) } catch {
            guard error.defect == .rawBytesInTarget else { throw error }
        }
        encodeTarget(in: buffer)
        reset()
        return try parse(buffer.readable)
    }

    /// Encodes the target. The request line is complete.
    private func encodeTarget(in buffer: ByteBuffer) {
        let bytes = buffer.readable
        let lineEnd = bytes.firstControl(from: methodName.upperBound)
        let encoded = ByteBuffer(capacity: lineEnd)
        PercentEncoding.appendASCII(bytes.extracting(first: lineEnd), to: encoded)
        buffer.replaceFirst(lineEnd, with: encoded.readable)
    }

    /// Continues parsing. `bytes` begins with the head at every call; no byte is scanned twice for the end. A refused
    /// head stays refused, and a complete one stays complete, until `reset`.
    public func parse(_ bytes: Span<UInt8>) throws(HTTPError) -> HeadProgress {
        do throws(Defect) {
            return try advance(bytes)
        } catch {
            state = .failed(error)
            throw HTTPError(.client, error)
        }
    }

    private func advance(_ bytes: Span<UInt8>) throws(Defect) -> HeadProgress {
        switch state {
        case .startLine(let reader, let emptyLines):
            guard let reader = try readStartLine(bytes, reader, emptyLines: emptyLines) else { return .needsMore }
            return try finish(bytes, from: reader)
        case .fields(let reader): return try finish(bytes, from: reader)
        case .complete(let length): return .complete(length: length)
        case .lenient: throw .malformedRequestLine
        case .failed(let defect): throw defect
        }
    }

    private func finish(_ bytes: Span<UInt8>, from reader: LineReader) throws(Defect) -> HeadProgress {
        guard try state.readFields(bytes, from: reader, limits: limits, into: fields),
            case .complete(let length) = state
        else { return .needsMore }
        try conclude(bytes)
        return .complete(length: length)
    }

    /// Some old clients send an empty line after a body, and RFC 9112 section 2.2 lets a server ignore one. Two empty
    /// lines are accepted for such clients; more count as an attack.
    private func readStartLine(
        _ bytes: Span<UInt8>, _ reader: LineReader, emptyLines: Int
    ) throws(Defect) -> LineReader? {
        var reader = reader
        if reader.isAtStart, let end = try readWholeRequestLine(bytes, from: reader.start) {
            reader.advance(to: end)
            return reader
        }
        var emptyLines = emptyLines
        while let line = try nextStartLine(bytes, &reader) {
            reader.advance(over: line)
            if !line.isEmpty {
                try readRequestLine(bytes, line)
                return reader
            }
            emptyLines += 1
            guard emptyLines <= 2 else { throw .emptyLineBeforeMessage }
        }
        state = .startLine(reader, emptyLines: emptyLines)
        return nil
    }

    /// RFC 9112 section 3 distinguishes an unsupported method from a target that is too long.
    private func nextStartLine(_ bytes: Span<UInt8>, _ reader: inout LineReader) throws(Defect) -> Range<Int>? {
        let (start, limit) = (reader.start, limits.startLine)
        do throws(Defect) {
            return try reader.next(bytes, limit: start &+ limit &+ 2, or: .startLineTooLong(limit: limit))
        } catch {
            guard error == .startLineTooLong(limit: limit) else { throw error }
            let end = min(start &+ limit, bytes.count)
            throw bytes.endOfToken(in: start..<end) == end ? .methodTooLong(limit: limit) : error
        }
    }

    /// Reads a usual and complete request line in one step. Returns the start of the next line; nil if the line needs a
    /// closer look.
    private func readWholeRequestLine(_ bytes: Span<UInt8>, from start: Int) throws(Defect) -> Int? {
        guard bytes.holds("GET ", at: start) || bytes.holds("POST ", at: start) else { return nil }
        let isGet = bytes[start] == UInt8(ascii: "G")
        let targetStart = start &+ (isGet ? 4 : 5)
        let targetEnd = bytes.firstOutsideTarget(in: targetStart..<bytes.count)
        let end = targetEnd &+ 11
        guard end <= bytes.count, end &- start <= limits.startLine &+ 2, targetEnd > targetStart,
            bytes.holds(" HTTP/1.", at: targetEnd), bytes.holds("1\r\n", at: targetEnd &+ 8)
        else { return nil }
        method = isGet ? .get : .post
        methodName = start..<targetStart &- 1
        version = .http11
        target = try RequestTarget(visible: bytes, in: targetStart..<targetEnd, method: method, recent: &recent)
        return end
    }

    private func readRequestLine(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(Defect) {
        methodName = try readMethod(bytes, line)
        let targetStart = methodName.upperBound &+ 1
        // The length of "HTTP/1.1" with the space before it.
        let targetEnd = line.upperBound &- 9
        guard targetStart < targetEnd, bytes[targetEnd] == .space else { throw .malformedRequestLine }
        version = try Version(bytes, at: targetEnd &+ 1)
        let bad = bytes.firstOutsideTarget(in: targetStart..<targetEnd)
        if bad < targetEnd {
            if bytes[bad] > UInt8.delete { throw .rawBytesInTarget }
            throw bytes[bad] == UInt8(ascii: "#") ? .fragmentInTarget : .malformedTarget
        }
        target = try RequestTarget(visible: bytes, in: targetStart..<targetEnd, method: method, recent: &recent)
    }

    private func readMethod(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(Defect) -> Range<Int> {
        let start = line.lowerBound
        let end = bytes.endOfToken(in: line)
        guard end > start else { throw .malformedMethod }
        guard end < line.upperBound else { throw .malformedRequestLine }
        guard bytes[end] == .space else { throw .malformedMethod }
        method = Method(bytes.extracting(start..<end))
        return start..<end
    }

    /// Makes the checks that need the complete head.
    private func conclude(_ bytes: Span<UInt8>) throws(Defect) {
        if !fields.areRecalled { former = nil }
        try readHost(bytes)
        let needsForwards = method == .options || method == .trace
        if fields.present.isDisjoint(with: .concludingRequest), !needsForwards {
            keepAlive = version >= .http11
            return
        }
        if let former, former.version == version, !needsForwards {
            (options, framing) = (former.options, former.framing)
            (keepAlive, expectsContinue) = (former.keepAlive, former.expectsContinue)
            return
        }
        options = try ConnectionOptions(bytes, fields: fields, refusingEssential: true)
        framing = try .ofRequest(bytes, version: version, fields: fields)
        keepAlive = keptAlive(bytes)
        expectsContinue = try readExpectation(bytes)
        if needsForwards { maxForwards = try readMaxForwards(bytes) }
        if options.contains(.upgrade), version >= .http11, let field = fields.first(.upgrade) {
            upgrade = Upgrade(bytes.extracting(field.value))
        } else if fields.areRecalled {
            former = Conclusion(
                version: version, options: options, framing: framing, keepAlive: keepAlive,
                expectsContinue: expectsContinue)
        }
    }

    /// RFC 9112 section 3.2. If the target names the host, a different Host field is meaningless (section 3.2.2): it is
    /// not passed on, and ours is made from the target. It must still be one host. With CONNECT no field reaches the
    /// origin: some text browsers send no Host in HTTP/1.1, and programs that open a tunnel as in Node's manual send
    /// the proxy's own.
    private func readHost(_ bytes: Span<UInt8>) throws(Defect) {
        if fields.repeated.contains(.host) { throw .repeatedHost }
        guard let field = fields.first(.host) else {
            if version >= .http11, method != .connect { throw .missingHost }
            return
        }
        guard let named = target.authority else {
            let authority = try readAuthority(bytes, in: field.value)
            host.isKept = authority.text == field.value
            host.authority = authority
            return
        }
        if bytes.extracting(named.text).equals(bytes.extracting(field.value)) {
            host.isKept = true
            return
        }
        _ = try Authority(bytes, in: field.value)
    }

    /// Reads the Host field of a target that names no host. Mostly it is that of the request before.
    private func readAuthority(_ bytes: Span<UInt8>, in range: Range<Int>) throws(Defect) -> Authority {
        if let known = recent.read(bytes, from: range.lowerBound, to: range.upperBound), known.text == range {
            return known
        }
        let authority = try Authority(bytes, in: range)
        if authority.form != .ipv6, authority.text == range { recent.remember(authority, of: bytes) }
        return authority
    }

    /// RFC 9112 section 9.3. A proxy must not believe `Connection: keep-alive` of HTTP/1.0: an older proxy before us
    /// may have passed it on blindly. Only clients that know they use a proxy send `Proxy-Connection`.
    private func keptAlive(_ bytes: Span<UInt8>) -> Bool {
        if options.contains(.close) { return false }
        let misnamed = ConnectionOptions.proxyConnection(bytes, fields: fields)
        if misnamed.contains(.close) { return false }
        return version >= .http11 || misnamed.contains(.keepAlive)
    }

    /// An HTTP/1.0 client's expectation is ignored, as RFC 9110 section 10.1.1 demands. Without a body there is nothing
    /// to wait for.
    private func readExpectation(_ bytes: Span<UInt8>) throws(Defect) -> Bool {
        guard version >= .http11, let field = fields.first(.expect) else { return false }
        guard !fields.repeated.contains(.expect), bytes.extracting(field.value).equalsIgnoringCase("100-continue")
        else { throw .unmetExpectation }
        return framing != .none && framing != .length(0)
    }

    private func readMaxForwards(_ bytes: Span<UInt8>) throws(Defect) -> Int? {
        guard let field = fields.first(.maxForwards) else { return nil }
        guard !fields.repeated.contains(.maxForwards), (1...9).contains(field.value.count) else {
            throw .malformedMaxForwards
        }
        var number = 0
        for offset in field.value {
            guard bytes[offset].isDigit else { throw .malformedMaxForwards }
            number = number * 10 + Int(bytes[offset] - 0x30)
        }
        return number
    }
}

/// The protocol that a client asks to change to (RFC 9110 section 7.8).
public enum Upgrade: UInt8, Sendable {
    case webSocket
    /// Any other protocol, such as `h2c` or `TLS/1.0`: passing it on would open a channel that bypasses the proxy's
    /// checks of requests.
    case other

    init(_ value: Span<UInt8>) {
        self = value.equalsIgnoringCase("websocket") ? .webSocket : .other
    }
}

/// The protocol version of a message, as far as it changes the meaning of the message. A higher minor version counts as
/// 1.1 (RFC 9110 section 2.5); another major version is refused.
public enum Version: UInt8, Sendable, Comparable {
    case http10
    case http11
    /// HTTP/2. The text of such a request says 1.1 (`RequestHead.note`).
    case http2

    public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }

    /// Reads `HTTP/` DIGIT `.` DIGIT (RFC 9112 section 2.3), eight bytes from `start`.
    init(_ bytes: Span<UInt8>, at start: Int) throws(Defect) {
        if bytes.holds("HTTP/1.1", at: start) {
            self = .http11
            return
        }
        guard bytes.holds("HTTP/", at: start), start + 8 <= bytes.count, bytes[start + 5].isDigit,
            bytes[start + 6] == UInt8(ascii: "."), bytes[start + 7].isDigit
        else { throw .malformedVersion }
        guard bytes[start + 5] == UInt8(ascii: "1") else { throw .unsupportedVersion }
        self = bytes[start + 7] == UInt8(ascii: "0") ? .http10 : .http11
    }
}
