import Bytes
import HTTP

/// Makes the text of an HTTP/1.1 response from the fields of HEADERS (RFC 9113 section 8.3.2). The parser of HTTP/1.1
/// responses then judges it like any other. Nothing is repaired: what could change the text's meaning is a defect.
///
/// One object serves all responses of a connection, as no other frame comes between those of a field section.
final class ReceivedResponse {
    private let fields: ReceivedFields
    private var status: Status?

    init(limits: Limits) { fields = ReceivedFields(limits: limits) }

    /// Prepares for the next response.
    func reset() {
        fields.reset()
        status = nil
    }

    /// Whether the list is so much larger than allowed that its connection should end.
    var isExcessive: Bool { fields.isExcessive }

    /// The value of `content-length`, in bytes; nil if it is absent or no number.
    var contentLength: Int? { fields.contentLength }

    func note(_ defect: Defect) { fields.note(defect) }

    /// Adds a field of the list.
    func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        fields.count(name, value)
        guard fields.defect == nil else { return }
        if !name.isEmpty, name[0] == .colon { return addPseudo(name, value) }
        if fields.check(name, value) { fields.add(name, value) }
    }

    private func addPseudo(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        // A pseudo-field behind a field is malformed (section 8.3).
        guard status == nil, fields.lines.isEmpty, !fields.hasContentLength, name.equals(":status" as StaticString)
        else { return note(.malformedPseudoField) }
        guard value.count == 3, value[0].isDigit, value[1].isDigit, value[2].isDigit else {
            return note(.malformedStatusLine)
        }
        var number: UInt16 = 0
        for place in value.indices { number = number &* 10 &+ UInt16(value[place] &- 0x30) }
        // Switching to another protocol does not exist in HTTP/2 (section 8.6).
        guard (100...599).contains(number), number != Status.switchingProtocols.rawValue else {
            return note(.statusOutOfRange)
        }
        status = Status(rawValue: number)
    }

    /// Writes the head.
    /// - Parameters:
    ///   - method: that of the request.
    ///   - endsWithHead: whether HEADERS ended the stream, so that no body follows.
    /// - Returns: the status, and how the body must be written.
    func write(
        to text: ByteBuffer, answering method: Method, endsWithHead: Bool
    ) throws(Defect) -> (status: Status, framing: ReceivedFraming) {
        if let defect = fields.defect { throw defect }
        guard let status else { throw .malformedPseudoField }
        guard !endsWithHead || !status.isInterim else { throw .incomplete }
        text.append("HTTP/1.1 " as StaticString)
        text.append(decimal: Int(status.rawValue))
        // Clients of HTTP/1.1 may show it, or fail without it, as h2load does.
        text.append(" " as StaticString)
        text.append(status.reason)
        text.appendLineEnd()
        let lines = fields.lines
        text.append(lines.readable)
        let framing = try appendFraming(to: text, of: status, answering: method, endsWithHead)
        text.appendLineEnd()
        return (status, framing)
    }

    private func appendFraming(
        to text: ByteBuffer, of status: Status, answering method: Method, _ endsWithHead: Bool
    ) throws(Defect) -> ReceivedFraming {
        if method == .connect, status.isSuccessful { return .raw }
        if status.isInterim || status == .noContent { return .none }
        if method == .head || status == .notModified {
            fields.appendLength(to: text)
            return .none
        }
        if endsWithHead {
            guard !fields.hasContentLength || fields.contentLength == 0 else { throw .incomplete }
            text.append("content-length: 0\r\n" as StaticString)
            return .none
        }
        // Trailers would have no place behind a body with a length.
        if fields.hasContentLength, !fields.isGRPC {
            fields.appendLength(to: text)
            return .length
        }
        text.append("transfer-encoding: chunked\r\n" as StaticString)
        return .chunked
    }
}
