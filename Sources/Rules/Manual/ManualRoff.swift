/// The manual for man(1), in macros of the man package.
public struct ManualRoff {
    private var lines: [String]

    /// - Parameters:
    ///   - title: the title of the page, such as `proxy.conf`.
    ///   - summary: one line that follows its name.
    public init(_ title: String, section: Int, version: String, summary: String) {
        lines = [
            ".TH \(Self.quoted(title)) \(section) \"\" \(Self.quoted("attache \(version)"))", ".SH NAME",
            "\(Self.escaped(title)) \\- \(Self.escaped(summary))",
        ]
    }

    /// The lines, each with a line end.
    public var text: String { lines.map { $0 + "\n" }.joined() }

    public mutating func section(_ title: String) { lines.append(".SH \(Self.quoted(title.uppercased()))") }

    public mutating func subsection(_ title: String) { lines.append(".SS \(Self.quoted(title))") }

    public mutating func item(_ term: String, _ text: String) {
        lines += [".TP", ".B \(Self.quoted(term))"] + Self.prose(text)
    }

    /// Adds lines as they are.
    public mutating func literal(_ literal: [some StringProtocol]) {
        lines += [".PP", ".RS 4", ".nf"] + literal.map { Self.line($0) } + [".fi", ".RE"]
    }

    /// Adds a text with paragraphs, literal lines and items.
    public mutating func add(_ text: String) {
        for block in ManualText.Block.blocks(of: text) {
            switch block {
            case .paragraph(let text): lines += [".PP"] + Self.prose(text)
            case .literal(let literal): self.literal(literal)
            case .item(let term, let text): item(term, text)
            case .table(let rows):
                for row in rows { item(row.dropLast().joined(separator: ", "), row.last ?? "") }
            }
        }
    }

    public mutating func add(_ topic: ManualTopic) {
        section("\(topic.name): \(topic.title)")
        add(topic.text)
        for entry in topic.entries {
            subsection(entry.form)
            add(entry.manual.text)
            if let standard = entry.manual.standard { add("Default: \(standard)") }
            literal(entry.manual.example.split(separator: "\n"))
        }
    }

    /// Begins a line for each sentence.
    private static func prose(_ text: String) -> [String] {
        text.replacing(". ", with: ".\n").split(separator: "\n").map { line($0) }
    }

    /// Escapes a line so that it does not begin like a macro.
    private static func line(_ text: some StringProtocol) -> String {
        let escaped = escaped(text)
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&\(escaped)" : escaped
    }

    /// Quotes an argument of a macro.
    private static func quoted(_ text: String) -> String { "\"\(escaped(text).replacing("\"", with: "\\(dq"))\"" }

    private static func escaped(_ text: some StringProtocol) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "`": escaped += "\\(ga"
            case "'": escaped += "\\(aq"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            case _ where scalar.isASCII: escaped.unicodeScalars.append(scalar)
            default: escaped += "\\[u\(String(repeating: "0", count: max(0, 4 - hex(scalar).count)))\(hex(scalar))]"
            }
        }
        return escaped
    }

    private static func hex(_ scalar: Unicode.Scalar) -> String { String(scalar.value, radix: 16, uppercase: true) }
}
