import Bytes
import Glibc
import Synchronization

/// Appends complete lines to a file on a thread of its own, so that writers never wait. If the destination is slower
/// than the writers, or fails, lines are dropped and counted.
public final class LineWriter: Sendable {
    /// The destination of lines. Writing blocks, so it needs a thread that may block.
    public protocol Sink: AnyObject, Sendable {
        /// Writes the bytes, and waits until the destination has taken all of them.
        @discardableResult
        func write(_ bytes: [UInt8]) -> LineWriter.Written

        /// Whether the existing content ends within a line, as after a full disk.
        var endsWithinLine: Bool { get }
    }

    /// The part of some bytes that was written.
    public enum Written: Equatable, Sendable {
        case all
        /// The number of bytes before an error with that number, for instance on a full disk or a closed pipe.
        case part(Int, errno: Int32)
    }

    /// A change of the destination's state, for an operator, reported once each.
    public enum Change: Sendable, Equatable {
        /// The destination fails, such as a full disk or a closed pipe; the text is the system's.
        case failed(String)
        /// The destination is slower than the writers.
        case overtaxed
        /// The destination takes everything again. This many lines were lost meanwhile.
        case recovered(lost: Int)
    }

    /// Counts the lost lines of one kind.
    public final class Losses: Sendable {
        private let all = Atomic(0)
        private let fresh = Atomic(0)

        public init() {}

        public var total: Int { all.load(ordering: .relaxed) }

        /// Returns the number of lines lost since the last call.
        public func take() -> Int { fresh.exchange(0, ordering: .relaxed) }

        fileprivate func add(_ lines: Int) {
            all.add(lines, ordering: .relaxed)
            fresh.add(lines, ordering: .relaxed)
        }
    }

    private struct Piece {
        let bytes: [UInt8]
        let lines: Int
        let losses: Losses
    }

    private struct State {
        var file: any Sink
        /// Whether the file ends within a line.
        var isTorn: Bool
        var pieces: [Piece] = []
        var bytes = 0
        var isWriting = false
        var trouble: Change?
        /// The number of lines lost since the trouble began.
        var lost = 0
        var lastLoss = ContinuousClock.now

        /// - Returns: the change to report, once for each trouble.
        mutating func lose(_ lines: Int, of losses: Losses, because change: Change) -> Change? {
            losses.add(lines)
            lost += lines
            lastLoss = .now
            if trouble != nil { return nil }
            trouble = change
            return change
        }

        /// - Parameter calm: the time without losses after which the trouble is over.
        mutating func recover(after calm: Duration) -> Change? {
            guard trouble != nil, .now - lastLoss >= calm else { return nil }
            defer { (trouble, lost) = (nil, 0) }
            return .recovered(lost: lost)
        }
    }

    private let state: Mutex<State>
    private let limit: Int
    private let calm: Duration
    private let tell: (@Sendable (Change) -> Void)?
    private let pool: BlockingPool

    /// Writes to standard error. Its own failures are not reported.
    public static let standardError = LineWriter(OutputFile.standardError)

    /// - Parameters:
    ///   - pending: the limit of waiting bytes.
    ///   - calm: the time without losses after which a trouble is over, so that an intermittent one is reported once.
    ///   - pool: its one thread writes.
    ///   - tell: called on any thread with each change; it must not block.
    public init(
        _ file: any Sink, pending: Int = 16 << 20, calm: Duration = .seconds(10),
        on pool: BlockingPool = BlockingPool(threads: 1), tell: (@Sendable (Change) -> Void)? = nil
    ) {
        state = Mutex(State(file: file, isTorn: file.endsWithinLine))
        self.pool = pool
        limit = pending
        self.calm = calm
        self.tell = tell
    }

    /// Writes all later lines to `file`.
    public func replace(with file: any Sink) {
        state.withLock { state in
            state.file = file
            state.isTorn = file.endsWithinLine
        }
    }

    /// Takes over lines without blocking.
    /// - Parameters:
    ///   - lines: the number of lines in `bytes`, each with its end.
    ///   - losses: counts those that are lost, now or later.
    public func write(_ bytes: [UInt8], lines: Int, losses: Losses) {
        let (startsWriting, change) = state.withLock { state -> (Bool, Change?) in
            guard state.bytes + bytes.count <= limit else {
                return (false, state.lose(lines, of: losses, because: .overtaxed))
            }
            state.pieces.append(Piece(bytes: bytes, lines: lines, losses: losses))
            state.bytes += bytes.count
            defer { state.isWriting = true }
            return (!state.isWriting, nil)
        }
        if let change { tell?(change) }
        if startsWriting { pool.submit { self.writeAll() } }
    }

