import Glibc

/// Writes small files so that after a crash they are complete, with the old or the new content.
public enum DurableFile {
    /// Creates the file, or replaces an existing one.
    ///
    /// - Parameters:
    ///   - mode: the file's permissions, independent of the process's mask.
    ///   - replacing: whether an existing file may be replaced. If false, it is an error.
    public static func write(
        _ bytes: Span<UInt8>, to path: String, mode: mode_t, replacing: Bool = true
    ) throws(IOError) {
        let folder = folder(of: path)
        let temporary = "\(path).\(getpid()).new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw .system(errno: errno, operation: "cannot make a file in \(folder)") }
        let isWritten = fchmod(descriptor, mode) == 0 && writeAll(bytes, to: descriptor) && fsync(descriptor) == 0
        let reason = errno
        close(descriptor)
        // A link never replaces another file.
        guard isWritten, replacing ? rename(temporary, path) == 0 : link(temporary, path) == 0 else {
            let failure = isWritten ? errno : reason
            unlink(temporary)
            throw .system(errno: failure, operation: "cannot write \(path)")
        }
        if !replacing { unlink(temporary) }
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
    }

    /// Creates a directory and the missing ones above it, accessible by this user only unless `mode` differs. An
    /// existing directory stays unchanged.
    public static func makeDirectory(_ path: String, mode: mode_t = 0o700) throws(IOError) {
        var made = path.hasPrefix("/") ? "/" : ""
        for name in path.split(separator: "/") {
            made += made.isEmpty || made.hasSuffix("/") ? name : "/\(name)"
            guard mkdir(made, mode) == 0 || errno == EEXIST || isDirectory(made) else {
                throw .system(errno: errno, operation: "cannot make the directory \(made)")
            }
        }
    }

    /// Whether users other than the owner and the group may write to a directory. False if it does not exist.
    public static func isOpenToOthers(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_mode & S_IWOTH != 0
    }

    /// Writes all of the bytes; false after an error.
    static func writeAll(_ bytes: Span<UInt8>, to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { all in
            var rest = all[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    private static func isDirectory(_ path: String) -> Bool {
        let reason = errno
        defer { errno = reason }
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Writes a file that exists, with its mode and, as far as this user may, its owner.
    public static func rewrite(_ bytes: Span<UInt8>, at path: String) throws(IOError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .system(errno: errno, operation: "cannot read \(path)") }
        try write(bytes, to: path, mode: status.st_mode & 0o7777)
        if status.st_uid != geteuid() || status.st_gid != getegid() { _ = chown(path, status.st_uid, status.st_gid) }
    }

    /// Removes a file, if there is one.
    public static func remove(_ path: String) { unlink(path) }

    /// Throws unless this process can make files in a directory. Leaves nothing behind.
    public static func requireWritable(_ folder: String) throws(IOError) {
        guard access(folder, W_OK | X_OK) == 0 else {
            throw .system(errno: errno, operation: "cannot write to the directory \(folder)")
        }
    }
}
