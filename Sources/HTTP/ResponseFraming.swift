import Bytes

/// Where the body of a response ends, and what its fields say of that.
struct ResponseFraming {
    /// What is read.
    var body = BodyFraming.none
    /// What the fields say; of a response that has no body, such as one to HEAD, it tells what the body would be.
    var stated = BodyFraming.none
    /// Nothing in them but what every server writes. Else no second response is expected to begin where this one ends.
    var isRegular = true
    /// `Content-Length` says it more than once, or with leading zeros, which some programs take for an octal number.
    var lengthIsOdd = false
}

extension ResponseFraming {
    /// Steps 1 to 8 of RFC 9112 section 6.3 for a response to `method`. `Content-Length` values that agree are accepted:
    /// some origins repeat theirs, and only one is passed on. A list with empty elements is as good as one without: the
    /// client gets what we write.
    init(
        _ bytes: Span<UInt8>, version: Version, status: Status, to method: Method, fields: FieldTable
    ) throws(Defect) {
        if method == .connect, status.isSuccessful { return }
        if status.rawValue < 200 || status == .noContent { return }
        // Checked also where there is no body: what they say goes to the client.
        if let field = fields.first(.transferEncoding) {
            stated = try BodyFraming.codings(bytes, version: version, fields: fields)
            isRegular = BodyFraming.isChunkedAlone(bytes, field, fields)
        } else if let field = fields.first(.contentLength) {
            stated = .length(try agreedLength(bytes, field, fields))
        } else {
            stated = .untilClose
        }
        if method != .head, status != .notModified { body = stated }
    }

    private mutating func agreedLength(
        _ bytes: Span<UInt8>, _ field: Field, _ fields: FieldTable
    ) throws(Defect) -> Int {
        let first = try length(bytes, in: field.value)
        guard fields.repeated.contains(.contentLength) else { return first }
        lengthIsOdd = true
        for other in fields where other.known == .contentLength {
            guard try length(bytes, in: other.value) == first else { throw .repeatedContentLength }
        }
        return first
    }

    /// One number, or several that agree (RFC 9110 section 8.6).
    private mutating func length(_ bytes: Span<UInt8>, in value: Range<Int>) throws(Defect) -> Int {
        if value.count > 1, bytes[value.lowerBound] == 0x30 { lengthIsOdd = true }
        do throws(Defect) { return try BodyFraming.length(bytes, in: value) } catch {
            guard let comma = bytes.firstIndex(of: .comma, in: value) else { throw error }
            return try list(bytes, in: value, to: comma)
        }
    }

    private mutating func list(_ bytes: Span<UInt8>, in value: Range<Int>, to comma: Int) throws(Defect) -> Int {
        var end = comma
        isRegular = false
        lengthIsOdd = true
        let first = try BodyFraming.length(bytes, in: bytes.trimmingBlanks(value.lowerBound..<end))
        while end < value.upperBound {
            let start = end &+ 1
            end = bytes.firstIndex(of: .comma, in: start..<value.upperBound) ?? value.upperBound
            let next = try BodyFraming.length(bytes, in: bytes.trimmingBlanks(start..<end))
            guard next == first else { throw .repeatedContentLength }
        }
        return first
    }
}
