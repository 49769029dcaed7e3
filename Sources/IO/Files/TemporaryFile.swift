import CLinux
import Glibc

/// A file without a name, deleted with its descriptor. Its calls run on the blocking pool.
public final class TemporaryFile: Sendable {
    private let descriptor: Int32

    /// Nil if no file can be created in `$TMPDIR` or `/tmp`.
    public init?() {
        let directory = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        descriptor = linux_temporary_file(directory)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Appends the bytes; false if not all were written, as on a full disk.
    public func append(_ bytes: [UInt8]) async -> Bool {
        await BlockingPool.shared.run { [descriptor] in DurableFile.writeAll(bytes.span, to: descriptor) }
    }

    /// Reads up to `count` bytes at `offset`; nil at the end and after an error.
    public func read(at offset: Int, count: Int) async -> [UInt8]? {
        await BlockingPool.shared.run { [descriptor] in
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { room, filled in
                filled = max(0, pread(descriptor, room.baseAddress, count, off_t(offset)))
            }
            return bytes.isEmpty ? nil : bytes
        }
    }
}
