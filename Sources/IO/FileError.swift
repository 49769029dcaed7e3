/// Why a file was not read.
public enum FileError: Error, Sendable, Hashable {
    case tooLarge
    case system(errno: Int32)
}
