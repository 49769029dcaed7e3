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
    func connected(as kind: __socket_type = SOCK_STREAM) throws(IOError) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(kind.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system(errno: errno, operation: "cannot make a socket") }
        guard withSystemAddress({ connect(descriptor, $0, $1) }) == 0 else {
            let reason = errno
            close(descriptor)
            throw .system(errno: reason, operation: "cannot connect")
        }
        return descriptor
    }

    /// Listens there, so that only the process's own user can connect. A socket file without a listening process is
    /// replaced.
    func listening() throws(LocalListenerError) -> Int32 {
        if let listener = process { throw .inUse(process: listener) }
        let isStale = unlink(description) == 0
        let operation = isStale ? "cannot listen again on \(description)" : "cannot listen on \(description)"
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw .failed(.system(errno: errno, operation: operation)) }
        // Set before the socket has a name, so that other users can never connect.
        guard fchmod(descriptor, 0o600) == 0, withSystemAddress({ bind(descriptor, $0, $1) }) == 0,
            listen(descriptor, 16) == 0
        else {
            let reason = errno
            close(descriptor)
            throw .failed(.system(errno: reason, operation: operation))
        }
        return descriptor
    }

    /// The process that listens there; nil if none.
    private var process: Int32? {
        guard let descriptor = try? connected() else { return nil }
        defer { close(descriptor) }
        return LocalPeer(of: descriptor)?.process
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

/// The reason why the process cannot listen on a path.
public enum LocalListenerError: Error {
    /// The path is used by another process.
    case inUse(process: Int32)
    case failed(IOError)
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
public final class LocalListener: Channel {
    public let path: LocalPath
    private let accept: (Int32, LocalPeer) -> Void
    private static let batch = 16
    private static let pause: Milliseconds = 100

    /// Calls `accept` on the loop with each new connection, which `accept` then owns, and with its other end.
    public init(
        _ path: LocalPath, on loop: EventLoop, accept: @escaping (Int32, LocalPeer) -> Void
    ) throws(LocalListenerError) {
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
