/// Why a file named by the rule file, or the rule file itself, could not be read.
public enum SourceError: Error, Equatable, Sendable, CustomStringConvertible {
    case notFound
    case tooLarge(limit: Int)
    /// The system's own words, for example "permission denied".
    case unreadable(String)

    public var description: String {
        switch self {
        case .notFound: "no such file"
        case .tooLarge(let limit): "the file is larger than \(limit) bytes"
        case .unreadable(let reason): reason
        }
    }
}
