import Bytes

/// Follows a chunked body (RFC 9112 section 7.1) to its end, either decoding it (`next`) or only watching it pass
/// (`pass`). It consumes size lines, line ends and trailer lines whole: what is left of one is shown to it again with
/// more bytes behind it. A failed decoder stays failed.
///
/// Refused, beside what the grammar refuses: white space around a chunk size, which the grammar tolerates before an
/// extension and parsers read differently, and trailer fields that control a message.
public struct ChunkedDecoder: Sendable {
    public enum Step: Sendable {
        /// Everything before `consumed` is done with; the rest needs more bytes behind it.
        case needsMore(consumed: Int)
        /// Content; go on behind it.
        case data(Range<Int>)
        /// A line of the trailer section; go on behind it.
        case trailer(Field)
        /// The body ended before `consumed`; what follows is not its.
        case end(consumed: Int)
    }

    private enum State: Sendable {
        /// Awaiting the end of a size line, of which `scanned` bytes are known to hold none; becomes `.data`, or
        /// `.trailers` after size 0.
        case size(scanned: Int)
        /// Awaiting `remaining` bytes, at least one, of a chunk; becomes `.dataEnd`.
        case data(remaining: Int)
        /// Awaiting the line end behind a chunk; becomes `.size`.
        case dataEnd
        /// Awaiting the end of a trailer line, or the empty line; becomes `.ended`. `size` and `count` of what came.
        case trailers(scanned: Int, size: Int, count: Int)
        /// The body is over. Stays.
        case ended
        /// The body was refused. Stays.
        case failed(Defect)
    }

    private let fault: HTTPError.Fault
    private let limits: Limits
    private var state = State.size(scanned: 0)

    /// `fault` is whose body it is.
    public init(fault: HTTPError.Fault, limits: Limits) {
        self.fault = fault
        self.limits = limits
    }

    public var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// How many bytes, from the first, belong to the body and may be relayed as they are. The others are shown again
    /// at the next call, before what came later; once `isEnded`, they are the next message's.
    public mutating func pass(_ bytes: Span<UInt8>) throws(HTTPError) -> Int {
        var offset = 0
        while true {
            switch try next(bytes, from: offset) {
            case .needsMore(let consumed), .end(let consumed): return consumed
            case .data(let range): offset = range.upperBound
            case .trailer(let field): offset = field.line.upperBound
            }
        }
    }

    /// The next piece of the body at `offset`.
    public mutating func next(_ bytes: Span<UInt8>, from offset: Int) throws(HTTPError) -> Step {
        do throws(Defect) {
            return try step(bytes, from: offset)
        } catch {
            state = .failed(error)
            throw HTTPError(fault, error)
        }
    }

    private mutating func step(_ bytes: Span<UInt8>, from start: Int) throws(Defect) -> Step {
        var offset = start
        while true {
            switch state {
            case .size(let scanned):
                guard let line = try sizeLine(bytes, from: offset, scanned: scanned) else {
                    return .needsMore(consumed: offset)
                }
                let size = try size(bytes, in: line)
                offset = line.upperBound &+ 2
                state = size > 0 ? .data(remaining: size) : .trailers(scanned: 0, size: 0, count: 0)
            case .data(let remaining):
                let available = min(remaining, bytes.count &- offset)
                guard available > 0 else { return .needsMore(consumed: offset) }
                state = available < remaining ? .data(remaining: remaining &- available) : .dataEnd
                return .data(offset..<offset &+ available)
            case .dataEnd:
                guard try isLineEnd(bytes, at: offset) else { return .needsMore(consumed: offset) }
                offset &+= 2
                state = .size(scanned: 0)
            case .trailers(let scanned, let size, let count):
                return try trailer(bytes, from: offset, scanned: scanned, size: size, count: count)
            case .ended: return .end(consumed: offset)
            case .failed(let defect): throw defect
            }
        }
    }

    private mutating func sizeLine(
        _ bytes: Span<UInt8>, from start: Int, scanned: Int
    ) throws(Defect) -> Range<Int>? {
        let limit = start &+ limits.chunkSizeDigits &+ limits.chunkExtension &+ 2
        var reader = LineReader(start: start, scanned: start &+ scanned)
        let tooLong = Defect.chunkExtensionTooLong(limit: limits.chunkExtension)
        let line = try reader.next(bytes, limit: limit, or: tooLong)
        if line == nil { state = .size(scanned: reader.scanned &- start) }
        return line
    }

    private func size(_ bytes: Span<UInt8>, in line: Range<Int>) throws(Defect) -> Int {
        var size = 0
        var offset = line.lowerBound
        while offset < line.upperBound, let digit = bytes[offset].hexValue {
            guard size <= Int.max >> 4, offset &- line.lowerBound < limits.chunkSizeDigits else {
                throw .chunkSizeTooLarge
            }
            size = size << 4 | Int(digit)
            offset &+= 1
        }
        guard offset > line.lowerBound, offset == line.upperBound || bytes[offset] == .semicolon else {
            throw .malformedChunkSize
        }
        guard line.upperBound &- offset <= limits.chunkExtension else {
            throw .chunkExtensionTooLong(limit: limits.chunkExtension)
        }
        return size
    }

    private func isLineEnd(_ bytes: Span<UInt8>, at offset: Int) throws(Defect) -> Bool {
        guard offset < bytes.count else { return false }
        guard bytes[offset] == .carriageReturn else { throw .malformedChunkEnd }
        guard offset &+ 1 < bytes.count else { return false }
        guard bytes[offset &+ 1] == .lineFeed else { throw .malformedChunkEnd }
        return true
    }

    private mutating func trailer(
        _ bytes: Span<UInt8>, from start: Int, scanned: Int, size: Int, count: Int
    ) throws(Defect) -> Step {
        let tooLarge = Defect.trailersTooLarge(limit: limits.trailers)
        var reader = LineReader(start: start, scanned: start &+ scanned)
        guard let line = try reader.next(bytes, limit: start &+ limits.trailers &- size, or: tooLarge) else {
            state = .trailers(scanned: reader.scanned &- start, size: size, count: count)
            return .needsMore(consumed: start)
        }
        let end = line.upperBound &+ 2
        if line.isEmpty {
            state = .ended
            return .end(consumed: end)
        }
        guard count < limits.trailerFields else { throw .tooManyFields(limit: limits.trailerFields) }
        let field = try Field(bytes, line: line)
        if FieldSet.forbiddenInTrailers.contains(field.known) { throw .forbiddenTrailer }
        state = .trailers(scanned: 0, size: size &+ end &- start, count: count &+ 1)
        return .trailer(field)
    }
}
