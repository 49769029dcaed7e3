extension Diagnostic {
    /// Renders a diagnostic for people:
    ///
    ///     proxy.conf:3:5: error: 'pasword' is no directive of 'credential'
    ///         pasword ***
    ///         ^^^^^^^ did you mean 'password'?
    ///
    /// Secrets are replaced before anything else reads the line. Tabs become spaces, and characters that could control
    /// a terminal become U+FFFD.
    struct Renderer {
        let sources: SourceMap

        /// Returns several lines, the last without a line end.
        private func text(_ diagnostic: Diagnostic) -> String {
            guard let file = sources.file(diagnostic.range.file) else { return diagnostic.sentence }
            var text =
                "\(sources.place(of: diagnostic.range)): \(diagnostic.severity.rawValue): \(diagnostic.sentence)\n"
            text += excerpt(file, diagnostic.range.bytes)
            if let suggestion = diagnostic.suggestion { text += " did you mean '\(suggestion)'?" }
            var origin = file.includedFrom
            while let range = origin {
                text += "\n  included from \(sources.place(of: range))"
                origin = sources.file(range.file)?.includedFrom
            }
            return text
        }

        func text(_ diagnostics: [Diagnostic]) -> String {
            diagnostics.map { text($0) + "\n" }.joined()
        }

        /// The line and the caret run, both indented by two and cut so that the run is in view.
        private func excerpt(_ file: SourceFile, _ range: Range<Int>) -> String {
            let line = Self.window(of: file.line(around: range.lowerBound), around: range.lowerBound)
            var cells: [Unicode.Scalar] = []
            var carets: Range<Int>?
            var column = 0
            for piece in pieces(of: line, in: file) {
                let start = column
                for scalar in piece.text {
                    if scalar == "\t" {
                        let width = 4 - column % 4
                        cells += Array(repeating: " ", count: width)
                        column += width
                    } else {
                        let isControl = scalar.properties.generalCategory == .control
                        let shown: Unicode.Scalar =
                            isControl || Self.bidirectional.contains(scalar) ? "\u{FFFD}" : scalar
                        cells.append(shown)
                        column += Self.columns(of: shown)
                    }
                }
                if piece.bytes.overlaps(range) || range.isEmpty && piece.bytes.lowerBound == range.lowerBound {
                    carets = (carets?.lowerBound ?? start)..<max(column, start + 1)
                }
            }
            let run = carets ?? column..<column + 1
            return Self.lines(cells, carets: range.isEmpty ? run.lowerBound..<run.lowerBound + 1 : run)
        }

        /// The width in columns below which a line is shown whole.
        private static let width = 110

        /// Returns the part of a line that could be shown, because a line may be a megabyte long.
        private static func window(of line: Range<Int>, around offset: Int) -> Range<Int> {
            let reach = 8 * width
            return max(line.lowerBound, min(offset - reach, line.upperBound))..<min(line.upperBound, offset + reach)
        }

        private static func lines(_ cells: [Unicode.Scalar], carets: Range<Int>) -> String {
            var text = String.UnicodeScalarView()
            let skipped = carets.lowerBound > width - 20 ? carets.lowerBound - width / 2 : 0
            var column = 0
            var start: Int?
            for cell in cells {
                let next = column + columns(of: cell)
                if column >= skipped, next <= skipped + width {
                    if start == nil { start = column }
                    text.append(cell)
                }
                column = next
            }
            let origin = start ?? skipped
            let cutLeft = origin > 0
            let cutRight = column > skipped + width
            let count = max(1, min(carets.count, skipped + width - carets.lowerBound))
            let indent = max(0, carets.lowerBound - origin) + (cutLeft ? 1 : 0)
            return "  \(cutLeft ? "…" : "")\(String(text))\(cutRight ? "…" : "")\n"
                + "  \(String(repeating: " ", count: indent))\(String(repeating: "^", count: count))"
        }

        /// A character, or a whole secret, with its bytes.
        private struct Piece {
            let text: [Unicode.Scalar]
            let bytes: Range<Int>
        }

        private func pieces(of line: Range<Int>, in file: SourceFile) -> [Piece] {
            var pieces: [Piece] = []
            let secrets = file.secrets(in: line)
            var offset = line.lowerBound
            while offset < line.upperBound {
                if let secret = secrets.first(where: { $0.contains(offset) }) {
                    pieces.append(Piece(text: ["*", "*", "*"], bytes: offset..<secret.upperBound))
                    offset = secret.upperBound
                    continue
                }
                var end = offset + 1
                while end < line.upperBound, file.bytes[end] & 0xC0 == 0x80 { end += 1 }
                let scalars = Array(String(decoding: file.bytes[offset..<end], as: UTF8.self).unicodeScalars)
                pieces.append(Piece(text: scalars, bytes: offset..<end))
                offset = end
            }
            return pieces
        }

        /// The characters that make a terminal show a line in another order.
        private static let bidirectional: Set<Unicode.Scalar> = [
            "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}", "\u{202E}", "\u{2066}", "\u{2067}", "\u{2068}", "\u{2069}",
        ]

        /// The number of columns that a character takes in a terminal. It covers enough of Unicode's East Asian Width
        /// (UAX #11) and of the zero-width categories to place a caret run.
        private static func columns(of scalar: Unicode.Scalar) -> Int {
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .format: 0
            default: wide.contains { $0.contains(scalar.value) } ? 2 : 1
            }
        }

        private static let wide: [ClosedRange<UInt32>] = [
            0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
        ]
    }
}
