import Glibc
import IO

/// The path of a file, from wherever it is looked at.
enum WholePath {
    /// - Throws: where there is no such file.
    static func of(_ path: String) throws(CommandError) -> String {
        guard let whole = unsafe realpath(path, nil) else {
            throw .failed("cannot read \(path): \(IOError.sentence(for: errno))")
        }
        defer { unsafe free(whole) }
        return unsafe String(cString: whole)
    }
}
