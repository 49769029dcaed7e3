import Bytes

/// A response's head, read as strictly as a request's, except for what old servers write (`LenientHead`). Everything
/// is an offset into the parsed bytes.
///
/// One object serves a connection's whole life: `reset` keeps its memory.
public final class ResponseHead {
    public let limits: Limits
    private var state = HeadState.initial

    public private(set) var version = Version.http11
    public private(set) var status = Status.ok
    /// The reason phrase; may be empty.
    public private(set) var reason = 0..<0
    /// The status line after the version, with its line end.
    private(set) var statusLineRest = 0..<0
    public let fields: FieldTable
    public var framing: BodyFraming { said.body }
    private(set) var said = Framing()
    public private(set) var options: ConnectionOptions = []
    /// Whether the upstream's connection can carry another request once this body was read completely.
    public private(set) var keepAlive = false
    /// Whether the head was made from one that violates RFC 9112.
    private var isMended = false
    /// Whether the response is understood, but no second response is expected after it.
    public var isIrregular: Bool { isMended || !said.isRegular }

    /// - Parameter remembers: whether heads often have the fields of the head before, which then are not read again.
    public init(limits: Limits = .response, remembers: Bool = false) {
        self.limits = limits
        fields = FieldTable(limits: limits, remembers: remembers)
    }

    /// Forgets the current head and prepares for the next one.
    public func reset() {
        state = .initial
        fields.removeAll()
        said = Framing()
        options = []
        keepAlive = false
        isMended = false
    }

    /// Notes the version by which the server spoke, if the parsed text was made from another one.
    public func note(_ version: Version) { self.version = version }

    /// Continues parsing, from a buffer that begins with the head. A head of an old server is replaced in the buffer by
    /// its correct form, which is then parsed.
    public func parse(_ buffer: ByteBuffer, answering method: Method) throws(HTTPError) -> HeadProgress {
        do throws(HTTPError) {
            guard case .lenient = state else { return try parse(buffer.readable, answering: method) }
        } catch {
            guard error.defect.isLenientlyRead else { throw error }
            state = .lenient(LineReader())
        }
        do throws(Defect) {
            guard try mend(buffer) else { return .needsMore }
        } catch {
            state = .failed(error)
            throw HTTPError(.upstream, error)
        }
        return try parse(buffer.readable, answering: method)
    }

    /// - Returns: whether the head was complete.
    private func mend(_ buffer: ByteBuffer) throws(Defect) -> Bool {
        guard case .lenient(var reader) = state else { return true }
        let bytes = buffer.readable
        while let line = try reader.nextLenient(bytes, limit: limits.head, or: .headTooLarge(limit: limits.head)) {
            let end = LineReader.lineEnd(behind: line, in: bytes)
            reader.advance(to: end)
            guard line.isEmpty else { continue }
            let mended = ByteBuffer(capacity: end &+ 64)
            try LenientHead.append(bytes.extracting(first: end), to: mended)
            buffer.replaceFirst(end, with: mended.readable)
            reset()
            isMended = true
            return true
        }
        state = .lenient(reader)
        return false
    }

    /// Continues parsing, as `RequestHead.parse` does. `method` is the method of the request: it decides whether there
    /// is a body.
    public func parse(_ bytes: Span<UInt8>, answering method: Method) throws(HTTPError) -> HeadProgress {
        do throws(Defect) {
            return try advance(bytes, method)
        } catch {
            var error = error
            if case .startLine = state, error == .controlCharacter {
                guard let isFrame = ResponseHead.HTTP2Frame.begins(bytes) else { return .needsMore }
                if isFrame { error = .onlyHTTP2 }
            }
            state = .failed(error)
            throw HTTPError(.upstream, error)
        }
    }

    private func advance(_ bytes: Span<UInt8>, _ method: Method) throws(Defect) -> HeadProgress {
        switch state {
        case .startLine(var reader, _):
            if reader.isAtStart, let end = readWholeStatusLine(bytes) {
                reader.advance(to: end)
                return try finish(bytes, method, from: reader)
            }
            let tooLong = Defect.startLineTooLong(limit: limits.startLine)
            guard let line = try reader.next(bytes, limit: limits.startLine &+ 2, or: tooLong) else {
                state = .startLine(reader, emptyLines: 0)
                return .needsMore
            }
            try readStatusLine(bytes, line)
            reader.advance(over: line)
            return try finish(bytes, method, from: reader)
        case .fields(let reader): return try finish(bytes, method, from: reader)
        case .lenient: return .needsMore
        case .complete(let length): return .complete(length: length)
        case .failed(let defect): throw defect
        }
    }

