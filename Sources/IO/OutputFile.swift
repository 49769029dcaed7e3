import Glibc

/// A descriptor that lines are appended to. Writing blocks: it belongs on the blocking pool.
public final class OutputFile: Sendable {
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

    /// Writes all bytes; false when the destination takes no more, as a full disk or a closed pipe.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { all in
            var rest = all[...]
            while !rest.isEmpty {
                let written = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return false }
                rest = rest.dropFirst(written)
            }
            return true
        }
    }
}
