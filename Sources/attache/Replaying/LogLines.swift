import Bytes
import Glibc
import IO

/// The lines of a log, one after the other: of a file, or of standard input. Blocks.
struct LogLines: ~Copyable {
    private let descriptor: Int32
    private let name: String
    private var rest: [UInt8] = []
    private var hasEnded = false

    private static let step = 64 << 10
    /// A longer line is none of ours.
    private static let longest = 1 << 20

    /// - Parameter path: `-`: standard input.
    init(_ path: String) throws(CommandError) {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? dup(STDIN_FILENO) : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .failed("cannot read the log \(Console.printable(name)): \(IOError.sentence(for: errno))")
        }
    }

    deinit { close(descriptor) }

    /// Calls `body` with each line that is not too long, without its end.
    mutating func read(each body: ([UInt8]) -> Void) throws(CommandError) {
        while !hasEnded {
            try fill()
            var start = rest.startIndex
            while let end = rest[start...].firstIndex(of: .lineFeed) {
                body(Array(rest[start..<end]))
                start = end + 1
            }
            rest.removeSubrange(..<start)
            if rest.count > Self.longest { rest.removeAll() }
        }
        if !rest.isEmpty { body(rest) }
    }

    private mutating func fill() throws(CommandError) {
        var failure: Int32 = 0
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.step) { buffer, count in
            let read = unsafe Glibc.read(descriptor, buffer.baseAddress, Self.step)
            failure = read < 0 ? errno : 0
            count = max(0, read)
        }
        if failure == EINTR { return }
        guard failure == 0 else {
            throw .failed("cannot read the log \(Console.printable(name)): \(IOError.sentence(for: failure))")
        }
        if piece.isEmpty { hasEnded = true }
        rest += piece
    }
}
