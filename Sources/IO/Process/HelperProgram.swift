import Bytes
import CLinux
import Glibc

/// A program of this machine that the proxy runs for a moment: a credential helper. It gets a list of arguments, never a
/// shell. It has a session of its own, and no descriptors but input, output and errors.
public struct HelperProgram: Sendable {
    /// The directories in which a program without a path is looked for. They are also the program's `PATH`.
    public static let directories = [
        "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
    ]
    /// The directories with the programs of git, as `git --exec-path` prints them.
    private static let gitDirectories = ["/usr/lib/git-core", "/usr/libexec/git-core", "/usr/local/libexec/git-core"]

    public let path: String
    private let words: [String]
    private let environment: [String]

    /// The limits of one run.
    public struct Limits: Sendable {
        public var time: Duration
        /// The time between SIGTERM and SIGKILL.
        public var grace = Duration.seconds(1)
        /// The limit of the output in bytes.
        public var output = 64 << 10
        /// The number of bytes of the errors that are kept.
        public var errors = 4 << 10

        public init(time: Duration) { self.time = time }
    }

    /// Finds the program, and checks who may change it.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - environment: the variables, as `NAME=VALUE`.
    public init(_ words: [String], environment: [String]) throws(Failure) {
        guard let name = words.first, !name.isEmpty else { throw .notFound("") }
        path = try Self.find(name)
        try Self.check(path)
        self.words = words
        self.environment = environment
    }

    private static func find(_ name: String) throws(Failure) -> String {
        if name.hasPrefix("/") { return name }
        let places = directories + (name.hasPrefix("git-credential-") ? gitDirectories : [])
        let found = places.map { "\($0)/\(name)" }.first { SmallFile.isRegular($0) && access($0, X_OK) == 0 }
        guard !name.contains("/"), let found else { throw .notFound(name) }
        return found
    }

