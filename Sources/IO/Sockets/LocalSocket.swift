import CLinux
import Glibc

/// A listening socket in the file system that other users may connect to, as far as its permissions say. The loops of
/// the process share it.
public final class LocalSocket: Sendable {
    public let path: LocalPath
    private let descriptor: Int32
    /// The device and the number of its file.
    private let file: [UInt64]

    private static let backlog: Int32 = 1024

    /// Listens on the path. A socket file on which no process answers is replaced.
    /// - Parameters:
    ///   - mode: the permissions of the socket's file. Who may write to it may connect.
    ///   - group: the number of the group that owns the file; nil for the process's own.
    public init(_ path: LocalPath, mode: UInt32, group: UInt32?) throws(LocalListener.Failure) {
        self.path = path
        descriptor = try path.listening(mode: mode, group: group, backlog: Self.backlog)
        file = path.file
    }

    deinit { Glibc.close(descriptor) }

    /// Deletes the socket's file, unless another one is in its place.
    public func remove() {
        if path.file == file { path.remove() }
    }

    /// A new descriptor of the socket, for one loop.
    func copy() throws(IOError) -> Int32 {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .system(errno: errno, operation: "cannot listen on \(path)") }
        return copy
    }
}

/// The groups of this machine.
public enum SystemGroup {
    /// The number of a group, which may be written as a name or as a number; nil if there is no group of that name.
    public static func number(of name: String) -> UInt32? {
        if let number = UInt32(name) { return number }
        var room = [CChar](repeating: 0, count: 64 << 10)
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        guard getgrnam_r(name, &entry, &room, room.count, &found) == 0, found != nil else { return nil }
        return entry.gr_gid
    }
}
