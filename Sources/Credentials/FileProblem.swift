import IO

/// Why a file is of no use. Shows nothing of what is in it.
public struct FileProblem: Error, Sendable, Hashable, CustomStringConvertible {
    public let path: String
    /// What reads well behind the path.
    public let sentence: String

    public init(path: String, _ sentence: String) {
        self.path = path
        self.sentence = sentence
    }

    init(path: String, _ error: FileError) {
        switch error {
        case .tooLarge: self.init(path: path, "the file is too large")
        case .system(let errno): self.init(path: path, "cannot read the file: \(IOError.sentence(for: errno))")
        }
    }

    public var description: String { "\(path): \(sentence)" }
}
