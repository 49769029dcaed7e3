import CLinux
import Glibc

/// A kernel pipe for `splice(2)`, so that bulk bytes never enter this process.
public final class Pipe {
    public let capacity: Int
    /// The bytes in the pipe.
    public internal(set) var held = 0
    let readEnd: Int32
    let writeEnd: Int32

    /// The wanted capacity. With 1 MiB a pipe needs a fourth of the system calls of the default 64 KiB.
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

    /// The empty pipes of one loop. Each needs two descriptors, so few are kept.
    public final class Pool {
        private var free: [Pipe] = []
        private static let kept = 16

        /// Takes a pipe. Nil if the system gives none, or if descriptors are needed for connections: the caller then copies
        /// through memory.
        public func take() -> Pipe? {
            free.popLast() ?? (try? Pipe())
        }

        /// Returns a pipe to the pool. A pipe that still contains bytes is closed.
        public func give(_ pipe: Pipe) {
            if pipe.held == 0, free.count < Self.kept { free.append(pipe) }
        }
    }
}
