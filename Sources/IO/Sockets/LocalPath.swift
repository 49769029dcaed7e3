import Bytes
import CLinux
import Glibc

/// The path of a socket in the file system.
public struct LocalPath: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// The longest path that the system supports, in bytes.
    public static let longest = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Nil if the path is too long for the system, or contains a zero byte.
    public init?(_ path: String) {
        guard (1...Self.longest).contains(path.utf8.count), !path.utf8.contains(0) else { return nil }
        description = path
    }

    /// Whether that error number means that no process listens there.
    public static func isAbsence(_ reason: Int32) -> Bool { [ENOENT, ECONNREFUSED, ENOTDIR].contains(reason) }

    /// The user who owns the directory of the socket; nil if it is gone.
    var directoryOwner: UInt32? {
        let name = description.split(separator: "/", omittingEmptySubsequences: false).last?.utf8.count ?? 0
        var status = stat()
        return stat(description.dropLast(name) + ".", &status) == 0 ? status.st_uid : nil
    }

    /// Deletes the socket's file, so that it cannot be found.
    public func remove() { unlink(description) }

    /// Connects to the process that listens there. Blocks.
    /// - Parameter blocking: false: it fails if the process does not take connections at the moment.
    func connected(as kind: __socket_type = SOCK_STREAM, blocking: Bool = true) throws(IOError) -> Int32 {
        let manner = blocking ? SOCK_CLOEXEC.rawValue : SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(AF_UNIX, Int32(kind.rawValue | manner), 0)
        guard descriptor >= 0 else { throw .system(errno: errno, operation: "cannot make a socket") }
        guard withSystemAddress({ connect(descriptor, $0, $1) }) == 0 else {
            let reason = errno
            close(descriptor)
            throw .system(errno: reason, operation: "cannot connect")
        }
        return descriptor
    }

    /// Listens there. A socket file without a listening process is replaced.
    /// - Parameters:
    ///   - mode: the permissions of the file: by default only the process's own user can connect.
    ///   - group: the group of the file; nil for the process's own.
    func listening(
        mode: UInt32 = Self.ownMode, group: UInt32? = nil, backlog: Int32 = 16
    ) throws(LocalListener.Failure) -> Int32 {
        let isStale = try removeStale()
        let operation = isStale ? "cannot listen again on \(description)" : "cannot listen on \(description)"
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw .failed(.system(errno: errno, operation: operation)) }
        // Set before the socket has a name, so that other users cannot connect before its file is as it should be.
        guard fchmod(descriptor, Self.ownMode) == 0, withSystemAddress({ bind(descriptor, $0, $1) }) == 0,
            group.map({ lchown(description, uid_t.max, $0) == 0 }) ?? true,
            mode == Self.ownMode || chmod(description, mode) == 0, listen(descriptor, backlog) == 0
        else {
            let reason = errno
            close(descriptor)
            throw .failed(.system(errno: reason, operation: operation))
        }
        return descriptor
    }

    private static let ownMode: UInt32 = 0o600

    /// Deletes a socket file without a listening process. Any other file stays.
    /// - Returns: whether there was one.
    private func removeStale() throws(LocalListener.Failure) -> Bool {
        var status = stat()
        guard lstat(description, &status) == 0 else { return false }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw .failed(
                .system(errno: EEXIST, operation: "cannot listen on \(description), which is not a socket"))
        }
        let listener: Int32
        do throws(IOError) { listener = try connected(as: SOCK_STREAM, blocking: false) } catch {
            guard case .system(let reason, _) = error, Self.isAbsence(reason) else {
                throw .failed(.system(errno: EADDRINUSE, operation: "cannot listen on \(description)"))
            }
            return unlink(description) == 0
        }
        defer { close(listener) }
        throw .inUse(process: LocalPeer(of: listener)?.process ?? 0)
    }

    /// The device and the number of the file at the path; empty if the path has no file.
    var file: [UInt64] {
        var status = stat()
        return lstat(description, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : []
    }

    private func withSystemAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var system = sockaddr_un()
        system.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &system.sun_path) { room in
            room.copyBytes(from: description.utf8.prefix(Self.longest))
        }
        return withUnsafePointer(to: &system) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// The process at the other end of a local socket, from the system.
public struct LocalPeer: Sendable {
    public let user: UInt32
    public let process: Int32

    init?(of descriptor: Int32) {
        var (user, process) = (uid_t.max, pid_t(-1))
        guard linux_peer(descriptor, &user, &process) == 0 else { return nil }
        self.user = user
        self.process = process
    }

    /// This process's user.
    public static var ownUser: UInt32 { getuid() }
    public static var ownProcess: Int32 { getpid() }

    static var isRoot: Bool { geteuid() == 0 }

    /// Whether it is a process of this user, or of root.
    public var isOurs: Bool { user == 0 || user == geteuid() }
}

/// A listening socket in the file system on one loop, for this user and root.
public final class LocalListener: DescriptorChannel {
    /// The reason why the process cannot listen on a path.
    public enum Failure: Error {
        /// The path is used by another process.
        case inUse(process: Int32)
        case failed(IOError)
    }

    public let path: LocalPath
    private let accept: (Int32, LocalPeer) -> Void
    private static let batch = 16
    private static let pause: Milliseconds = 100

    /// Calls `accept` on the loop with each new connection, which `accept` then owns, and with its other end.
    public init(
        _ path: LocalPath, on loop: EventLoop, accept: @escaping (Int32, LocalPeer) -> Void
    ) throws(Failure) {
        self.path = path
        self.accept = accept
        super.init(descriptor: try path.listening(), on: loop)
        do throws(IOError) { try loop.register(self) } catch { throw .failed(error) }
    }

    override func receive(_ mask: UInt32) { acceptAll() }
    override func expire() { acceptAll() }
    override func resume() { acceptAll() }

    private func acceptAll() {
        guard condition == .open else { return }
        for _ in 0..<Self.batch {
            let accepted = linux_accept(descriptor, nil, nil)
            switch accepted {
            case -EAGAIN: return
            case -EINTR, -ECONNABORTED: continue
            case ..<0: return setDeadline(after: Self.pause)
            default:
                if let peer = LocalPeer(of: accepted), peer.isOurs {
                    accept(accepted, peer)
                } else {
                    Glibc.close(accepted)
                }
            }
        }
        loop.postpone(self)
    }

    /// Closes the listener and deletes its file.
    override public func close() {
        if !isClosed { path.remove() }
        super.close()
    }
}
