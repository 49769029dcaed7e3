import Bytes
import HTTP

/// Writes records as lines of an access log. One for each loop: it keeps the text of the current second.
public final class AccessLogEncoder {
    private let format: AccessLogFormat
    private let time = ByteBuffer(capacity: 64)
    private var timeSecond = Int.min

    public init(format: AccessLogFormat) {
        self.format = format
    }

    /// Appends one line with its line feed. `epochMilliseconds` is when the exchange ended.
    public func append(_ record: ExchangeRecord, at epochMilliseconds: Int, to line: ByteBuffer) {
        let second = epochMilliseconds / 1000
        if second != timeSecond {
            timeSecond = second
            renderTime(CivilTime(epochSeconds: second))
        }
        switch format {
        case .json: appendJSON(record, milliseconds: epochMilliseconds % 1000, to: line)
        case .common: appendCommon(record, to: line)
        }
    }

    private func appendJSON(_ record: ExchangeRecord, milliseconds: Int, to line: ByteBuffer) {
        let text = record.text
        let time = time
        line.append(#"{"time":""#)
        line.append(time.readable)
        line.append(UInt8(ascii: "."))
        line.append(threeDigits: milliseconds)
        line.append(#"Z","client":""#)
        line.append(text.readable.extracting(record.clientRange))
        line.append(.quote)
        line.append(key: #","user":""#, string: record.user)
        if !record.methodRange.isEmpty {
            line.append(#","method":""#)
            line.append(json: text.readable.extracting(record.methodRange))
            line.append(#"","target":""#)
            appendTarget(record, to: line)
            line.append(.quote)
        }
        if record.status > 0 { line.append(key: #","status":"#, number: record.status) }
        line.append(key: #","bytes_in":"#, number: record.bytesIn)
        line.append(key: #","bytes_out":"#, number: record.bytesOut)
        line.append(key: #","ms":"#, number: record.milliseconds)
        if let connect = record.connectMilliseconds { line.append(key: #","connect_ms":"#, number: connect) }
        if let wait = record.waitMilliseconds { line.append(key: #","wait_ms":"#, number: wait) }
        switch record.upstream {
        case .none: break
        case .opened: line.append(#","upstream":"opened""#)
        case .reused: line.append(#","upstream":"reused""#)
        }
        line.append(key: #","tunnel":""#, token: record.tunnel?.token)
        if let security = record.security { append(security, isResumed: record.isResumed, to: line) }
        line.append(key: #","route":""#, string: record.route)
        if let parent = record.parent {
            line.append(key: #","parent":""#, string: parent)
            line.append(key: #","parent_scheme":""#, token: record.parentScheme?.token)
            line.append(key: #","parent_credential":""#, string: record.parentCredential)
        }
        line.append(key: #","rule":""#, string: record.rule)
        if record.ruleLine > 0 { line.append(key: #","rule_line":"#, number: record.ruleLine) }
        line.append(key: #","scheme":""#, token: record.scheme?.token)
        line.append(key: #","credential":""#, string: record.credential)
        if record.attempts > 0 { line.append(key: #","attempts":"#, number: record.attempts) }
        if let challenge = record.challenge {
            line.append(key: #","challenge":""#, string: challenge.schemes)
            line.append(key: #","realm":""#, string: challenge.realm)
        }
        line.append(key: #","error":""#, string: record.error?.rawValue)
        line.append(key: #","details":""#, string: record.details)
        line.append("}\n")
    }

    private func append(_ security: SecurityRecord, isResumed: Bool, to line: ByteBuffer) {
        line.append(key: #","tls":""#, token: security.version)
        if isResumed { line.append(#","tls_resumed":true"#) }
        line.append(key: #","trust_findings":""#, string: security.trustFindings)
        line.append(key: #","trust_rule":""#, string: security.trustRule)
        line.append(key: #","identity":""#, string: security.identity)
    }

    private func appendCommon(_ record: ExchangeRecord, to line: ByteBuffer) {
        let text = record.text
        let time = time
        line.append(text.readable.extracting(record.clientRange))
        line.append(" - ")
        if let user = record.user, !user.isEmpty {
            line.append(common: user.utf8Span.span, unquoted: true)
        } else {
            line.append(UInt8(ascii: "-"))
        }
        line.append(" [")
        line.append(time.readable)
        line.append("] \"")
        if record.methodRange.isEmpty {
            line.append(UInt8(ascii: "-"))
        } else {
            line.append(common: text.readable.extracting(record.methodRange))
            line.append(.space)
            appendTarget(record, to: line)
            line.append(record.minorVersion == 0 ? " HTTP/1.0" : " HTTP/1.1")
        }
        line.append("\" ")
        if record.status > 0 {
            line.append(decimal: record.status)
        } else {
            line.append(UInt8(ascii: "-"))
        }
        line.append(.space)
        line.append(decimal: record.bytesOut)
        line.append(.lineFeed)
    }

    private func appendTarget(_ record: ExchangeRecord, to line: ByteBuffer) {
        let text = record.text
        let usualPort: Int
        switch record.targetForm {
        case .http:
            line.append("http://")
            usualPort = 80
        case .https:
            line.append("https://")
            usualPort = 443
        case .ftp:
            line.append("ftp://")
            usualPort = 21
        case .authority: usualPort = 0
        case .path: usualPort = record.port
        }
        append(text.readable.extracting(record.hostRange), to: line)
        if record.port != usualPort {
            line.append(.colon)
            line.append(decimal: record.port)
        }
        append(text.readable.extracting(record.pathRange), to: line)
    }

    private func append(_ bytes: Span<UInt8>, to line: ByteBuffer) {
        switch format {
        case .json: line.append(json: bytes)
        case .common: line.append(common: bytes)
        }
    }

    /// RFC 3339 without fraction and zone, or the common log's time.
    private func renderTime(_ now: CivilTime) {
        time.clear()
        switch format {
        case .json: time.append(date: now)
        case .common:
            time.append(twoDigits: now.day)
            time.append(.slash)
            time.append(now.monthName)
            time.append(.slash)
            time.append(decimal: now.year)
            time.append(.colon)
        }
        time.append(twoDigits: now.hour)
        time.append(.colon)
        time.append(twoDigits: now.minute)
        time.append(.colon)
        time.append(twoDigits: now.second)
        if format == .common { time.append(" +0000") }
    }
}

extension ByteBuffer {
    fileprivate func append(key: StaticString, number: Int) {
        append(key)
        append(decimal: number)
    }

    fileprivate func append(key: StaticString, string: String?) {
        guard let string else { return }
        append(key)
        append(json: string.utf8Span.span)
        append(.quote)
    }

    fileprivate func append(key: StaticString, token: StaticString?) {
        guard let token else { return }
        append(key)
        append(token)
        append(.quote)
    }

}

/// How an access log writes an exchange.
public enum AccessLogFormat: Sendable {
    /// One JSON object a line; unknown members are left out.
    case json
    /// The Common Log Format of the NCSA server: client, user, time, request line, status, bytes. It has no room for
    /// what the proxy decided.
    case common
}
