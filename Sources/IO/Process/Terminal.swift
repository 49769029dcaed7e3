import CLinux
import Glibc

/// The terminal of the user who started the program, even if the standard streams are redirected. Blocks: for a command
/// without a loop.
public struct Terminal: ~Copyable {
    private let descriptor: Int32

    /// Throws if the program has no terminal.
    public init() throws(IOError) {
        descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw .system(errno: errno, operation: "cannot open the terminal") }
    }

    deinit { close(descriptor) }

    /// Whether standard input is a terminal, so that a person types.
    public static var isStandardInput: Bool { isatty(STDIN_FILENO) == 1 }
    public static var isStandardOutput: Bool { isatty(STDOUT_FILENO) == 1 }
    public static var isStandardError: Bool { isatty(STDERR_FILENO) == 1 }

    /// Asks for a line that is not shown while it is typed, and erases the question. The answer has no line end; nil if
    /// the user ended the input instead.
    ///
    /// A signal that ends the process meanwhile takes effect after the terminal shows input again.
    public borrowing func askUnseen(_ question: String) throws(IOError) -> [UInt8]? {
        try ask(question, isSeen: false)
    }

    /// Asks for a line that is shown while it is typed.
    public borrowing func ask(_ question: String) throws(IOError) -> String? {
        try ask(question, isSeen: true).map { String(decoding: $0, as: UTF8.self) }
    }

    private borrowing func ask(_ question: String, isSeen: Bool) throws(IOError) -> [UInt8]? {
        var shown = termios()
        guard tcgetattr(descriptor, &shown) == 0 else {
            throw .system(errno: errno, operation: "cannot read the terminal's settings")
        }
        var endings = sigset_t(of: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &endings, &before)
        // Restored last: a pending signal then ends the process.
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var asking = shown
        if isSeen { asking.c_lflag |= tcflag_t(ECHO) } else { asking.c_lflag &= ~tcflag_t(ECHO) }
        asking.c_lflag |= tcflag_t(ICANON | ISIG)
        // Characters that were typed before the question are not an answer to it.
        guard tcsetattr(descriptor, TCSAFLUSH, &asking) == 0 else {
            throw .system(errno: errno, operation: "cannot change the terminal's settings")
        }
        defer { tcsetattr(descriptor, TCSAFLUSH, &shown) }
        write(question)
        defer { if !isSeen { write("\r\(String(repeating: " ", count: question.count))\r") } }
        return try readLine(unless: &endings)
    }

    private func write(_ text: String) {
        var text = text
        text.withUTF8 { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Reads a line, or the text before the end of the input. A terminal in canonical mode gives a complete line at
    /// once.
    private func readLine(unless endings: inout sigset_t) throws(IOError) -> [UInt8]? {
        let signals = signalfd(-1, &endings, Int32(SFD_CLOEXEC))
        defer { close(signals) }
        var events = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&events, nfds_t(events.count), -1) < 0 {
            guard errno == EINTR else { throw .system(errno: errno, operation: "cannot wait for the terminal") }
        }
        guard events[1].revents == 0 else { return nil }
        var line = [UInt8](repeating: 0, count: Self.longestLine)
        defer { SmallFile.wipe(&line) }
        let count = line.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw .system(errno: errno, operation: "cannot read from the terminal") }
        guard let end = line[..<count].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        return Array(line[..<end])
    }

    /// The limit of the terminal's line discipline.
    private static let longestLine = 4096
}
