import Bytes

/// Where the body of a message ends (RFC 9112 section 6.3).
///
/// Two recipients that decide this differently can be made to see different messages, so nothing is repaired: a head
/// that does not say one clear thing is refused, also where the RFC lets a recipient guess.
public enum BodyFraming: Equatable, Sendable {
    /// No body, whatever the fields say.
    case none
    case length(Int)
    case chunked
    /// Until the connection closes: responses only.
    case untilClose

    /// Steps 3 to 7 for a request. A `Content-Length` list or repetition is refused even if all values agree: no
    /// client sends one, and step 5 merely allows to accept it. So is a `Transfer-Encoding` with empty elements, which says
    /// `chunked` by its grammar, and which servers read differently.
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

    /// The only transfer coding we do is `chunked`, alone (RFC 9112 section 6.1). `untilClose` stands for `identity`, which
    /// RFC 2616 section 3.6 had for a body without any.
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

    /// Whether the field is that one word on one line.
    static func isChunkedAlone(_ bytes: Span<UInt8>, _ field: Field, _ fields: FieldTable) -> Bool {
        !fields.repeated.contains(.transferEncoding) && bytes.extracting(field.value).equalsIgnoringCase("chunked")
    }

    /// Whether the field is the word `identity` on one line, by which old servers say beside `Content-Length` that the body
    /// has no transfer coding (RFC 2616 section 4.4).
    static func isIdentityAlone(_ bytes: Span<UInt8>, _ field: Field, _ fields: FieldTable) -> Bool {
        !fields.repeated.contains(.transferEncoding) && bytes.extracting(field.value).equalsIgnoringCase("identity")
    }

    /// Digits only (RFC 9110 section 8.6), up to what a signed 64-bit number holds.
    static func length(_ bytes: Span<UInt8>, in value: Range<Int>) throws(Defect) -> Int {
        guard !value.isEmpty else { throw .malformedContentLength }
        var length = 0
        if value.count <= 18 {
            // Too few digits to overflow.
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

/// Where the body of a response ends, and what its fields say of that.
struct ResponseFraming {
    /// The framing by which the body is read.
    var body = BodyFraming.none
    /// The framing that the fields announce, also of a response that has no body, such as one to HEAD.
    var stated = BodyFraming.none
    /// Nothing in them but what every server writes. Else no second response is expected to begin where this one ends.
    var isRegular = true
    /// `Content-Length` says it more than once, or with leading zeros, which some programs take for an octal number.
    var lengthIsOdd = false
}

extension ResponseFraming {
    /// Steps 1 to 8 of RFC 9112 section 6.3 for a response to `method`. `Content-Length` values that agree are accepted:
    /// some origins repeat theirs, and only one is passed on. A list with empty elements is as good as one without: the
    /// client gets what we write. `identity` beside `Content-Length` changes nothing: the client gets the length alone, and
    /// nothing behind the body is read as another response.
    init(
        _ bytes: Span<UInt8>, version: Version, status: Status, to method: Method, fields: FieldTable
    ) throws(Defect) {
        if method == .connect, status.isSuccessful { return }
        if status.rawValue < 200 || status == .noContent { return }
        // Checked also where there is no body: the client gets these fields.
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
