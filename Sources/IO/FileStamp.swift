import Glibc

/// Tells whether a file is the one that was read, without reading it: which file it is, how long, and when it was
/// written to. Blocks.
public struct FileStamp: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    /// Bytes in it.
    public let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// Nil when there is no such file, or none that may be looked at.
    public init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int(status.st_size)
        // When its name or rights changed counts too: a file that was moved here may be older than the one before.
        seconds = status.st_ctim.tv_sec
        nanoseconds = status.st_ctim.tv_nsec
    }

    /// Whether it is the same file, whatever was written to it meanwhile.
    public func isSameFile(as other: FileStamp) -> Bool { device == other.device && inode == other.inode }
}
