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
        line.append(threeDigits: record.facts.status)
        line.append(.space)
        line.append(decimal: record.facts.headBytesOut + record.facts.bytesOut)
        line.append(.space)
        appendRequest(record, to: line)
        line.append(.space)
        if let user = record.facts.user, !user.isEmpty {
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
        guard !record.ranges.method.isEmpty else { return line.append("NONE error:invalid-request") }
        line.append(percent: text.readable.extracting(record.ranges.method))
        line.append(.space)
        line.append(record.targetScheme)
        line.append(percent: text.readable.extracting(record.ranges.host))
        line.append(portOf: record)
        line.append(percent: text.readable.extracting(record.ranges.path))
    }

    /// Appends the destination of the request and the server's address; its name if it has no address, as behind a
    /// gateway of the proxy.
    private func appendServer(_ record: ExchangeRecord, to line: ByteBuffer) {
        if record.facts.upstream == .none { return line.append("HIER_NONE/-") }
        line.append(record.facts.parent == nil ? "HIER_DIRECT/" : "FIRSTUP_PARENT/")
        if let server = record.facts.server {
            line.append(address: server.unmapped)
        } else if record.ranges.host.isEmpty {
            line.append(UInt8(ascii: "-"))
        } else {
            let text = record.text
            line.append(percent: text.readable.extracting(record.ranges.host))
        }
    }

    /// Appends the media type alone.
    private func appendType(_ record: ExchangeRecord, to line: ByteBuffer) {
        let text = record.text
        let value = text.readable.extracting(record.ranges.type)
        var end = 0
        while end < value.count, value[end] > .space, value[end] != UInt8(ascii: ";") { end += 1 }
        if end == 0 { return line.append(UInt8(ascii: "-")) }
        line.append(percent: value.extracting(first: end))
    }
}

extension ExchangeRecord {
    /// squid's word for the outcome of the request. There is no cache, so everything that was fetched is a miss.
    fileprivate var squidResult: StaticString {
        if ranges.method.isEmpty { return "NONE_NONE" }
        switch facts.error {
        case .httpRequestDenied?, .destinationIPProhibited?: return "TCP_DENIED"
        case .connectionTerminated? where facts.upstream != .none: return "TCP_MISS_ABORTED"
        case .httpRequestError? where facts.upstream == .none: return "NONE_NONE"
        default: break
        }
        if facts.targetForm == .authority { return facts.status == 200 ? "TCP_TUNNEL" : "NONE_NONE" }
        return facts.upstream == .none && facts.error == nil ? "NONE_NONE" : "TCP_MISS"
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
