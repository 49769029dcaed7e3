import Bytes
import Model

/// A line of the log that concerns no exchange. It begins like the lines of the access log.
public struct LogLine {
    /// The importance of a log line for an operator.
    public enum Level: String, Sendable {
        case info
        case warning
        case error

        fileprivate var colour: ConsoleColour? {
            switch self {
            case .info: nil
            case .warning: .yellow
            case .error: .red
            }
        }
    }

    /// The style of lines that concern no exchange.
    public enum Style: Sendable {
        /// One JSON object, written member by member.
        case json
        /// The form for a person at a terminal.
        case console(hasColours: Bool)
    }

    private let line: ByteBuffer
    private let style: Style

    /// The limit of a text in characters: a server's realm may be as long as a head.
    public static let longest = 256

    /// Begins a line after the content of the buffer.
    /// - Parameters:
    ///   - event: the name of the event.
    ///   - isSentence: whether the details are a sentence, so that a person does not need the name.
    public init(
        into line: ByteBuffer, at time: WallTime, _ level: Level, _ event: String, isSentence: Bool = false,
        as style: Style
    ) {
        self.line = line
        self.style = style
        switch style {
        case .json:
            beginObject(at: time)
            add(EventField.level, level.rawValue)
            add(EventField.event, event)
        case .console(let hasColours):
            line.append(consoleTime: CivilTime(time), inColours: hasColours)
            if let colour = level.colour {
                line.append(.space)
                line.append(level.rawValue, in: colour, if: hasColours)
            }
            guard !isSentence else { return }
            line.append(.space)
            line.append(event)
        }
    }

    /// Begins a JSON object for other readers than the log.
    public init(into line: ByteBuffer, at time: WallTime) {
        self.line = line
        style = .json
        beginObject(at: time)
    }

    private func beginObject(at time: WallTime) {
        line.append(#"{"time":""#)
        line.append(time: time)
        line.append(.quote)
    }

    /// - Parameters:
    ///   - value: the value; nil: the member is omitted.
    ///   - longest: the limit of the value in characters.
    public func add(_ field: some JSONField, _ value: String?, longest: Int = longest) {
        guard let value else { return }
        begin(field.rawValue)
        append(value, longest)
    }

    /// - Parameter lines: the lines; nil: the member is omitted.
    public func add(_ field: some JSONField, lines: [String]?) {
        guard let lines else { return }
        begin(field.rawValue)
        line.append(UInt8(ascii: "["))
        for (index, text) in lines.enumerated() {
            if index > 0 { line.append(.comma) }
            append(text, Self.longest)
        }
        line.append(UInt8(ascii: "]"))
    }

    private func append(_ value: String, _ longest: Int) {
        let scalars = value.unicodeScalars
        // The text is truncated between two scalars.
        let end = scalars.index(scalars.startIndex, offsetBy: longest, limitedBy: scalars.endIndex)
        let shown = end.map { String(value[..<$0]) } ?? value
        let isCut = end != nil && end != scalars.endIndex
        switch style {
        case .json:
            line.append(.quote)
            line.append(json: shown.utf8Span.span)
            if isCut { line.append("…") }
            line.append(.quote)
        case .console:
            let isWord = !shown.isEmpty && shown.utf8.allSatisfy { $0 > .space && $0 != .quote && $0 != .backslash }
            if !isWord { line.append(.quote) }
            line.append(console: shown.utf8Span.span, isQuoted: !isWord)
            if isCut { line.append("…") }
            if !isWord { line.append(.quote) }
        }
    }

    public func add(_ field: some JSONField, _ number: Int?) {
        guard let number else { return }
        begin(field.rawValue)
        line.append(decimal: number)
    }

    public func add(_ field: some JSONField, time: WallTime?) {
        guard let time else { return }
        begin(field.rawValue)
        switch style {
        case .json:
            line.append(.quote)
            line.append(time: time)
            line.append(.quote)
        case .console: line.append(time: time)
        }
    }

    /// - Parameter rule: the rule; nil: the member is omitted.
    public func add(_ field: some JSONField, _ rule: RuleReference?) {
        guard let rule else { return }
        switch style {
        case .json:
            begin(field.rawValue)
            line.append(rule.json)
        case .console: add(field, rule.label)
        }
    }

    /// Adds a member if it is true.
    public func add(_ field: some JSONField, _ isTrue: Bool) {
        guard isTrue else { return }
        begin(field.rawValue)
        line.append("true")
    }

    /// - Parameter details: a sentence of the proxy, which may contain text from outside.
    public func end(_ details: String? = nil) {
        switch style {
        case .json:
            if let details {
                begin(EventField.details.rawValue)
                line.append(.quote)
                line.append(json: details)
                line.append(.quote)
            }
            line.append("}\n")
        case .console:
            if let details {
                line.append(.space)
                line.append(console: details)
            }
            line.append(.lineFeed)
        }
    }

    private func begin(_ name: String) {
        switch style {
        case .json:
            line.append(#",""#)
            line.append(name)
            line.append(#"":"#)
        case .console:
            line.append(.space)
            line.append(name)
            line.append(UInt8(ascii: "="))
        }
    }
}
