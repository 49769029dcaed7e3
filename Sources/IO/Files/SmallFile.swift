import Bytes
import CLinux
import Glibc

/// Reads small files completely, without the UTF-8 byte-order mark that editors on Windows put before a text. No binary
/// file that the proxy reads begins with these bytes. Blocks; on a pipe without a writer, for two seconds at most.
public enum SmallFile {
    /// The time limit for a pipe.
    private static let patience = Milliseconds.seconds(2)
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    public static func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .system(errno: errno) }
        defer { close(descriptor) }
        return try readAll(of: descriptor, limit: limit)
    }

    public static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether the path is a file, and not a directory or a device.
    public static func isRegular(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// The permissions of the file among those in `mask`; 0 if there is no file.
    public static func permissions(of path: String, among mask: mode_t) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & mask : 0
    }

    /// The permissions of a file that every user can read; nil for other files, and if a directory above excludes some
    /// users.
    public static func exposedMode(of path: String) -> mode_t? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        let mode = permissions(of: path, among: 0o7777)
        guard mode & S_IROTH != 0 else { return nil }
        var above = String(cString: resolved)
        while let slash = above.lastIndex(of: "/"), slash > above.startIndex {
            above = String(above[..<slash])
            if permissions(of: above, among: S_IXOTH) == 0 { return nil }
        }
        return mode
    }

    /// Reads the content that is piped or redirected into the program.
    public static func readStandardInput(limit: Int) throws(FileError) -> [UInt8] {
        try readAll(of: STDIN_FILENO, limit: limit)
    }

    private static func readAll(of descriptor: Int32, limit: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        // The bytes may be a secret.
        defer { wipe(&piece) }
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_size > 0, status.st_size <= limit {
            bytes.reserveCapacity(Int(status.st_size) + 1)
        }
        while true {
            let count = piece.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 {
                if bytes.starts(with: byteOrderMark) { move(&bytes, from: byteOrderMark.count, capacity: bytes.count) }
                return bytes
            }
            if count < 0 {
                let reason = errno
                if reason == EINTR || reason == EAGAIN && hasMore(descriptor) { continue }
                throw .system(errno: reason == EAGAIN ? ETIMEDOUT : reason)
            }
            guard bytes.count + count <= limit else { throw .tooLarge }
            if bytes.count + count > bytes.capacity {
                move(&bytes, from: 0, capacity: max(bytes.count + count, 2 * bytes.count))
            }
            bytes += piece[..<count]
        }
    }

    /// Moves the bytes from `start` on to other memory, and wipes the former: an array that grows leaves copies behind.
    private static func move(_ bytes: inout [UInt8], from start: Int, capacity: Int) {
        var moved: [UInt8] = []
        moved.reserveCapacity(capacity)
        moved += bytes[start...]
        wipe(&bytes)
        bytes = moved
    }

    static func wipe(_ bytes: inout [UInt8]) {
        for index in bytes.indices { bytes[index] = 0 }
    }

    private static func hasMore(_ descriptor: Int32) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, Int32(clamping: patience.count)) > 0
    }

    /// Detects whether a file has changed since it was read, without reading it: by its identity, size and time of
    /// change. Blocks.
    public struct Stamp: Hashable, Sendable {
        private let device: UInt64
        private let inode: UInt64
        /// The size in bytes.
        public let size: Int
        private let seconds: Int
        private let nanoseconds: Int

        /// Nil if there is no file, or if it cannot be accessed.
        public init?(path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
            size = Int(status.st_size)
            // The time of change includes moves and permissions: a file that was moved here may be older than the
            // former one.
            seconds = status.st_ctim.tv_sec
            nanoseconds = status.st_ctim.tv_nsec
        }

        /// Whether it is the same file, even with other content.
        public func isSameFile(as other: SmallFile.Stamp) -> Bool { device == other.device && inode == other.inode }
    }
}

/// The reason why a file was not read.
public enum FileError: Error, Sendable, Hashable {
    case tooLarge
    case system(errno: Int32)
}
