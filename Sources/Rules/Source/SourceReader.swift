import Model

/// The outside of a rule file: other files and the environment. The command line reads the real
/// ones; a test plays them, which keeps this target pure.
public protocol SourceReader {
    /// The content of a file. Throws `.tooLarge` rather than reading more than `limit` bytes.
    func bytes(at path: String, limit: Int) throws(SourceError) -> [UInt8]

    /// The value of an environment variable, or nil when it is not set.
    func environment(_ name: String) -> String?

    /// Whether the path is that of a file, and of no directory.
    func isFile(_ path: String) -> Bool

    /// The permissions of a file that every user of the machine can read; nil where some cannot.
    func exposedMode(of path: String) -> UInt32?

    /// A host name beyond ASCII in its xn-- form (RFC 5891); nil where it has none, or nobody knows.
    func asciiForm(ofHost name: String) -> String?

    /// The day on which the file is read. Nil: nothing is said of days that are past or near.
    var today: Day? { get }
}

extension SourceReader {
    public var today: Day? { nil }

    public func isFile(_: String) -> Bool { false }

    public func asciiForm(ofHost _: String) -> String? { nil }

    public func exposedMode(of _: String) -> UInt32? { nil }
}

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
