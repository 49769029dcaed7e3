import Bytes
import HTTP
import Model

extension AccessLogEncoder {
    func appendJSON(_ record: ExchangeRecord, at time: WallTime, to line: ByteBuffer) {
        appendMembers(record, at: time, longestPath: .max, to: line)
        line.append(UInt8(ascii: "}"))
    }

    /// Appends an object for the dashboard, without its opening brace: the members of a log line, and those for the
    /// dashboard alone. A long path is cut.
    func appendRecent(_ record: ExchangeRecord, at time: WallTime, to line: ByteBuffer) {
        let start = line.count
        appendMembers(record, at: time, longestPath: Self.longestRecentPath, to: line)
        if !record.ranges.host.isEmpty {
            line.append(#","host":""#)
            let text = record.text
            line.append(json: text.readable.extracting(record.ranges.host))
            line.append(.quote)
        }
        if let answering = record.facts.answering {
            line.append(key: #","challenge_ms":"#, number: Int(clamping: answering / 1_000_000))
        }
        line.append(key: #","proxy_status":""#, string: record.facts.proxyStatus)
        if !record.challenges.isEmpty {
            line.append(#","challenges":["#)
            for (place, challenge) in record.challenges.enumerated() where line.count - start < Self.longestRecent {
                if place > 0 { line.append(UInt8(ascii: ",")) }
                append(challenge, to: line)
            }
            line.append(UInt8(ascii: "]"))
        }
        line.append(UInt8(ascii: "}"))
    }

    /// The limits in bytes of a path on the dashboard, and of a request there; beyond it no further challenge is
    /// appended.
    private static let (longestRecentPath, longestRecent) = (512, 6 << 10)

    private func append(_ challenge: ExchangeRecord.MetChallenge, to line: ByteBuffer) {
        let decision = challenge.decision
        line.append(#"{"method":""#)
        line.append(json: decision.method)
        line.append(.quote)
        line.append(key: #","realm":""#, string: decision.realm)
        line.append(key: #","rule":"#, rule: decision.rule)
        line.append(key: #","disposition":""#, string: decision.disposition)
        line.append(key: #","result":""#, string: challenge.result?.rawValue)
        line.append(UInt8(ascii: "}"))
    }

    /// Appends the opening brace of the object and its members.
    private func appendMembers(
        _ record: ExchangeRecord, at time: WallTime, longestPath: Int, to line: ByteBuffer
    ) {
        let text = record.text
        let second = timeText(of: time)
        line.append(#"{"time":""#)
        line.append(second.readable)
        line.append(UInt8(ascii: "."))
        line.append(threeDigits: time.milliseconds % 1000)
        line.append(#"Z","client":""#)
        line.append(text.readable.extracting(record.clientRange))
        line.append(.quote)
        if let uid = record.uid { line.append(key: #","uid":"#, number: Int(uid)) }
        line.append(key: #","user":""#, string: record.facts.user)
        if !record.ranges.method.isEmpty {
            line.append(#","method":""#)
            line.append(json: text.readable.extracting(record.ranges.method))
            line.append(#"","target":""#)
            line.append(record.targetScheme)
            line.append(json: text.readable.extracting(record.ranges.host))
            line.append(portOf: record)
            append(path: text.readable.extracting(record.ranges.path), longest: longestPath, to: line)
            line.append(.quote)
        }
        record.appendMembers(to: line)
    }

    /// Appends a path. Of a longer one it appends the beginning, its length, and a hash with a key of this process,
    /// which tells such paths apart.
    private func append(path: Span<UInt8>, longest: Int, to line: ByteBuffer) {
        guard path.count > longest else { return line.append(json: path) }
        line.append(json: path.extracting(first: longest))
        line.append("… (\(path.count) bytes, #\(String(UInt(bitPattern: path.array.hashValue), radix: 16)))")
    }
}
