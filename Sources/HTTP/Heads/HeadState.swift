import Bytes

/// Where the parser of one head stands.
enum HeadState {
    /// Awaiting the end of the start line; becomes `.fields`. `emptyLines` came before it.
    case startLine(LineReader, emptyLines: Int)
    /// Awaiting the end of a field line, or the empty line; becomes `.complete`.
    case fields(LineReader)
    /// Awaiting the end of a head that is not as RFC 9112 wants it; becomes `.startLine` of the head that is made of it.
    /// Responses only.
    case lenient(LineReader)
    /// The whole head has been read and found good. Stays.
    case complete(length: Int)
    /// The head was refused. Stays.
    case failed(Defect)

    static var initial: HeadState { .startLine(LineReader(), emptyLines: 0) }

    /// The lines up to the empty one, into `fields`. Returns whether the head is whole.
    mutating func readFields(
        _ bytes: Span<UInt8>, from reader: LineReader, limits: Limits, into fields: FieldTable
    ) throws(Defect) -> Bool {
        var reader = reader
        if reader.isAtStart, fields.isEmpty {
            if let end = fields.recall(bytes, from: reader.start, limits: limits) {
                self = .complete(length: end)
                return true
            }
            let next = fields.readLines(bytes, from: reader.start, limits: limits)
            if bytes.isLineEnd(at: next), next &+ 2 <= limits.head {
                fields.remember(bytes, from: reader.start, to: next &+ 2)
                self = .complete(length: next &+ 2)
                return true
            }
            reader.advance(to: next)
        }
        return try readOn(bytes, from: reader, limits: limits, into: fields)
    }

    /// The same where they are not there to the end, or one of them is unusual.
    private mutating func readOn(
        _ bytes: Span<UInt8>, from reader: LineReader, limits: Limits, into fields: FieldTable
    ) throws(Defect) -> Bool {
        var reader = reader
        while true {
            if reader.isAtStart {
                let next = fields.readLines(bytes, from: reader.start, limits: limits)
                if bytes.isLineEnd(at: next), next &+ 2 <= limits.head {
                    self = .complete(length: next &+ 2)
                    return true
                }
                reader.advance(to: next)
            }
            // Not a field line that is whole and good: what else, or what is wrong with it?
            guard let line = try reader.next(bytes, limit: limits.head, or: .headTooLarge(limit: limits.head)) else {
                self = .fields(reader)
                return false
            }
            if line.isEmpty {
                self = .complete(length: line.upperBound &+ 2)
                return true
            }
            guard fields.count < limits.fields else { throw .tooManyFields(limit: limits.fields) }
            if fields.isEmpty, bytes[line.lowerBound].isBlank { throw .blankBeforeFirstField }
            let next = fields.readLines(bytes, from: line.lowerBound, limits: limits)
            guard next > line.lowerBound else { throw Field.defect(bytes, line: line) }
            reader.advance(to: next)
        }
    }
}

/// A head parser's verdict on the bytes it has been shown.
public enum HeadProgress: Equatable, Sendable {
    /// The head is not whole; show it the same bytes again with more behind them.
    case needsMore
    /// The head is the first `length` bytes; the rest is the body's.
    case complete(length: Int)
}
