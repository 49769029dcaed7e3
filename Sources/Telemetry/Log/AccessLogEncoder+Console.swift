import Bytes
import HTTP
import Model

/// An exchange for a person at a terminal: short, with the decisions, and without usual values.
extension AccessLogEncoder {
    /// The limit of a target in bytes.
    private static let longestTarget = 256

    func appendConsole(
        _ record: ExchangeRecord, at time: WallTime, inColours hasColours: Bool, to line: ByteBuffer
    ) {
        let second = timeText(of: time)
        line.append(second.readable)
        line.append(.space)
        let colour = record.consoleColour
        line.begin(colour, if: hasColours)
        if record.facts.status > 0 { line.append(decimal: record.facts.status) } else { line.append("---") }
        line.endColour(if: hasColours)
        line.append(.space)
        appendConsoleTarget(record, to: line)
        line.append(.space)
        line.append(decimal: record.milliseconds)
        line.append(" ms")
        appendConsoleDecision(record, to: line)
        if let error = record.facts.error {
            line.append(.space)
            line.append(error.rawValue, in: colour, if: hasColours)
            if record.facts.details != nil { line.append(.colon) }
        }
        if let details = record.facts.details {
            line.append(.space)
            line.append(console: details)
        }
    }

    private func appendConsoleTarget(_ record: ExchangeRecord, to line: ByteBuffer) {
        let text = record.text
        guard !record.ranges.method.isEmpty else { return line.append(UInt8(ascii: "-")) }
        line.append(console: text.readable.extracting(record.ranges.method))
        line.append(.space)
        line.append(record.targetScheme)
        line.append(console: text.readable.extracting(record.ranges.host))
        line.append(portOf: record)
        let path = text.readable.extracting(record.ranges.path)
        line.append(console: path.extracting(first: min(path.count, Self.longestTarget)))
        if path.count > Self.longestTarget { line.append("…") }
    }

    private func appendConsoleDecision(_ record: ExchangeRecord, to line: ByteBuffer) {
        if !record.isOfThisMachine {
            let text = record.text
            line.append(" from ")
            line.append(text.readable.extracting(record.clientRange))
        }
        if let user = record.facts.user {
            line.append(" user ")
            line.append(console: user)
        }
        if let parent = record.facts.parent {
            line.append(" via ")
            line.append(console: parent.parent.label)
        }
        append(record.parentScheme, record.parentCredential, to: line)
        append(record.scheme, record.credential, to: line)
        if let rule = record.rule {
            line.append(" rule \"")
            line.append(console: rule.label.utf8Span.span, isQuoted: true)
            line.append(.quote)
        }
    }

    private func append(_ scheme: AnsweredScheme?, _ credential: String?, to line: ByteBuffer) {
        guard let scheme else { return }
        line.append(.space)
        line.append(scheme.token)
        guard let credential else { return }
        line.append(.space)
        line.append(console: credential)
    }
}

extension ExchangeRecord {
    fileprivate var consoleColour: ConsoleColour {
        switch facts.status {
        case 100..<300: facts.error == nil ? .green : .red
        case 300..<400: .cyan
        case 400..<500: .yellow
        default: .red
        }
    }
}
