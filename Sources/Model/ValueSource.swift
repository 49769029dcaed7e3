/// Where a value comes from that is read when it is used, and again when it has changed.
public enum ValueSource: Sendable, Hashable, CustomStringConvertible {
    case literal(RedactedText)
    /// The name of an environment variable.
    case environment(String)
    /// A path, resolved against the directory of the file that names it. One trailing newline is no part of the value.
    case file(String)

    /// The file that it is read from; nil where it stands elsewhere.
    var path: String? {
        if case .file(let path) = self { path } else { nil }
    }

    /// As the rule file would say it, with a literal hidden.
    public var description: String {
        switch self {
        case .literal(let text): "\(text)"
        case .environment(let name): "env \(name)"
        case .file(let path): "file \(path)"
        }
    }
}

/// A secret that stands in the rule file itself. Nothing prints it: not interpolation, not `dump`, not a debugger's
/// reflection. Only `reveal` yields the text.
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
