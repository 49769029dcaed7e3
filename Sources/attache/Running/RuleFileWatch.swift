import IO
import Rules

/// Detects that a rule file, or an included one, has been written: by an editor, or by a mount that replaces a
/// directory under a link. Blocks on files.
struct RuleFileWatch {
    private let paths: [String]
    /// The state of the files when the rules were read.
    private var known: [FileStamp?]
    /// The state of the files at the last check, if it differed: their writer may not have finished.
    private var seen: [FileStamp?]

    /// Creates the watch. Do this before reading the rules, so that a change meanwhile counts as a later one.
    init(_ path: String) {
        let file = try? RuleFile(path, from: FileSource())
        let paths = file?.sources.files.map(\.path) ?? [path]
        self.paths = paths
        known = paths.map { FileStamp(path: $0) }
        seen = known
    }

    /// Whether the files differ from those that were read, and have not changed since the last check. True once for
    /// each change.
    mutating func hasChanged() -> Bool {
        let present = paths.map { FileStamp(path: $0) }
        defer { seen = present }
        guard present == seen, present != known else { return false }
        known = present
        return true
    }
}
