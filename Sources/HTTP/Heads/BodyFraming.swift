import Bytes

/// The end of a message's body (RFC 9112 section 6.3).
///
/// Two recipients that decide this differently can be made to see different messages. So nothing is repaired: an
/// ambiguous head is refused, even if the RFC allows a recipient to guess.
public enum BodyFraming: Equatable, Sendable {
    /// There is no body, independent of the fields.
    case none
    case length(Int)
    case chunked
    /// The body ends when the connection closes: responses only.
    case untilClose

    /// Steps 3 to 7 for a request. A `Content-Length` list or repetition is refused even with equal values: no client
    /// sends one, and step 5 merely allows to accept it. A `Transfer-Encoding` with empty elements is refused too: its
    /// grammar allows it to mean `chunked`, but servers read it differently.
    static func ofRequest(
        _ bytes: Span<UInt8>, version: Version, fields: FieldTable
    ) throws(Defect) -> BodyFraming {
        if let field = fields.first(.transferEncoding) {
            guard case .chunked = try codings(bytes, version: version, fields: fields) else {
                throw .unsupportedTransferCoding
            }
            guard isChunkedAlone(bytes, field, fields) else { throw .malformedTransferEncoding }
            return .chunked
        }
        guard let field = fields.first(.contentLength) else { return .none }
        if fields.repeated.contains(.contentLength) { throw .repeatedContentLength }
        return .length(try length(bytes, in: field.value))
    }

    /// The only supported transfer coding is `chunked`, alone (RFC 9112 section 6.1). `untilClose` represents
    /// `identity`, which in RFC 2616 section 3.6 meant a body without a coding.
    static func codings(
        _ bytes: Span<UInt8>, version: Version, fields: FieldTable
    ) throws(Defect) -> BodyFraming {
        if fields.present.contains(.contentLength) { throw .contentLengthAndTransferEncoding }
        if version < .http11 { throw .transferEncodingInVersion10 }
        var codings = 0
        var chunked = 0
        var last = 0..<0
        for field in fields where field.known == .transferEncoding {
            var list = ListReader(field.value)
            while let coding = list.next(bytes) {
                guard bytes.endOfToken(in: coding) == coding.upperBound else {
                    throw .malformedTransferEncoding
                }
                codings += 1
                last = coding
                if bytes.extracting(coding).equalsIgnoringCase("chunked") { chunked += 1 }
            }
        }
        if codings == 0 { throw .malformedTransferEncoding }
        let chunkedIsLast = bytes.extracting(last).equalsIgnoringCase("chunked")
        if chunked > 1 || chunked == 1 && !chunkedIsLast { throw .chunkedNotFinal }
        if codings == 1, bytes.extracting(last).equalsIgnoringCase("identity") { return .untilClose }
        guard codings == 1, chunkedIsLast else { throw .unsupportedTransferCoding }
        return .chunked
    }

    /// Whether the field is the word `chunked` alone, on one line.
    static func isChunkedAlone(_ bytes: Span<UInt8>, _ field: Field, _ fields: FieldTable) -> Bool {
        !fields.repeated.contains(.transferEncoding) && bytes.extracting(field.value).equalsIgnoringCase("chunked")
    }

    /// Whether the field is the word `identity` alone, on one line. With it, beside `Content-Length`, old servers say
    /// that the body has no transfer coding (RFC 2616 section 4.4).
    static func isIdentityAlone(_ bytes: Span<UInt8>, _ field: Field, _ fields: FieldTable) -> Bool {
        !fields.repeated.contains(.transferEncoding) && bytes.extracting(field.value).equalsIgnoringCase("identity")
    }

    /// Reads a number of digits only (RFC 9110 section 8.6), up to the largest signed 64-bit number.
    public static func length(_ bytes: Span<UInt8>, in value: Range<Int>) throws(Defect) -> Int {
        guard !value.isEmpty else { throw .malformedContentLength }
        var length = 0
        if value.count <= 18 {
            // So few digits cannot overflow.
            var offset = value.lowerBound
            while offset < value.upperBound {
                let digit = bytes[offset] &- 0x30
                guard digit < 10 else { throw .malformedContentLength }
                length = length &* 10 &+ Int(digit)
                offset &+= 1
            }
            return length
        }
        for offset in value {
            guard bytes[offset].isDigit else { throw .malformedContentLength }
            let (scaled, overflow) = length.multipliedReportingOverflow(by: 10)
            let (sum, carry) = scaled.addingReportingOverflow(Int(bytes[offset] &- 0x30))
            guard !overflow, !carry else { throw .malformedContentLength }
            length = sum
        }
        return length
    }
}

extension ResponseHead {
    /// The end of a response's body, and the framing that its fields announce.
    struct Framing {
        /// The framing by which the body is read.
        var body = BodyFraming.none
        /// The framing that the fields announce, also in a response without a body, such as one to HEAD.
        var stated = BodyFraming.none
        /// Whether the fields are as every server writes them. If not, no second response is expected after this one.
        var isRegular = true
        /// Whether `Content-Length` is repeated or has leading zeros, which some programs read as octal.
        var lengthIsOdd = false
    }
}

extension ResponseHead.Framing {
    /// Steps 1 to 8 of RFC 9112 section 6.3 for a response to `method`. Equal `Content-Length` values are accepted:
    /// some origins repeat theirs, and only one is passed on. Empty list elements are accepted too, since the client
    /// gets our own field. `identity` beside `Content-Length` changes nothing: the client gets the length alone, and
    /// bytes after the body are not read as another response.
    init(
        _ bytes: Span<UInt8>, version: Version, status: Status, to method: Method, fields: FieldTable
    ) throws(Defect) {
        if method == .connect, status.isSuccessful { return }
        if status.rawValue < 200 || status == .noContent { return }
        // Checked also without a body, since the client gets these fields.
        if let field = fields.first(.transferEncoding) {
            if let length = fields.first(.contentLength), version >= .http11,
                BodyFraming.isIdentityAlone(bytes, field, fields)
            {
                stated = .length(try agreedLength(bytes, length, fields))
                isRegular = false
            } else {
                stated = try BodyFraming.codings(bytes, version: version, fields: fields)
                isRegular = BodyFraming.isChunkedAlone(bytes, field, fields)
            }
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

    /// Reads one number, or several equal ones (RFC 9110 section 8.6).
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
