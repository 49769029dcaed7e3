import IO

/// What a person at the terminal reads: results on standard output, everything else on standard error.
enum Console {
    /// One message, which reads well after the program's name. It is one line whatever a client, an origin or a file
    /// name put into it.
    static func error(_ sentence: String) {
        OutputFile.standardError.write(Array("attache: \(printable(sentence))\n".utf8))
    }

    /// Text that is complete in itself, such as diagnostics.
    static func write(_ text: String) { OutputFile.standardError.write(Array(text.utf8)) }

    static func print(_ text: String) { OutputFile.standardOutput.write(Array("\(text)\n".utf8)) }

    /// What somebody wrote, for a line on the terminal: it must not steer it.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
