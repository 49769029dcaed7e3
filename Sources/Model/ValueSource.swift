/// The source of a value that is read when it is used, and again when it has changed.
public enum ValueSource: Sendable, Hashable, CustomStringConvertible {
    case literal(RedactedText)
    /// The name of an environment variable.
    case environment(String)
    /// A path, resolved against the directory of the file that contains it. One trailing newline is not part of the
    /// value.
    case file(String)
    /// The first line of a program's output.
    case command(CommandSource)

    /// The file of the value; nil for other sources.
    var path: String? {
        if case .file(let path) = self { path } else { nil }
    }

    /// The program that prints the value; nil for other sources.
    var command: CommandSource? {
        if case .command(let command) = self { command } else { nil }
    }

    /// The source in the form of the rule file, with a literal hidden.
    public var description: String {
        switch self {
        case .literal(let text): "\(text)"
        case .environment(let name): "env \(name)"
        case .file(let path): "file \(path)"
        case .command(let command): "run \(command)"
        }
    }
}

/// A secret in the rule file itself. It is never printed: not by interpolation, `dump`, or a debugger's reflection.
/// Only `reveal` returns the text.
public struct RedactedText: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let text: String

    public init(_ text: String) {
        self.text = text
    }

    /// The text itself, for the one place that sends or hashes it.
    public func reveal() -> String { text }

    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: [(label: String?, value: Any)]()) }
}
