import Glibc
import IO

/// The absolute path of a file.
enum WholePath {
    /// The path without links.
    /// - Throws: if the file does not exist.
    static func of(_ path: String) throws(CommandError) -> String {
        guard let whole = unsafe realpath(path, nil) else {
            throw .failed("cannot read \(path): \(IOError.sentence(for: errno))")
        }
        defer { unsafe free(whole) }
        return unsafe String(cString: whole)
    }

    /// The path from the root, whether or not there is a file. Links stay as they are.
    static func lexical(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        var rest = path[...]
        while rest.hasPrefix("./") { rest = rest.dropFirst(2) }
        let base = unsafe String(cString: folder)
        return base == "/" ? "/\(rest)" : "\(base)/\(rest)"
    }
}
