import Bytes
import HTTP

/// Writes records as lines of an access log. One for each loop: it keeps the text of the current second.
///
/// Each format is one function that writes a line from its beginning to its end, in a file of its own.
public final class AccessLogEncoder {
    private let format: AccessLogFormat
    private let time = ByteBuffer(capacity: 64)
    private var timeSecond = Int.min

    public init(format: AccessLogFormat) {
        self.format = format
    }

    /// Appends one line with its line feed. `epochMilliseconds` is when the exchange ended.
    public func append(_ record: ExchangeRecord, at epochMilliseconds: Int, to line: ByteBuffer) {
        switch format {
        case .json: appendJSON(record, at: epochMilliseconds, to: line)
        case .common: appendCommon(record, at: epochMilliseconds, to: line)
        case .combined:
            appendCommon(record, at: epochMilliseconds, to: line)
            appendAgent(record, to: line)
        case .squid: appendSquid(record, at: epochMilliseconds, to: line)
        case .console(let hasColours):
            appendConsole(record, at: epochMilliseconds, inColours: hasColours, to: line)
        }
        line.append(.lineFeed)
    }

    /// The text of a second, in the format's own way: it is made once for all lines of that second.
    func timeText(ofSecond second: Int) -> ByteBuffer {
        if second != timeSecond {
            timeSecond = second
            time.clear()
            render(CivilTime(epochSeconds: second))
        }
        return time
    }

    /// RFC 3339 without fraction and zone, or Apache's time.
    private func render(_ now: CivilTime) {
        switch format {
        case .json: time.append(date: now)
        case .common, .combined:
            time.append(twoDigits: now.day)
            time.append(.slash)
            time.append(now.monthName)
            time.append(.slash)
            time.append(decimal: now.year)
            time.append(.colon)
        case .squid: return
        case .console(let hasColours): return time.append(consoleTime: now, inColours: hasColours)
        }
        time.append(clock: now)
        switch format {
        case .common, .combined: time.append(" +0000")
        case .json, .squid, .console: break
        }
    }
}

/// How an access log writes an exchange. Those of other programs have no room for what the proxy decided.
public enum AccessLogFormat: Sendable {
    /// One JSON object a line; unknown members are left out.
    case json
    /// Apache's `common`: client, user, time of the request, request line, status, bytes.
    case common
    /// That, and behind it `Referer` and `User-Agent`.
    case combined
    /// The native format of squid's access.log.
    case squid
    /// For a person before a terminal.
    case console(hasColours: Bool)

    /// The parts of an exchange that the format shows, beside those that every record has.
    public var parts: ExchangeRecord.Parts {
        switch self {
        case .json, .common, .console: .requestLine
        case .combined: [.requestLine, .agent]
        case .squid: [.requestLine, .response]
        }
    }
}
