/// Why a file was not read.
enum FileError: Error, Sendable, Hashable {
    case tooLarge
    /// The system's own words.
    case system(String)
}
