import IO
import Rules

/// Tells when a rule file, or one that it includes, has been written: by an editor, or by a mount that swaps a whole directory
/// under a link. Blocks on files.
struct RuleFileWatch {
    private let paths: [String]
    /// As the files were when the rules were read.
    private var known: [FileStamp?]
    /// As they were at the last look, if they were others: whoever writes may not have finished.
    private var seen: [FileStamp?]

    /// To be made before the rules are read: a change meanwhile counts as one behind it.
    init(_ path: String) {
        let file = try? RuleFile(path, from: FileSource())
        let paths = file?.sources.files.map(\.path) ?? [path]
        self.paths = paths
        known = paths.map { FileStamp(path: $0) }
        seen = known
    }

    /// Whether the files are others than the rules were read from, and have been left alone since the last look. Says so once
    /// for each change.
    mutating func hasChanged() -> Bool {
        let present = paths.map { FileStamp(path: $0) }
        defer { seen = present }
        guard present == seen, present != known else { return false }
        known = present
        return true
    }
}
