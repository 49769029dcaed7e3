import Bytes

/// Follows a chunked body (RFC 9112 section 7.1) to its end, either decoding it (`next`) or only watching it (`pass`).
/// It consumes size lines, line ends and trailer lines completely. The rest of an incomplete one must be passed again,
/// with more bytes after it. A failed decoder stays failed.
///
/// It refuses more than the grammar does: white space around a chunk size, which parsers read differently, and trailer
/// fields that control a message. Bodies of upstreams may contain what old servers write: white space after a size,
/// bare line feeds, and trailers that are folded or have a blank before the colon (see `LenientHead`). `pass(_:to:)`
/// writes them in the correct form.
public struct ChunkedDecoder: Sendable {
    public enum Step: Sendable {
        /// The bytes before `consumed` were consumed; the rest needs more bytes after it.
        case needsMore(consumed: Int)
        /// Content; continue after it.
        case data(Range<Int>)
        /// A line of the trailer section with its line end; continue after it.
        case trailer(Range<Int>)
        /// The body ended before `consumed`; the bytes after it do not belong to it.
        case end(consumed: Int)
    }

    private enum State: Sendable {
        /// Awaits the end of a size line, whose first `scanned` bytes contain no line end; becomes `.data`, or
        /// `.trailers` after size 0.
        case size(scanned: Int)
        /// Awaits `remaining` bytes, at least one, of a chunk; becomes `.dataEnd`.
        case data(remaining: Int)
        /// Awaits the line end after a chunk; becomes `.size`.
        case dataEnd
        /// Awaits the end of a trailer line, or the empty line; becomes `.ended`. `size` and `count` are those of the
        /// trailers so far.
        case trailers(scanned: Int, size: Int, count: Int)
        /// The body is complete. Stays.
        case ended
        /// The body was refused. Stays.
        case failed(Defect)
    }

    /// A part of the body that has arrived, up to `end`.
    private struct Piece {
        enum Kind {
            case needsMore
            case size(Int)
            case data
            case dataEnd
            /// Nil for a trailer that is not passed on.
            case trailer(LenientHead.RawField?)
            case end
        }

        let kind: Kind
        let end: Int
        /// Whether it may be passed on unchanged.
        var isRegular = true
    }

    private let fault: HTTPError.Fault
    private let limits: Limits
    private var state = State.size(scanned: 0)
    /// Whether a part violates RFC 9112, so that no second message is expected after this one.
    public private(set) var isIrregular = false

    /// - Parameter fault: the side that sends the body.
    public init(fault: HTTPError.Fault, limits: Limits) {
        self.fault = fault
        self.limits = limits
    }

    public var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    private var isLenient: Bool { fault == .upstream }

    /// Returns how many bytes at the front belong to the body. Pass the others again at the next call, before later
    /// bytes; once `isEnded`, they belong to the next message. Unless it `isIrregular`, the bytes may be relayed
    /// unchanged.
    public mutating func pass(_ bytes: Span<UInt8>) throws(HTTPError) -> Int {
        var offset = 0
        while true {
            switch try next(bytes, from: offset) {
            case .needsMore(let consumed), .end(let consumed): return consumed
            case .data(let range), .trailer(let range): offset = range.upperBound
            }
        }
    }

    /// Appends the bytes of the body in the form in which they may be relayed.
    /// - Returns: the number of bytes consumed, as for `pass`.
    public mutating func pass(_ bytes: Span<UInt8>, to buffer: ByteBuffer) throws(HTTPError) -> Int {
        var (offset, copied) = (0, 0)
        while true {
            let piece = try piece(of: bytes, from: offset)
            if !piece.isRegular {
                buffer.append(bytes.extracting(copied..<offset))
                Self.append(piece, of: bytes, to: buffer)
                copied = piece.end
            }
            offset = piece.end
            switch piece.kind {
            case .needsMore, .end:
                buffer.append(bytes.extracting(copied..<offset))
                return offset
            case .size, .data, .dataEnd, .trailer: break
            }
        }
    }

    private static func append(_ piece: Piece, of bytes: Span<UInt8>, to buffer: ByteBuffer) {
        switch piece.kind {
        case .needsMore, .data: return
        case .trailer(nil): return
        case .trailer(let field?): field.append(bytes, to: buffer)
        case .size(let size): buffer.append(hexadecimal: size)
        case .dataEnd, .end: break
        }
        buffer.append(literal: "\r\n")
    }

    /// Returns the next piece of the body at `offset`.
    public mutating func next(_ bytes: Span<UInt8>, from offset: Int) throws(HTTPError) -> Step {
        var offset = offset
        while true {
            let piece = try piece(of: bytes, from: offset)
            switch piece.kind {
            case .needsMore: return .needsMore(consumed: piece.end)
            case .size, .dataEnd: offset = piece.end
            case .data: return .data(offset..<piece.end)
            case .trailer: return .trailer(offset..<piece.end)
            case .end: return .end(consumed: piece.end)
            }
        }
    }

    private mutating func piece(of bytes: Span<UInt8>, from start: Int) throws(HTTPError) -> Piece {
        do throws(Defect) {
            let piece = try readPiece(bytes, from: start)
            if !piece.isRegular { isIrregular = true }
            return piece
        } catch {
            state = .failed(error)
            throw HTTPError(fault, error)
        }
    }

