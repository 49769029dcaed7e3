import CLinux
import Glibc

/// A kernel pipe: the way-station of `splice(2)`, so that bulk bytes never enter this process.
public final class Pipe {
    public let capacity: Int
    /// Bytes that were spliced in and not yet out.
    public internal(set) var held = 0
    let readEnd: Int32
    let writeEnd: Int32

    /// A pipe of 1 MiB costs a fourth of the system calls of the default 64 KiB.
    private static let wanted: Int32 = 1 << 20

    init() throws(IOError) {
        var ends: (Int32, Int32) = (-1, -1)
        let size = withUnsafeMutablePointer(to: &ends) { pair in
            pair.withMemoryRebound(to: Int32.self, capacity: 2) { linux_pipe($0, Self.wanted) }
        }
        guard size > 0 else { throw .system(errno: -size, operation: "cannot make a pipe") }
        guard Descriptors.areMany(behind: max(ends.0, ends.1)) else {
            Glibc.close(ends.0)
            Glibc.close(ends.1)
            throw .system(errno: EMFILE, operation: "no descriptors are left for a pipe")
        }
        capacity = Int(size)
        (readEnd, writeEnd) = ends
    }

    deinit {
        Glibc.close(readEnd)
        Glibc.close(writeEnd)
    }
}

/// The empty pipes of one loop. Each costs two descriptors, so few are kept.
public final class PipePool {
    private var free: [Pipe] = []
    private static let kept = 16

    /// Nil when the system gives no pipe, or its descriptors are wanted for connections: the caller copies through memory
    /// instead.
    public func take() -> Pipe? {
        free.popLast() ?? (try? Pipe())
    }

    /// Gives a pipe back. One that still holds bytes is let go: they belong to nobody else.
    public func give(_ pipe: Pipe) {
        if pipe.held == 0, free.count < Self.kept { free.append(pipe) }
    }
}
