/// Where a value comes from that is read when it is used, and again when it has changed.
public enum ValueSource: Sendable, Equatable, CustomStringConvertible {
    case literal(RedactedText)
    /// The name of an environment variable.
    case environment(String)
    /// A path, resolved against the directory of the file that names it. One trailing newline is no part of the value.
    case file(String)

    /// As the rule file would say it, with a literal hidden.
    public var description: String {
        switch self {
        case .literal(let text): "\(text)"
        case .environment(let name): "env \(name)"
        case .file(let path): "file \(path)"
        }
    }
}
