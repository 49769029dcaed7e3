/// Where a value of the rule file comes from.
public enum ValueSource: Sendable, Hashable {
    case literal(String)
    /// A variable of the process's environment.
    case environment(String)
    /// A file's content without one newline at its end; read again when the file changes.
    case file(path: String)
}

extension ValueSource: CustomStringConvertible {
    /// Names the source, never the value.
    public var description: String {
        switch self {
        case .literal: "a literal value"
        case .environment(let name): "environment variable \(name)"
        case .file(let path): "file \(path)"
        }
    }
}
