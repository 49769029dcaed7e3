import Glibc

/// The program that shows a long text on a terminal.
public enum Pager {
    /// The command: `$PAGER`, else less, which exits by itself if the text fits on the screen, else more.
    private static let command = "LESS=${LESS-FRX} exec ${PAGER:-$(command -v less || command -v more || echo cat)}"

    /// Shows the text, and waits until the user leaves the program.
    /// - Returns: false if the program cannot be started.
    public static func show(_ text: String) -> Bool {
        guard let pipe = popen(command, "w") else { return false }
        fputs(text, pipe)
        return pclose(pipe) == 0
    }
}
