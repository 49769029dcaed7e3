import Bytes
import HTTP

/// The formats `common` and `combined` of Apache httpd 2.4: `%h %l %u %t "%r" %>s %b`, in `combined` followed by
/// `"%{Referer}i" "%{User-Agent}i"`. There is one difference: Apache writes blanks in a user's name, where they look
/// like the separator of fields; here they are `\x20`.
extension AccessLogEncoder {
    func appendCommon(_ record: ExchangeRecord, at time: WallTime, to line: ByteBuffer) {
        let text = record.text
        line.append(text.readable.extracting(record.clientRange))
        line.append(" - ")
        switch record.facts.user {
        case nil: line.append(UInt8(ascii: "-"))
        case "": line.append(#""""#)
        case let user?: line.append(apache: user.utf8Span.span, unquoted: true)
        }
        // Apache logs the time when the request arrived.
        let second = timeText(of: max(0, time - Milliseconds(record.milliseconds)))
        line.append(" [")
        line.append(second.readable)
        line.append("] \"")
        if record.ranges.method.isEmpty {
            line.append(UInt8(ascii: "-"))
        } else {
            line.append(apache: text.readable.extracting(record.ranges.method))
            line.append(.space)
            line.append(record.targetScheme)
            line.append(apache: text.readable.extracting(record.ranges.host))
            line.append(portOf: record)
            line.append(apache: text.readable.extracting(record.ranges.path))
            switch record.facts.version {
            case .http10: line.append(" HTTP/1.0")
            case .http11: line.append(" HTTP/1.1")
            case .http2: line.append(" HTTP/2.0")
            }
        }
        line.append("\" ")
        line.append(known: record.facts.status)
        line.append(.space)
        line.append(known: record.facts.bytesOut)
    }

    func appendAgent(_ record: ExchangeRecord, to line: ByteBuffer) {
        line.append(" \"")
        append(record.ranges.referer, of: record, to: line)
        line.append("\" \"")
        append(record.ranges.agent, of: record, to: line)
        line.append(.quote)
    }

    /// Appends a field's value, or `-` for none.
    private func append(_ value: Range<Int>?, of record: ExchangeRecord, to line: ByteBuffer) {
        let text = record.text
        guard let value else { return line.append(UInt8(ascii: "-")) }
        line.append(apache: text.readable.extracting(value))
    }
}

extension ByteBuffer {
    /// Appends a number, or `-` if it is not above 0.
    fileprivate func append(known number: Int) {
        if number > 0 { append(decimal: number) } else { append(UInt8(ascii: "-")) }
    }
}
