import Glibc

/// A descriptor that lines are appended to. Writing blocks: it belongs on a thread that may.
public final class OutputFile: Sendable {
    /// How much of some bytes was written.
    public enum Written: Equatable, Sendable {
        case all
        /// So many, before an error with that number, as on a full disk or a closed pipe.
        case part(Int, errno: Int32)
    }

    private let descriptor: Int32
    private let isOwned: Bool

    public static let standardOutput = OutputFile(borrowing: 1)
    public static let standardError = OutputFile(borrowing: 2)

    private init(borrowing descriptor: Int32) {
        self.descriptor = descriptor
        isOwned = false
    }

    /// Opens, or makes with mode 0640, a file for appending.
    public init(appendingTo path: String) throws(IOError) {
        descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
        isOwned = true
        guard descriptor >= 0 else { throw .system(errno: errno, operation: "cannot open \(path)") }
    }

    deinit { if isOwned, descriptor >= 0 { close(descriptor) } }

    /// Writes the bytes, and waits until the destination has taken them all.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Written {
        bytes.withUnsafeBytes { all in
            var rest = all[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR || errno == EAGAIN && waitForRoom() { continue }
                guard count > 0 else { return .part(all.count - rest.count, errno: count < 0 ? errno : EIO) }
                rest = rest.dropFirst(count)
            }
            return .all
        }
    }

    /// Standard output may be shared with a program that has made it non-blocking.
    private func waitForRoom() -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&watched, 1, -1) > 0 || errno == EINTR
    }
}
