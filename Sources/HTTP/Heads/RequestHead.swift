import Bytes

/// A request's head, read as an intermediary must read it: what two programs could understand differently is refused,
/// not repaired. Everything is an offset into the bytes that were parsed.
///
/// One object serves a connection's whole life: `reset` keeps its room, so a further request allocates nothing.
public final class RequestHead {
    public let limits: Limits
    private var state = HeadState.initial

    public private(set) var method = Method.get
    public private(set) var methodName = 0..<0
    public private(set) var target = RequestTarget()
    public private(set) var version = Version.http11
    public let fields: FieldTable
    private(set) var host = HostLine()
    /// Outlives `reset`.
    private var recent = RecentAuthority()
    public private(set) var framing = BodyFraming.none
    public private(set) var options: ConnectionOptions = []
    /// Whether the client can send another request on this connection (RFC 9112 section 9.3).
    public private(set) var keepAlive = false
    /// The client waits for `100 Continue` before it sends its body (RFC 9110 section 10.1.1).
    public private(set) var expectsContinue = false
    /// The value of `Max-Forwards`, for OPTIONS and TRACE (RFC 9110 section 7.6.2); other methods ignore it.
    public private(set) var maxForwards: Int?
    /// `Connection: upgrade` with an Upgrade field came, in HTTP/1.1.
    public private(set) var upgrade: Upgrade?

    /// From the target, else from the Host field: whom the request is for. Nil only for HTTP/1.0 in origin-form or
    /// asterisk-form without Host.
    public var authority: Authority? { target.authority ?? host.authority }

    public init(limits: Limits = .request) {
        self.limits = limits
        fields = FieldTable(limits: limits, remembers: true)
    }

    /// Forgets the head that was read and makes ready for the next.
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

    /// From now on the authority has this port, which it does not name.
    public func assume(port: UInt16) {
        host.assumedPort = port
        host.isKept = false
    }

    /// Reads on, from a buffer that begins where the head begins. Bytes above 0x7F in the target, which some tools send as
    /// they are, are percent-encoded there first (RFC 3986 section 2.5): whoever looks at the target sees the form that the
    /// origin gets.
    public func parse(_ buffer: ByteBuffer) throws(HTTPError) -> HeadProgress {
        do throws(HTTPError) { return try parse(buffer.readable) } catch {
            guard error.defect == .rawBytesInTarget else { throw error }
        }
        encodeTarget(in: buffer)
        reset()
        return try parse(buffer.readable)
    }

    /// The request line is whole.
    private func encodeTarget(in buffer: ByteBuffer) {
        let bytes = buffer.readable
        let lineEnd = bytes.firstControl(from: methodName.upperBound)
        let encoded = ByteBuffer(capacity: lineEnd)
        PercentEncoding.appendASCII(bytes.extracting(first: lineEnd), to: encoded)
        buffer.replaceFirst(lineEnd, with: encoded.readable)
    }

    /// Reads on. `bytes` begins where the head begins, at every call; no byte is looked at twice in search of the end.
    /// A head that was refused stays refused, and one that is complete stays complete, until `reset`.
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

    /// Some old clients send an empty line behind a body; RFC 9112 section 2.2 lets a server pass over one. Two are
    /// taken for such a client, more for an attack.
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

    /// RFC 9112 section 3 tells a method that nobody implements from a target that is too long.
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

    /// The usual request line, when it is there to its end, in one go. Returns where the next line begins; nil when
    /// the line has to be looked at more closely.
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
        // "HTTP/1.1" and the space before it.
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

    /// The checks that need the whole head.
    private func conclude(_ bytes: Span<UInt8>) throws(Defect) {
        try readHost(bytes)
        if fields.present.isDisjoint(with: .concludingRequest), method != .options, method != .trace {
            keepAlive = version >= .http11
            return
        }
        options = try ConnectionOptions(bytes, fields: fields, refusingEssential: true)
        framing = try .ofRequest(bytes, version: version, fields: fields)
        keepAlive = keptAlive(bytes)
        expectsContinue = try readExpectation(bytes)
        if method == .options || method == .trace { maxForwards = try readMaxForwards(bytes) }
        if options.contains(.upgrade), version >= .http11, let field = fields.first(.upgrade) {
            upgrade = Upgrade(bytes.extracting(field.value))
        }
    }

    /// RFC 9112 section 3.2. A target that names its host makes a Host that differs meaningless (section 3.2.2): nobody
    /// gets it, and ours is made from the target. It must be one host all the same. Of CONNECT the target is whole and
    /// nothing of the head goes to the origin: some text browsers send no Host in HTTP/1.1, and programs that open a tunnel
    /// as the manual of Node does send the proxy's own.
    private func readHost(_ bytes: Span<UInt8>) throws(Defect) {
        if fields.repeated.contains(.host) { throw .repeatedHost }
        guard let field = fields.first(.host) else {
            if version >= .http11, method != .connect { throw .missingHost }
            return
        }
        guard let named = target.authority else {
            let authority = try Authority(bytes, in: field.value)
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

    /// RFC 9112 section 9.3. A proxy must not believe `Connection: keep-alive` of HTTP/1.0: an older proxy before us
    /// may have passed it on blindly. `Proxy-Connection` is sent only by who knows that it speaks to a proxy.
    private func keptAlive(_ bytes: Span<UInt8>) -> Bool {
        if options.contains(.close) { return false }
        let misnamed = ConnectionOptions.proxyConnection(bytes, fields: fields)
        if misnamed.contains(.close) { return false }
        return version >= .http11 || misnamed.contains(.keepAlive)
    }

    /// An HTTP/1.0 client's expectation is ignored, as RFC 9110 section 10.1.1 demands; without a body there is nothing
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

/// The protocol a client asks to change to (RFC 9110 section 7.8).
public enum Upgrade: UInt8, Sendable {
    case webSocket
    /// `h2c`, `TLS/1.0` and whatever else: to pass it on would open a channel past the proxy's judgement of requests.
    case other

    init(_ value: Span<UInt8>) {
        self = value.equalsIgnoringCase("websocket") ? .webSocket : .other
    }
}

/// The protocol version a message was sent with, as far as it changes what the message means. A higher minor version
/// counts as 1.1 (RFC 9110 section 2.5); another major version is refused.
public enum Version: UInt8, Sendable, Comparable {
    case http10
    case http11

    public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
}

extension Version {
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

/// What the Host field of a request says, and what is assumed in its place.
struct HostLine {
    /// The field says what the target says, byte for byte.
    var isKept = false
    /// The authority of the field, where the target names none.
    var authority: Authority?
    /// The port of an authority that names none, where it is not the scheme's.
    var assumedPort: UInt16?
}
