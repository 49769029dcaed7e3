import Bytes

/// Writes records as lines of an access log. One for each loop: it keeps the text of the current second.
///
/// Each format is one function that writes a complete line, in a file of its own.
public final class AccessLogEncoder {
    private let format: Format
    private let time = ByteBuffer(capacity: 64)
    private var timeSecond = Int.min

    public init(format: Format) {
        self.format = format
    }

    /// Appends one line with its line feed.
    ///
    /// - Parameter time: the time at which the exchange ended.
    public func append(_ record: ExchangeRecord, at time: WallTime, to line: ByteBuffer) {
        switch format {
        case .json: appendJSON(record, at: time, to: line)
        case .common: appendCommon(record, at: time, to: line)
        case .combined:
            appendCommon(record, at: time, to: line)
            appendAgent(record, to: line)
        case .squid: appendSquid(record, at: time, to: line)
        case .console(let hasColours):
            appendConsole(record, at: time, inColours: hasColours, to: line)
        }
        line.append(.lineFeed)
    }

    /// Returns the request for the dashboard's list: the content of a JSON object after its opening brace. The
    /// encoder's format is `json`.
    public func recent(_ record: ExchangeRecord, at time: WallTime, in buffer: ByteBuffer) -> [UInt8] {
        buffer.clear()
        appendRecent(record, at: time, to: buffer)
        return buffer.readable.extracting(1..<buffer.count).array
    }

    /// The text of a second in the format. It is made once for all lines of that second.
    func timeText(of moment: WallTime) -> ByteBuffer {
        let second = moment.seconds
        if second != timeSecond {
            timeSecond = second
            time.clear()
            render(CivilTime(moment))
        }
        return time
    }

    /// Writes the time: RFC 3339 without fraction and zone, or Apache's form.
    private func render(_ now: CivilTime) {
        switch format {
        case .json:
            time.append(date: now)
            time.append(clock: now)
        case .common, .combined:
            time.append(twoDigits: now.day)
            time.append(.slash)
            time.append(now.monthName)
            time.append(.slash)
            time.append(decimal: now.year)
            time.append(.colon)
            time.append(clock: now)
            time.append(" +0000")
        case .squid: break
        case .console(let hasColours): time.append(consoleTime: now, inColours: hasColours)
        }
    }

    /// The format of an access log. Those of other programs have no fields for the proxy's decisions.
    public enum Format: Sendable {
        /// One JSON object per line; unknown members are omitted.
        case json
        /// Apache's `common`: client, user, time of the request, request line, status, bytes.
        case common
        /// Apache's `combined`: `common`, then `Referer` and `User-Agent`.
        case combined
        /// The native format of squid's access.log.
        case squid
        /// The form for a person at a terminal.
        case console(hasColours: Bool)

        /// The parts of an exchange that the format needs, beside those of every record.
        public var parts: ExchangeRecord.Parts {
            switch self {
            case .json, .common, .console: .requestLine
            case .combined: [.requestLine, .agent]
            case .squid: [.requestLine, .response]
            }
        }
    }
}
