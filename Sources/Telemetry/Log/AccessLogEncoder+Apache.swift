import Bytes

/// The formats `common` and `combined` as Apache httpd 2.4 writes them: `%h %l %u %t "%r" %>s %b`, and behind it
/// `"%{Referer}i" "%{User-Agent}i"`. One thing differs: Apache leaves blanks in a user's name, where they cannot be told from
/// those between two fields; here they are `\x20`.
extension AccessLogEncoder {
    func appendCommon(_ record: ExchangeRecord, at epochMilliseconds: Int, to line: ByteBuffer) {
        let text = record.text
        line.append(text.readable.extracting(record.clientRange))
        line.append(" - ")
        switch record.user {
        case nil: line.append(UInt8(ascii: "-"))
        case "": line.append(#""""#)
        case let user?: line.append(apache: user.utf8Span.span, unquoted: true)
        }
        // Apache tells when the request came.
        let time = timeText(ofSecond: max(0, epochMilliseconds - record.milliseconds) / 1000)
        line.append(" [")
        line.append(time.readable)
        line.append("] \"")
        if record.methodRange.isEmpty {
            line.append(UInt8(ascii: "-"))
        } else {
            line.append(apache: text.readable.extracting(record.methodRange))
            line.append(.space)
            line.append(record.targetScheme)
            line.append(apache: text.readable.extracting(record.hostRange))
            line.append(portOf: record)
            line.append(apache: text.readable.extracting(record.pathRange))
            line.append(record.minorVersion == 0 ? " HTTP/1.0" : " HTTP/1.1")
        }
        line.append("\" ")
        line.append(known: record.status)
        line.append(.space)
        line.append(known: record.bytesOut)
    }

    func appendAgent(_ record: ExchangeRecord, to line: ByteBuffer) {
        line.append(" \"")
        append(record.refererRange, of: record, to: line)
        line.append("\" \"")
        append(record.agentRange, of: record, to: line)
        line.append(.quote)
    }

    /// A field's value, or the sign for none.
    private func append(_ value: Range<Int>?, of record: ExchangeRecord, to line: ByteBuffer) {
        let text = record.text
        guard let value else { return line.append(UInt8(ascii: "-")) }
        line.append(apache: text.readable.extracting(value))
    }
}

extension ByteBuffer {
    /// A number, or the sign for none.
    fileprivate func append(known number: Int) {
        if number > 0 { append(decimal: number) } else { append(UInt8(ascii: "-")) }
    }
}