    /// A user who can write the program could read its secrets, and use the proxy's rights.
    private static func check(_ path: String) throws(Failure) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .system(errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAProgram }
        guard status.st_uid == 0 || status.st_uid == geteuid() else { throw .foreignOwner(status.st_uid) }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else { throw .writable(status.st_mode & 0o7777) }
        guard access(path, X_OK) == 0 else { throw .system(errno: errno) }
    }

    /// Runs the program to its end. Blocks: call it on a thread that may wait. Nothing of its process group remains.
    ///
    /// - Returns: the output of a run that ended with status 0.
    public func run(input: [UInt8], within limits: Limits) throws(Failure) -> [UInt8] {
        var run = try Run(self, input: input, limits)
        defer { run.close() }
        return try run.finish()
    }

    /// - Parameter streams: the descriptors for input, output and errors.
    fileprivate func start(_ streams: [Int32]) throws(Failure) -> pid_t {
        var words = self.words.map { strdup($0) } + [nil]
        var environment = self.environment.map { strdup($0) } + [nil]
        defer { for text in words + environment { free(text) } }
        var process: pid_t = 0
        let result = Descriptors.whileCopied {
            linux_start_helper(path, &words, &environment, streams, &process)
        }
        guard result == 0 else { throw -result == ENOEXEC ? .notAProgram : .system(errno: -result) }
        return process
    }

    /// A running helper.
    private struct Run {
        private let process: pid_t
        private let limits: HelperProgram.Limits
        /// Becomes readable when the process ends.
        private let end: Int32
        private var output: HelperProgram.Run.Stream
        private var errors: HelperProgram.Run.Stream

        /// A stream that the helper writes, as far as it was read.
        private struct Stream {
            let descriptor: Int32
            let limit: Int
            var bytes: [UInt8] = []
            /// Whether bytes beyond the limit were dropped.
            var isOverfull = false
            var isOpen = true

            /// Reads what is there. A helper that writes without end is left after some of it.
            mutating func read() {
                var piece = [UInt8](repeating: 0, count: 4096)
                defer { SmallFile.wipe(&piece) }
                for _ in 0..<64 where isOpen {
                    let count = Glibc.read(descriptor, &piece, piece.count)
                    if count < 0, errno == EINTR { continue }
                    if count < 0, errno == EAGAIN { return }
                    isOpen = count > 0
                    guard count > 0 else { return }
                    isOverfull = isOverfull || bytes.count + count > limit
                    bytes += piece[..<min(count, limit - bytes.count)]
                }
            }
        }

        init(_ program: HelperProgram, input: [UInt8], _ limits: HelperProgram.Limits) throws(Failure) {
            self.limits = limits
            var opened: [Int32] = []
            var isStarted = false
            defer { if !isStarted { for descriptor in opened { Glibc.close(descriptor) } } }
            let source = linux_memory_file()
            guard source >= 0 else { throw .system(errno: -source) }
            defer { Glibc.close(source) }
            guard DurableFile.writeAll(input.span, to: source), lseek(source, 0, SEEK_SET) == 0 else {
                throw .system(errno: errno)
            }
            var sinks: [Int32] = []
            defer { for sink in sinks { Glibc.close(sink) } }
            for _ in 0..<2 {
                var ends: [Int32] = [-1, -1]
                let made = linux_pipe(&ends, 64 << 10)
                guard made > 0 else { throw .system(errno: Int32(-made)) }
                opened.append(ends[0])
                sinks.append(ends[1])
                // The helper's own end blocks, as programs expect.
                _ = fcntl(ends[1], F_SETFL, 0)
            }
            output = Stream(descriptor: opened[0], limit: limits.output)
            errors = Stream(descriptor: opened[1], limit: limits.errors)
            process = try program.start([source, sinks[0], sinks[1]])
            end = linux_open_process(process)
            isStarted = true
        }

        mutating func finish() throws(Failure) -> [UInt8] {
            let deadline = ContinuousClock.now + limits.time
            var failure: Failure?
            while !linux_has_ended(process), failure == nil {
                if output.isOverfull { failure = .tooMuch(limits.output) }
                if !wait(until: deadline) { failure = failure ?? .timedOut(limits.time) }
            }
            if failure != nil { stop() }
            output.read()
            errors.read()
            let status = reap()
            if output.isOverfull { failure = failure ?? .tooMuch(limits.output) }
            if let failure { throw failure }
            let words = Self.firstLine(errors.bytes)
            // The low seven bits are the signal that ended it; wait(2).
            guard status & 0x7F == 0 else { throw .killed(signal: status & 0x7F, words) }
            guard status == 0 else { throw .failed(status: status >> 8 & 0xFF, words) }
            defer { SmallFile.wipe(&output.bytes) }
            return output.bytes
        }

        /// Waits for an event of the process or its streams.
        /// - Returns: false at the deadline.
        private mutating func wait(until deadline: ContinuousClock.Instant) -> Bool {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return false }
            // A system without pidfd_open(2) is asked twenty times a second.
            let most = end >= 0 ? Int64(60_000) : 50
            let milliseconds = min(most, left / .milliseconds(1) < 1 ? 1 : Int64(left / .milliseconds(1)))
            var watched = [pollfd(fd: end, events: Int16(POLLIN), revents: 0)]
            for stream in [output, errors] {
                watched.append(pollfd(fd: stream.isOpen ? stream.descriptor : -1, events: Int16(POLLIN), revents: 0))
            }
            _ = poll(&watched, nfds_t(watched.count), Int32(milliseconds))
            if watched[1].revents != 0 { output.read() }
            if watched[2].revents != 0 { errors.read() }
            return true
        }

        /// Ends the process and its group: asks first, then kills.
        private mutating func stop() {
            kill(-process, SIGTERM)
            let deadline = ContinuousClock.now + limits.grace
            while !linux_has_ended(process) {
                if !wait(until: deadline) { break }
            }
        }

        /// Kills the rest of the group, which its unreaped leader keeps from being another's, and takes the exit
        /// status.
        private func reap() -> Int32 {
            kill(-process, SIGKILL)
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            return status
        }

        func close() {
            for descriptor in [end, output.descriptor, errors.descriptor] where descriptor >= 0 {
                Glibc.close(descriptor)
            }
        }

        /// The first line with printable characters, for operators.
        private static func firstLine(_ bytes: [UInt8]) -> String {
            let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            let printable = lines.lazy.map { line in
                String(line.unicodeScalars.filter { !$0.isHidden }.prefix(200).map(Character.init))
            }
            return printable.first { $0.contains { $0 != " " } } ?? ""
        }
    }

    /// The reason why a helper gave nothing, as a clause about it.
    public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        case notFound(String)
        case foreignOwner(UInt32)
        case writable(UInt32)
        /// A file without a magic number that the system knows, such as a script without `#!`.
        case notAProgram
        case system(errno: Int32)
        /// The file is no socket.
        case notASocket
        /// No process answers at the socket.
        case unconnected(errno: Int32)
        /// The process that answers belongs to another user than the socket's file.
        case foreignPeer
        case timedOut(Duration)
        case tooMuch(Int)
        /// It ended with a status that is not 0; the text is the first line of its errors.
        case failed(status: Int32, String)
        case killed(signal: Int32, String)

        public var description: String {
            switch self {
            case .notFound(let name):
                "there is no program \(name) in \(HelperProgram.directories.joined(separator: ":")): write its whole path"
            case .foreignOwner(let user): "it belongs to user \(user), and not to root or the user of the proxy"
            case .writable(let mode): "other users can change it (mode 0\(String(mode, radix: 8))): run chmod go-w"
            case .notAProgram: "it is not a program, or a script without '#!'"
            case .system(let errno): "it cannot be started: \(IOError.sentence(for: errno))"
            case .notASocket: "it is not a socket"
            case .unconnected(let errno): "it cannot be asked: \(IOError.sentence(for: errno))"
            case .foreignPeer: "the process at the socket is not its owner's"
            case .timedOut(let limit): "it did not end within \(Int64(limit / .milliseconds(1))) ms ('timeouts helper')"
            case .tooMuch(let limit): "it wrote more than \(limit) bytes"
            case .failed(let status, let words): "it failed with status \(status)\(words.isEmpty ? "" : ": \(words)")"
            case .killed(let signal, let words): "it was ended by signal \(signal)\(words.isEmpty ? "" : ": \(words)")"
            }
        }
    }
}
