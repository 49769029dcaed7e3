import Glibc

/// Keeps other processes of this program away from a directory's files while several of them change together. It ends
/// with the process. On a file system without locks it has no effect.
public final class DirectoryLock {
    private let descriptor: Int32

    /// Waits until no other process holds a lock.
    public init(exclusive path: String) throws(IOError) {
        descriptor = try Self.open(path)
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
    }

    /// Locks for reading.
    ///
    /// - Parameter waits: whether to wait while another process changes the directory. If false, the result is then
    ///   nil.
    public init?(shared path: String, waits: Bool) throws(IOError) {
        descriptor = try Self.open(path)
        while flock(descriptor, waits ? LOCK_SH : LOCK_SH | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return nil }
            guard errno == EINTR else { break }
        }
    }

    deinit { close(descriptor) }

    public func release() { flock(descriptor, LOCK_UN) }

    private static func open(_ path: String) throws(IOError) -> Int32 {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(errno: errno, operation: "cannot open the directory \(path)") }
        return descriptor
    }
}
