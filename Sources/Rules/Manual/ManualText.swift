/// The manual for a terminal, or for a pipe.
public struct ManualText {
    /// The width of the lines, as far as their words allow.
    private let width: Int
    private var lines: [String] = []

    /// Returns one topic, with its directives.
    public static func of(_ topic: ManualTopic, width: Int) -> String {
        var text = ManualText(width: width)
        text.add("\(topic.name): \(topic.title)", at: 0)
        text.separate()
        text.add(ManualText.Block.blocks(of: topic.text), at: 0)
        for entry in topic.entries { text.add(entry) }
        return text.lines.joined(separator: "\n")
    }

    /// Returns the entries of one directive's name.
    public static func of(_ entries: [ManualTopic.Entry], width: Int) -> String {
        var text = ManualText(width: width)
        for entry in entries { text.add(entry) }
        return text.lines.dropFirst().joined(separator: "\n")
    }

    private mutating func add(_ entry: ManualTopic.Entry) {
        separate()
        add(entry.form, at: 0)
        add(ManualText.Block.blocks(of: entry.manual.text), at: 4)
        if let standard = entry.manual.standard {
            separate()
            add("Default: \(standard)", at: 4)
        }
        separate()
        for line in entry.manual.example.split(separator: "\n") { lines.append("        \(line)") }
    }

    private mutating func add(_ blocks: [ManualText.Block], at indentation: Int) {
        for (number, block) in blocks.enumerated() {
            if number > 0 { separate() }
            switch block {
            case .paragraph(let text): add(text, at: indentation)
            case .literal(let literal):
                let margin = String(repeating: " ", count: indentation + 4)
                lines += literal.map { $0.isEmpty ? "" : margin + $0 }
            case .item(let term, let text):
                add(term, at: indentation)
                add(text, at: indentation + 4)
            case .table(let rows): add(rows, at: indentation)
            }
        }
    }

    /// Adds the rows of a table. The last column takes the rest of the line, and further lines.
    private mutating func add(_ rows: [[String]], at indentation: Int) {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
        for row in rows {
            guard let last = row.last else { continue }
            let words = zip(row.dropLast(), widths).map { $0 + String(repeating: " ", count: $1 - $0.count + 2) }
            let margin = String(repeating: " ", count: indentation + 4)
            let start = margin + words.joined()
            let first = lines.endIndex
            add(last, at: start.count)
            lines[first] = start + lines[first].dropFirst(start.count)
        }
    }

    private mutating func separate() {
        if lines.last != "" { lines.append("") }
    }

    /// Adds words in lines of at most the width.
    private mutating func add(_ text: String, at indentation: Int) {
        let margin = String(repeating: " ", count: indentation)
        var line = margin
        for word in text.split(separator: " ") {
            if line.count > indentation, line.count + 1 + word.count > width {
                lines.append(line)
                line = margin
            }
            line += line.count > indentation ? " \(word)" : word
        }
        lines.append(line)
    }

    /// A part of the manual's text, see `ManualTopic`.
    public enum Block: Equatable, Sendable {
        case paragraph(String)
        /// Lines that are shown as they are.
        case literal([String])
        case item(term: String, text: String)
        /// Rows of cells; the last cell of a row is prose.
        case table([[String]])

        /// The parts of a text, in their order.
        public static func blocks(of text: String) -> [ManualText.Block] {
            var blocks: [ManualText.Block] = []
            for part in paragraphs(of: text) {
                if part.allSatisfy({ $0.hasPrefix("    ") || $0.isEmpty }) {
                    blocks.append(.literal(part.map { String($0.dropFirst(4)) }))
                } else if part.allSatisfy({ $0.hasPrefix("| ") }) {
                    blocks.append(.table(part.map { cells(of: $0) }))
                } else if let first = part.first, first.hasPrefix("= ") {
                    blocks.append(.item(term: String(first.dropFirst(2)), text: joined(part.dropFirst())))
                } else {
                    blocks.append(.paragraph(joined(part[...])))
                }
            }
            return blocks
        }

        private static func cells(of row: Substring) -> [String] {
            row.dropFirst(2).split(separator: " | ").map(String.init)
        }

        private static func joined(_ lines: ArraySlice<Substring>) -> String { lines.joined(separator: " ") }

        private static func paragraphs(of text: String) -> [[Substring]] {
            text.split(separator: "\n", omittingEmptySubsequences: false).split(separator: "").map(Array.init)
        }
    }
}