    private func finish(_ bytes: Span<UInt8>, _ method: Method, from reader: LineReader) throws(Defect) -> HeadProgress
    {
        guard try state.readFields(bytes, from: reader, limits: limits, into: fields),
            case .complete(let length) = state
        else { return .needsMore }
        options = try ConnectionOptions(bytes, fields: fields, refusingEssential: false)
        said = try Framing(bytes, version: version, status: status, to: method, fields: fields)
        let persists = fields.present.contains(.proxyConnection) ? proxyOptions(bytes) : options
        keepAlive =
            framing != .untilClose && !isIrregular && !persists.contains(.close)
            && (version >= .http11 || persists.contains(.keepAlive))
        return .complete(length: length)
    }

    /// The connection options in a proxy's own field. If it wants to close the connection, that is believed. In
    /// HTTP/1.0, that it keeps the connection is believed only if no other than a proxy can have sent it.
    private func proxyOptions(_ bytes: Span<UInt8>) -> ConnectionOptions {
        let said = ConnectionOptions.proxyConnection(bytes, fields: fields)
        if said.contains(.close) || status == .proxyAuthenticationRequired { return options.union(said) }
        return options
    }

    /// Reads a usual and complete status line in one step. Returns the start of the next line; nil if the line needs a
    /// closer look.
    private func readWholeStatusLine(_ bytes: Span<UInt8>) -> Int? {
        guard bytes.holds("HTTP/1.1", at: 0), bytes.count >= 16 else { return nil }
        // The bytes are " 200 OK\r".
        let word = bytes.word(at: 8)
        guard word & 0xFF == 0x20, word >> 32 & 0xFF == 0x20 else { return nil }
        let (hundreds, tens, ones) = (word >> 8 & 0xFF &- 0x30, word >> 16 & 0xFF &- 0x30, word >> 24 & 0xFF &- 0x30)
        guard 1...5 ~= hundreds, tens < 10, ones < 10 else { return nil }
        let end = bytes.firstControl(from: 13)
        guard bytes.isLineEnd(at: end), end <= limits.startLine else { return nil }
        version = .http11
        status = Status(rawValue: UInt16(truncatingIfNeeded: hundreds &* 100 &+ tens &* 10 &+ ones))
        reason = 13..<end
        statusLineRest = 8..<end &+ 2
        return end &+ 2
    }

    /// RFC 9112 section 4. The space after the code is required, but servers without a phrase omit it, which is
    /// harmless.
    private func readStatusLine(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(Defect) {
        guard line.count >= 12 else { throw .malformedStatusLine }
        version = try Version(bytes, at: line.lowerBound)
        let code = line.lowerBound &+ 9
        guard bytes[code &- 1] == .space, bytes[code].isDigit, bytes[code &+ 1].isDigit, bytes[code &+ 2].isDigit,
            line.count == 12 || bytes[code &+ 3] == .space
        else { throw .malformedStatusLine }
        let number =
            UInt16(bytes[code] &- 0x30) &* 100 &+ UInt16(bytes[code &+ 1] &- 0x30) &* 10
            &+ UInt16(bytes[code &+ 2] &- 0x30)
        guard (100...599).contains(number) else { throw .statusOutOfRange }
        status = Status(rawValue: number)
        reason = min(code &+ 4, line.upperBound)..<line.upperBound
        statusLineRest = code &- 1..<line.upperBound &+ 2
    }

    /// Whether `Cache-Control: no-transform` forbids an intermediary to change the content (RFC 9110 section 7.7).
    /// `bytes` are the parsed bytes.
    public func forbidsTransformation(_ bytes: Span<UInt8>) -> Bool {
        for field in fields where bytes.extracting(field.name).equalsIgnoringCase("cache-control") {
            var list = ListReader(field.value)
            while let directive = list.next(bytes) {
                if bytes.extracting(directive).equalsIgnoringCase("no-transform") { return true }
            }
        }
        return false
    }

    /// The frames of HTTP/2 (RFC 9113 section 4.1), just enough to recognise a server that supports only HTTP/2.
    fileprivate enum HTTP2Frame {
        private static let settings: UInt8 = 4
        private static let goAway: UInt8 = 7

        /// Whether the bytes begin with the first frame of a server: SETTINGS (section 3.4), or GOAWAY after a missing
        /// preface. Nil if more bytes are needed.
        static func begins(_ bytes: Span<UInt8>) -> Bool? {
            // Neither frame is longer than 64 KiB. After the length: the type, and stream 0.
            let places = [0: 0, 5: 0, 6: 0, 7: 0, 8: 0] as KeyValuePairs<Int, UInt8>
            for (place, value) in places where place < bytes.count && bytes[place] != value { return false }
            if bytes.count > 3, bytes[3] != settings, bytes[3] != goAway { return false }
            return bytes.count < 9 ? nil : true
        }
    }
}