    /// Whether everything taken over was written, or was lost.
    public var isIdle: Bool { state.withLock { !$0.isWriting } }

    /// Waits until it is idle. Blocks: do not call it on a loop.
    public func drain(within limit: Milliseconds) {
        let end = ContinuousClock.now + limit.duration
        while !isIdle, ContinuousClock.now < end { Pause.take(5) }
    }

    private func writeAll() {
        while true {
            let (pieces, file, isTorn) = state.withLock { state in
                let pieces = state.pieces
                state.pieces = []
                state.bytes = 0
                if pieces.isEmpty { state.isWriting = false }
                return (pieces, state.file, state.isTorn)
            }
            if pieces.isEmpty { return }
            var breaksLine = isTorn
            for piece in pieces { write(piece, to: file, &breaksLine) }
            state.withLock { state in
                if state.file === file { state.isTorn = breaksLine }
            }
        }
    }

    /// - Parameter isTorn: whether the file ends within a line.
    private func write(_ piece: Piece, to file: any Sink, _ isTorn: inout Bool) {
        let newline = UInt8(ascii: "\n")
        // A line that a full disk has truncated must not spoil the next one.
        let bytes = isTorn ? [newline] + piece.bytes : piece.bytes
        let change: Change?
        switch file.write(bytes) {
        case .all:
            isTorn = false
            change = state.withLock { $0.recover(after: calm) }
        case .part(let count, let reason):
            if count > 0 { isTorn = bytes[count - 1] != newline }
            let lost = min(piece.lines, bytes[count...].count { $0 == newline })
            change = state.withLock { $0.lose(lost, of: piece.losses, because: .failed(IOError.sentence(for: reason))) }
        }
        if let change { tell?(change) }
    }
}

extension LineWriter.Sink {
    public var endsWithinLine: Bool { false }
}

/// A descriptor that lines are appended to.
public final class OutputFile: LineWriter.Sink {
    private let descriptor: Int32
    private let isOwned: Bool
    public let endsWithinLine: Bool

    public static let standardOutput = OutputFile(borrowing: 1)
    public static let standardError = OutputFile(borrowing: 2)

    private init(borrowing descriptor: Int32) {
        self.descriptor = descriptor
        isOwned = false
        endsWithinLine = false
    }

    /// Opens a file for appending, or creates it with mode 0640.
    public init(appendingTo path: String) throws(IOError) {
        descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
        isOwned = true
        guard descriptor >= 0 else { throw .system(errno: errno, operation: "cannot open \(path)") }
        endsWithinLine = Self.endsWithinLine(path, openAs: descriptor)
    }

    /// False for a pipe or a device. Only a regular file is opened for reading: on a pipe that would count as a reader.
    private static func endsWithinLine(_ path: String, openAs writing: Int32) -> Bool {
        var (status, last) = (stat(), UInt8(0))
        guard fstat(writing, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return false }
        let reading = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard reading >= 0 else { return false }
        defer { close(reading) }
        return pread(reading, &last, 1, status.st_size - 1) == 1 && last != UInt8(ascii: "\n")
    }

    deinit { if isOwned, descriptor >= 0 { close(descriptor) } }

    /// Whether both are the same file, pipe or terminal.
    public func isSame(as other: OutputFile) -> Bool {
        var (mine, others) = (stat(), stat())
        return fstat(descriptor, &mine) == 0 && fstat(other.descriptor, &others) == 0
            && mine.st_dev == others.st_dev && mine.st_ino == others.st_ino
    }

    public var isTerminal: Bool { isatty(descriptor) == 1 }

    @discardableResult
    public func write(_ bytes: [UInt8]) -> LineWriter.Written {
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

    /// Standard output may be shared with a program that made it non-blocking.
    private func waitForRoom() -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&watched, 1, -1) > 0 || errno == EINTR
    }
}

/// Waits on a thread that may block, never on a loop's.
public enum Pause {
    public static func take(_ time: Milliseconds) {
        usleep(UInt32(clamping: time.count) &* 1000)
    }
}
