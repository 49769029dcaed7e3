import Model

/// The outside of a rule file: other files and the environment. The command line reads the real ones; tests provide
/// their own, which keeps this target pure.
public protocol SourceReader {
    /// Returns the content of a file. Throws `.tooLarge` instead of reading more than `limit` bytes.
    func bytes(at path: String, limit: Int) throws(SourceError) -> [UInt8]

    /// The value of an environment variable; nil if it is not set.
    func environment(_ name: String) -> String?

    /// Whether the path names a file, not a directory.
    func isFile(_ path: String) -> Bool

    /// The permissions of a file that every user of the machine can read; nil if some users cannot.
    func exposedMode(of path: String) -> UInt32?

    /// The xn-- form (RFC 5891) of a host name that is not ASCII; nil if it has none, or none is known.
    func asciiForm(ofHost name: String) -> String?

    /// The day on which the file is read. Nil to report nothing about past or near days.
    var today: Day? { get }
}

extension SourceReader {
    public var today: Day? { nil }

    public func isFile(_: String) -> Bool { false }

    public func asciiForm(ofHost _: String) -> String? { nil }

    public func exposedMode(of _: String) -> UInt32? { nil }
}

/// The reason why a file named by the rule file, or the rule file itself, could not be read.
public enum SourceError: Error, Equatable, Sendable, CustomStringConvertible {
    case notFound
    case tooLarge(limit: Int)
    /// The text of the system, for example "permission denied".
    case unreadable(String)

    public var description: String {
        switch self {
        case .notFound: "no such file"
        case .tooLarge(let limit): "the file is larger than \(limit) bytes"
        case .unreadable(let reason): reason
        }
    }
}
