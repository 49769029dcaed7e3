import Bytes
import Glibc
import IO

extension ReplayCommand {
    /// The lines of a log, from a file or standard input. Blocks.
    struct LogLines: ~Copyable {
        private let descriptor: Int32
        private let name: String
        private var rest: [UInt8] = []
        private var hasEnded = false
        /// The number of bytes that were read so far.
        private(set) var position = 0
        /// The number of bytes of a file; nil for a source without a size, such as a pipe.
        let size: Int?

        private static let step = 64 << 10
        /// The limit of a line in bytes; the proxy writes no longer ones.
        private static let longest = 1 << 20

        /// - Parameter path: the path; `-` is standard input.
        init(_ path: String) throws(CommandError) {
            name = path == "-" ? "standard input" : path
            descriptor = path == "-" ? dup(STDIN_FILENO) : unsafe open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                throw .failed("cannot read the log \(Console.printable(name)): \(IOError.sentence(for: errno))")
            }
            var facts = stat()
            let isFile = unsafe fstat(descriptor, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
            size = isFile ? Int(facts.st_size) : nil
        }

        deinit { close(descriptor) }

        /// Calls `body` with each line that is not too long, without its end.
        ///
        /// - Parameter goesOn: returns whether to read on; also called while there is nothing to read.
        mutating func read(
            while goesOn: (borrowing ReplayCommand.LogLines) -> Bool, each body: ([UInt8]) -> Void
        ) throws(CommandError) {
            while !hasEnded {
                guard goesOn(self) else { return }
                if isWaiting { continue }
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

        /// The time between two calls of `goesOn`.
        private static let patience: Int32 = 200

        /// Whether there was nothing to read for a while.
        private var isWaiting: Bool {
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&watched, 1, Self.patience) <= 0
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
            position += piece.count
            rest += piece
        }
    }
}
