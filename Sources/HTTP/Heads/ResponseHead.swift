import Bytes

/// A response's head, read as strictly as a request's, but for what old servers write (`LenientHead`). Everything is an
/// offset into the bytes that were parsed.
///
/// One object serves a connection's whole life: `reset` keeps its room.
public final class ResponseHead {
    public let limits: Limits
    private var state = HeadState.initial

    public private(set) var version = Version.http11
    public private(set) var status = Status.ok
    /// May be empty.
    public private(set) var reason = 0..<0
    /// The status line from behind the version to its end, with its line end.
    private(set) var statusLineRest = 0..<0
    public let fields: FieldTable
    public var framing: BodyFraming { said.body }
    private(set) var said = ResponseFraming()
    public private(set) var options: ConnectionOptions = []
    /// Whether the upstream's connection can carry another request once this body has been read to its end.
    public private(set) var keepAlive = false
    /// The head was made of one that is not as RFC 9112 wants it.
    private var isMended = false
    /// It is understood, but no second response is expected to begin where this one ends.
    public var isIrregular: Bool { isMended || !said.isRegular }

    public init(limits: Limits = .response) {
        self.limits = limits
        fields = FieldTable(limits: limits)
    }

    /// Forgets the head that was read and makes ready for the next.
    public func reset() {
        state = .initial
        fields.removeAll()
        said = ResponseFraming()
        options = []
        keepAlive = false
        isMended = false
    }

    /// Reads on, from a buffer that begins where the head begins. What old servers write is replaced there by what it
    /// means, and the head is read from that.
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

    /// - Returns: whether the head was whole.
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

    /// Reads on, as `RequestHead.parse` does. `method` is that of the request which is answered: it decides whether
    /// there is a body.
    public func parse(_ bytes: Span<UInt8>, answering method: Method) throws(HTTPError) -> HeadProgress {
        do throws(Defect) {
            return try advance(bytes, method)
        } catch {
            var error = error
            if case .startLine = state, error == .controlCharacter {
                guard let isFrame = HTTP2Frame.begins(bytes) else { return .needsMore }
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
        said = try ResponseFraming(bytes, version: version, status: status, to: method, fields: fields)
        let persists = fields.present.contains(.proxyConnection) ? proxyOptions(bytes) : options
        keepAlive =
            framing != .untilClose && !isIrregular && !persists.contains(.close)
            && (version >= .http11 || persists.contains(.keepAlive))
        return .complete(length: length)
    }

    /// A proxy that speaks of the connection in a field of its own is believed when it wants to end it; that it keeps it, in
    /// HTTP/1.0, only where nobody but a proxy can have said so.
    private func proxyOptions(_ bytes: Span<UInt8>) -> ConnectionOptions {
        let said = ConnectionOptions.proxyConnection(bytes, fields: fields)
        if said.contains(.close) || status == .proxyAuthenticationRequired { return options.union(said) }
        return options
    }

    /// The usual status line, when it is there to its end, in one go. Returns where the next line begins; nil when the
    /// line has to be looked at more closely.
    private func readWholeStatusLine(_ bytes: Span<UInt8>) -> Int? {
        guard bytes.holds("HTTP/1.1", at: 0), bytes.count >= 16 else { return nil }
        // " 200 OK\r"
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

    /// RFC 9112 section 4. The space behind the code is required, but servers without a phrase leave it out, and
    /// nothing hangs on it.
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
}

extension ResponseHead {
    /// Whether `Cache-Control: no-transform` keeps an intermediary from changing the content (RFC 9110 section 7.7).
    /// `bytes` are those that were parsed.
    public func forbidsTransformation(_ bytes: Span<UInt8>) -> Bool {
        for field in fields where bytes.extracting(field.name).equalsIgnoringCase("cache-control") {
            var list = ListReader(field.value)
            while let directive = list.next(bytes) {
                if bytes.extracting(directive).equalsIgnoringCase("no-transform") { return true }
            }
        }
        return false
    }
}

/// The frames of HTTP/2 (RFC 9113 section 4.1), as far as they tell that a server speaks nothing else.
private enum HTTP2Frame {
    private static let settings: UInt8 = 4
    private static let goAway: UInt8 = 7

    /// Whether the bytes begin with a frame that a server sends first: SETTINGS (section 3.4), or GOAWAY for want of a
    /// preface. Nil when more bytes are needed to tell.
    static func begins(_ bytes: Span<UInt8>) -> Bool? {
        // Neither is longer than 64 KiB. Behind the length: the type, and stream 0.
        let places = [0: 0, 5: 0, 6: 0, 7: 0, 8: 0] as KeyValuePairs<Int, UInt8>
        for (place, value) in places where place < bytes.count && bytes[place] != value { return false }
        if bytes.count > 3, bytes[3] != settings, bytes[3] != goAway { return false }
        return bytes.count < 9 ? nil : true
    }
}
