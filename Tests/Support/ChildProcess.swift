import Foundation
import Glibc
import IO
import Synchronization

/// A program that a test runs, as `Foundation.Process` is, by posix_spawn alone: Foundation's has brought the whole run down now
/// and then, where many were started at once. All that is set is set before it starts.
public final class ChildProcess: @unchecked Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    public var executableURL: URL?
    public var arguments: [String] = []
    public var currentDirectoryURL: URL?
    /// Nil: that of this process.
    public var environment: [String: String]?
    /// Each a `Pipe`, whose end for the child is closed here when it has started, or a `FileHandle`; nil: this process's own.
    public var standardInput: Any?
    public var standardOutput: Any?
    public var standardError: Any?

    public private(set) var processIdentifier: pid_t = 0
    private var ended: End?

    public init() {}

    /// Looked at once: the environment must not be read while a library changes it.
    private static let inherited = ProcessInfo.processInfo.environment
    /// POSIX_SPAWN_SETSID, which glibc shows only to GNU sources.
    private static let setsid: Int32 = 0x80
    private static let lock = Mutex(())

    /// The loops of this process know meanwhile that the child has a copy of each of their descriptors.
    public func start() throws {
        guard let executableURL else { throw Failure(description: "no program") }
        var ends: [FileHandle] = []
        let streams = (
            descriptor(of: standardInput, 0, &ends), descriptor(of: standardOutput, 1, &ends),
            descriptor(of: standardError, 2, &ends)
        )
        processIdentifier = try Self.start(
            [executableURL.path] + arguments, in: currentDirectoryURL?.path,
            environment: environment ?? Self.inherited, streams: streams, ownSession: false)
        ended = End(of: processIdentifier)
        for end in ends { try? end.close() }
    }

    private func descriptor(of stream: Any?, _ number: Int32, _ ends: inout [FileHandle]) -> Int32 {
        if let pipe = stream as? Foundation.Pipe {
            let end = number == 0 ? pipe.fileHandleForReading : pipe.fileHandleForWriting
            if !ends.contains(end) { ends.append(end) }
            return end.fileDescriptor
        }
        guard let handle = stream as? FileHandle else { return number }
        if handle !== FileHandle.nullDevice { return handle.fileDescriptor }
        // Foundation's has no descriptor.
        let null = FileHandle(fileDescriptor: open("/dev/null", O_RDWR | O_CLOEXEC), closeOnDealloc: true)
        ends.append(null)
        return null.fileDescriptor
    }

    public var isRunning: Bool { ended.map { $0.status == nil } ?? false }

    public func waitUntilExit() { ended?.wait() }

    /// The exit status, or the number of the signal that ended it.
    public var terminationStatus: Int32 {
        let status = ended?.status ?? 0
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : status & 0x7F
    }

    public func terminate() {
        if isRunning { kill(processIdentifier, SIGTERM) }
    }

    /// Records the end of a child at once, with its own thread. A child that is not waited for would hide the ends of
    /// all others from Swift Testing, which looks for those of its exit tests among them.
    private final class End: @unchecked Sendable {
        private let condition = NSCondition()
        private var waitStatus: Int32?

        init(of process: pid_t) {
            Thread.detachNewThread { [self] in
                var status: Int32 = 0
                while waitpid(process, &status, 0) < 0, errno == EINTR {}
                condition.withLock {
                    waitStatus = status
                    condition.broadcast()
                }
            }
        }

        var status: Int32? { condition.withLock { waitStatus } }

        func wait() {
            condition.withLock { while waitStatus == nil { condition.wait() } }
        }
    }

    /// A child's signals are as a shell's: a test runner may ignore or block some. The caller destroys what it gets.
    public static func attributes(ownSession: Bool) -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var none = sigset_t()
        var every = sigset_t()
        sigemptyset(&none)
        sigfillset(&every)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &every)
        let flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | (ownSession ? setsid : 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        return attributes
    }

    /// Starts a program with nothing inherited but the three streams.
    ///
    /// - Parameter command: the path of the program, and its arguments.
    public static func start(
        _ command: [String], in directory: String?, environment: [String: String],
        streams: (input: Int32, output: Int32, error: Int32), ownSession: Bool
    ) throws -> pid_t {
        let command = (directory.map { ["/usr/bin/env", "-C", $0] } ?? []) + command
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, streams.input, 0)
        posix_spawn_file_actions_adddup2(&actions, streams.output, 1)
        posix_spawn_file_actions_adddup2(&actions, streams.error, 2)
        // No test waits for the end of a stream that a child has by chance.
        _ = Descriptors.endPassed(from: 3, in: &actions)

        var attributes = attributes(ownSession: ownSession)
        defer { posix_spawnattr_destroy(&attributes) }
        var argv = command.map { strdup($0) } + [nil]
        var envp = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in argv + envp { free(text) } }
        var process: pid_t = 0
        let error = lock.withLock { _ in
            Descriptors.whileCopied { posix_spawn(&process, command[0], &actions, &attributes, &argv, &envp) }
        }
        guard error == 0 else { throw Failure(description: "\(command): \(String(cString: strerror(error)))") }
        return process
    }
}
