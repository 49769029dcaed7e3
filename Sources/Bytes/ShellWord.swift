/// A word for a command line of a POSIX shell.
public enum ShellWord {
    /// Quotes the text if necessary.
    public static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0.isAlphanumeric || "-_./:,@%+".utf8.contains($0) }
        return isPlain && !text.isEmpty ? text : always(text)
    }

    /// Quotes the text always.
    public static func always(_ text: String) -> String {
        "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
    }
}
