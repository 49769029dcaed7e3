import Glibc

/// The program by which a person reads a long text on a terminal.
public enum Pager {
    /// `$PAGER`, else less, which leaves by itself where the text has room on the screen, else more.
    private static let command = "LESS=${LESS-FRX} exec ${PAGER:-$(command -v less || command -v more || echo cat)}"

    /// Shows the text, and waits until it was read.
    /// - Returns: false where there is no such program.
    public static func show(_ text: String) -> Bool {
        guard let pipe = popen(command, "w") else { return false }
        fputs(text, pipe)
        return pclose(pipe) == 0
    }
}
