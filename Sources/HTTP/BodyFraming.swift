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
    /// client sends one, and step 5 merely allows to accept it.
    static func ofRequest(
        _ bytes: Span<UInt8>, version: Version, fields: FieldTable
    ) throws(Defect) -> BodyFraming {
        if fields.present.contains(.transferEncoding) {
            return try chunked(bytes, version: version, fields: fields)
        }
        guard let field = fields.first(.contentLength) else { return .none }
        if fields.repeated.contains(.contentLength) { throw .repeatedContentLength }
        return .length(try length(bytes, in: field.value))
    }

    /// Steps 1 to 8 for a response to `method`. `Content-Length` lines that agree are accepted: some origins repeat
    /// theirs, and only one is passed on.
    static func ofResponse(
        _ bytes: Span<UInt8>, version: Version, status: Status, to method: Method, fields: FieldTable
    ) throws(Defect) -> BodyFraming {
        if method == .connect, status.isSuccessful { return .none }
        if status.rawValue < 200 || status == .noContent { return .none }
        // Checked also where there is no body: what they say goes to the client.
        let framing: BodyFraming
        if fields.present.contains(.transferEncoding) {
            framing = try chunked(bytes, version: version, fields: fields)
        } else if let length = try agreedLength(bytes, fields: fields) {
            framing = .length(length)
        } else {
            framing = .untilClose
        }
        return method == .head || status == .notModified ? .none : framing
    }

    private static func agreedLength(_ bytes: Span<UInt8>, fields: FieldTable) throws(Defect) -> Int? {
        guard let field = fields.first(.contentLength) else { return nil }
        let first = try length(bytes, in: field.value)
        guard fields.repeated.contains(.contentLength) else { return first }
        for other in fields where other.known == .contentLength {
            guard try length(bytes, in: other.value) == first else { throw .repeatedContentLength }
        }
        return first
    }

    /// Digits only (RFC 9110 section 8.6), up to what a signed 64-bit number holds.
    private static func length(_ bytes: Span<UInt8>, in value: Range<Int>) throws(Defect) -> Int {
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

    /// The only transfer coding we do is `chunked`, alone (RFC 9112 section 6.1).
    private static func chunked(
        _ bytes: Span<UInt8>, version: Version, fields: FieldTable
    ) throws(Defect) -> BodyFraming {
        if fields.present.contains(.contentLength) { throw .contentLengthAndTransferEncoding }
        if version < .http11 { throw .transferEncodingInVersion10 }
        var codings = 0
        var chunked = 0
        var chunkedIsLast = false
        for field in fields where field.known == .transferEncoding {
            var list = ListReader(field.value)
            while let coding = list.next(bytes) {
                guard bytes.endOfToken(in: coding) == coding.upperBound else {
                    throw .malformedTransferEncoding
                }
                codings += 1
                chunkedIsLast = bytes.extracting(coding).equalsIgnoringCase("chunked")
                if chunkedIsLast { chunked += 1 }
            }
        }
        if codings == 0 { throw .malformedTransferEncoding }
        if chunked > 1 || chunked == 1 && !chunkedIsLast { throw .chunkedNotFinal }
        guard codings == 1, chunked == 1 else { throw .unsupportedTransferCoding }
        return .chunked
    }
}