    private mutating func readPiece(_ bytes: Span<UInt8>, from start: Int) throws(Defect) -> Piece {
        switch state {
        case .size(let scanned):
            var reader = LineReader(start: start, scanned: start &+ scanned)
            let limit = start &+ limits.chunkSizeDigits &+ limits.chunkExtension &+ 2
            let tooLong = Defect.chunkExtensionTooLong(limit: limits.chunkExtension)
            guard let line = try nextLine(&reader, bytes, limit: limit, or: tooLong) else {
                state = .size(scanned: reader.scanned &- start)
                return Piece(kind: .needsMore, end: start)
            }
            return try readSize(bytes, in: line)
        case .data(let remaining):
            let available = min(remaining, bytes.count &- start)
            guard available > 0 else { return Piece(kind: .needsMore, end: start) }
            state = available < remaining ? .data(remaining: remaining &- available) : .dataEnd
            return Piece(kind: .data, end: start &+ available)
        case .dataEnd: return try readLineEnd(bytes, at: start)
        case .trailers(let scanned, let size, let count):
            return try readTrailer(bytes, from: start, scanned: scanned, size: size, count: count)
        case .ended: return Piece(kind: .end, end: start)
        case .failed(let defect): throw defect
        }
    }

    private func nextLine(
        _ reader: inout LineReader, _ bytes: Span<UInt8>, limit: Int, or defect: Defect
    ) throws(Defect) -> Range<Int>? {
        isLenient
            ? try reader.nextLenient(bytes, limit: limit, or: defect) : try reader.next(bytes, limit: limit, or: defect)
    }

    private mutating func readSize(_ bytes: Span<UInt8>, in line: Range<Int>) throws(Defect) -> Piece {
        var size = 0
        var offset = line.lowerBound
        while offset < line.upperBound, let digit = bytes[offset].hexValue {
            guard size <= Int.max >> 4, offset &- line.lowerBound < limits.chunkSizeDigits else {
                throw .chunkSizeTooLarge
            }
            size = size << 4 | Int(digit)
            offset &+= 1
        }
        let digitsEnd = offset
        if isLenient { while offset < line.upperBound, bytes[offset].isBlank { offset &+= 1 } }
        guard digitsEnd > line.lowerBound, offset == line.upperBound || bytes[offset] == .semicolon else {
            throw .malformedChunkSize
        }
        guard line.upperBound &- offset <= limits.chunkExtension else {
            throw .chunkExtensionTooLong(limit: limits.chunkExtension)
        }
        let endsInCRLF = bytes[line.upperBound] == .carriageReturn
        // Some programs take a line feed for a part of the extension.
        guard endsInCRLF || offset == line.upperBound else { throw .bareLineFeed }
        state = size > 0 ? .data(remaining: size) : .trailers(scanned: 0, size: 0, count: 0)
        let end = LineReader.lineEnd(behind: line, in: bytes)
        return Piece(kind: .size(size), end: end, isRegular: endsInCRLF && offset == digitsEnd)
    }

    private mutating func readLineEnd(_ bytes: Span<UInt8>, at offset: Int) throws(Defect) -> Piece {
        guard offset < bytes.count else { return Piece(kind: .needsMore, end: offset) }
        if isLenient, bytes[offset] == .lineFeed {
            state = .size(scanned: 0)
            return Piece(kind: .dataEnd, end: offset &+ 1, isRegular: false)
        }
        guard bytes[offset] == .carriageReturn else { throw .malformedChunkEnd }
        guard offset &+ 1 < bytes.count else { return Piece(kind: .needsMore, end: offset) }
        guard bytes[offset &+ 1] == .lineFeed else { throw .malformedChunkEnd }
        state = .size(scanned: 0)
        return Piece(kind: .dataEnd, end: offset &+ 2)
    }

    private mutating func readTrailer(
        _ bytes: Span<UInt8>, from start: Int, scanned: Int, size: Int, count: Int
    ) throws(Defect) -> Piece {
        let tooLarge = Defect.trailersTooLarge(limit: limits.trailers)
        var reader = LineReader(start: start, scanned: start &+ scanned)
        guard let line = try nextLine(&reader, bytes, limit: start &+ limits.trailers &- size, or: tooLarge) else {
            state = .trailers(scanned: reader.scanned &- start, size: size, count: count)
            return Piece(kind: .needsMore, end: start)
        }
        let end = LineReader.lineEnd(behind: line, in: bytes)
        let endsInCRLF = bytes[line.upperBound] == .carriageReturn
        if line.isEmpty {
            state = .ended
            return Piece(kind: .end, end: end, isRegular: endsInCRLF)
        }
        if limits.trailerFields == 0 { throw .forbiddenTrailer }
        guard count < limits.trailerFields else { throw .tooManyFields(limit: limits.trailerFields) }
        var piece = Piece(kind: .trailer(nil), end: end)
        if !isLenient {
            if FieldSet.forbiddenInTrailers.contains(try Field(bytes, line: line).known) { throw .forbiddenTrailer }
        } else if bytes[line.lowerBound].isBlank, count > 0 {
            piece.isRegular = false
        } else {
            // The next byte shows whether the field continues on the next line. It will come, since an empty line must
            // follow.
            guard end < bytes.count else {
                state = .trailers(scanned: line.upperBound &- start, size: size, count: count)
                return Piece(kind: .needsMore, end: start)
            }
            if bytes[line.lowerBound].isBlank { throw .foldedLine }
            let field = try LenientHead.RawField(bytes, line: line)
            if FieldSet.forbiddenInTrailers.contains(KnownField(bytes, in: field.name)) { throw .forbiddenTrailer }
            // A folded trailer is dropped, which RFC 9110 section 6.5.1 allows an intermediary.
            let isFolded = bytes[end].isBlank
            piece = Piece(
                kind: .trailer(isFolded ? nil : field), end: end,
                isRegular: endsInCRLF && !isFolded && field.isRegular(bytes))
        }
        state = .trailers(scanned: 0, size: size &+ end &- start, count: count &+ 1)
        return piece
    }
}
