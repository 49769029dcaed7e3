import Bytes

/// The state of a head parser.
enum HeadState {
    /// Awaits the end of the start line; becomes `.fields`. `emptyLines` empty lines preceded it.
    case startLine(LineReader, emptyLines: Int)
    /// Awaits the end of a field line, or the empty line; becomes `.complete`.
    case fields(LineReader)
    /// Awaits the end of a head that violates RFC 9112; becomes `.startLine` of the repaired head. Responses only.
    case lenient(LineReader)
    /// The complete head was read and is valid. Stays.
    case complete(length: Int)
    /// The head was refused. Stays.
    case failed(Defect)

    static var initial: HeadState { .startLine(LineReader(), emptyLines: 0) }

    /// Reads the lines up to the empty one into `fields`. Returns whether the head is complete.
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

    /// Reads the lines if they are incomplete, or if one of them is unusual.
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
            // The line is not a complete and valid field line: find out what it is.
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

/// The result of a head parser for the bytes so far.
public enum HeadProgress: Equatable, Sendable {
    /// The head is incomplete; pass the same bytes again with more after them.
    case needsMore
    /// The head is in the first `length` bytes; the rest belongs to the body.
    case complete(length: Int)
}
