import Bytes
import HTTP

/// squid's native format (its `logformat squid`), as in squid 5 and 6: `%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un
/// %Sh/%<a %mt`. Blanks in a user's name are escaped too, which squid does not do.
extension AccessLogEncoder {
    func appendSquid(_ record: ExchangeRecord, at time: WallTime, to line: ByteBuffer) {
        let text = record.text
        line.append(decimal: time.seconds)
        line.append(UInt8(ascii: "."))
        line.append(threeDigits: time.milliseconds % 1000)
        line.append(.space)
        line.append(decimal: record.milliseconds, width: 6)
        line.append(.space)
        line.append(text.readable.extracting(record.clientRange))
        line.append(.space)
        line.append(record.squidResult)
        line.append(.slash)
        line.append(threeDigits: record.status)
        line.append(.space)
        line.append(decimal: record.headBytesOut + record.bytesOut)
        line.append(.space)
        appendRequest(record, to: line)
        line.append(.space)
        if let user = record.user, !user.isEmpty {
            line.append(percentUser: user.utf8Span.span)
        } else {
            line.append(UInt8(ascii: "-"))
        }
        line.append(.space)
        appendServer(record, to: line)
        line.append(.space)
        appendType(record, to: line)
    }

    private func appendRequest(_ record: ExchangeRecord, to line: ByteBuffer) {
        let text = record.text
        guard !record.methodRange.isEmpty else { return line.append("NONE error:invalid-request") }
        line.append(percent: text.readable.extracting(record.methodRange))
        line.append(.space)
        line.append(record.targetScheme)
        line.append(percent: text.readable.extracting(record.hostRange))
        line.append(portOf: record)
        line.append(percent: text.readable.extracting(record.pathRange))
    }

    /// Appends the destination of the request and the server's address; its name if it has no address, as behind a
    /// gateway of the proxy.
    private func appendServer(_ record: ExchangeRecord, to line: ByteBuffer) {
        if record.upstream == .none { return line.append("HIER_NONE/-") }
        line.append(record.parent == nil ? "HIER_DIRECT/" : "FIRSTUP_PARENT/")
        if let server = record.server {
            line.append(address: server.unmapped)
        } else if record.hostRange.isEmpty {
            line.append(UInt8(ascii: "-"))
        } else {
            let text = record.text
            line.append(percent: text.readable.extracting(record.hostRange))
        }
    }

    /// Appends the media type alone.
    private func appendType(_ record: ExchangeRecord, to line: ByteBuffer) {
        let text = record.text
        let value = text.readable.extracting(record.typeRange)
        var end = 0
        while end < value.count, value[end] > .space, value[end] != UInt8(ascii: ";") { end += 1 }
        if end == 0 { return line.append(UInt8(ascii: "-")) }
        line.append(percent: value.extracting(first: end))
    }
}

extension ExchangeRecord {
    /// squid's word for the outcome of the request. There is no cache, so everything that was fetched is a miss.
    fileprivate var squidResult: StaticString {
        if methodRange.isEmpty { return "NONE_NONE" }
        switch error {
        case .httpRequestDenied?, .destinationIPProhibited?: return "TCP_DENIED"
        case .connectionTerminated? where upstream != .none: return "TCP_MISS_ABORTED"
        case .httpRequestError? where upstream == .none: return "NONE_NONE"
        default: break
        }
        if targetForm == .authority { return status == 200 ? "TCP_TUNNEL" : "NONE_NONE" }
        return upstream == .none && error == nil ? "NONE_NONE" : "TCP_MISS"
    }
}

extension ByteBuffer {
    /// Appends a non-negative number, right-aligned in at least this many columns.
    fileprivate func append(decimal number: Int, width: Int) {
        var least = 10
        for _ in 1..<width {
            if number < least { append(.space) }
            least *= 10
        }
        append(decimal: number)
    }
}
