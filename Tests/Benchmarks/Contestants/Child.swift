import Glibc
import TestSupport

/// A process that this one started.
final class Child {
    let identifier: pid_t
    private let clock: clockid_t
    private var exitStatus: Int32?

    /// Starts `command`, found in PATH, with its output in the file `log`.
    /// - Parameter environment: entries `NAME=value` beside the inherited ones.
    init(_ command: [String], environment: [String] = [], log: String) throws(BenchError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var identifier = pid_t()
        let result = Self.withArguments(command) { arguments in
            Self.withArguments(environment + Self.inherited) {
                posix_spawnp(&identifier, command[0], &actions, nil, arguments, $0)
            }
        }
        guard result == 0 else { throw .machine("cannot start \(command[0])") }
        var clock = clockid_t()
        guard clock_getcpuclockid(identifier, &clock) == 0 else { throw .machine("\(command[0]) ended at once") }
        self.identifier = identifier
        self.clock = clock
    }

    /// Runs a command to its end and returns what it printed.
    @discardableResult
    static func run(_ command: [String]) throws(BenchError) -> String {
        let log = "/tmp/attache-bench-output.\(getpid())"
        defer { unlink(log) }
        let child = try Child(command, log: log)
        let status = child.wait()
        let output = Workspace.text(log) ?? ""
        guard status == 0 else { throw .machine("\(command.joined(separator: " ")) failed: \(output)") }
        return output
    }

    /// CPU time of all threads, those that ended included, in nanoseconds.
    var processorTime: Int {
        var time = timespec()
        guard exitStatus == nil, clock_gettime(clock, &time) == 0 else { return 0 }
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// Resident memory in KiB.
    var residentMemory: Int {
        let line = Workspace.text("/proc/\(identifier)/status")?.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0
    }

    var hasEnded: Bool {
        if exitStatus == nil {
            var status: Int32 = 0
            if waitpid(identifier, &status, WNOHANG) == identifier { exitStatus = status }
        }
        return exitStatus != nil
    }

    /// Waits for the end, and returns the wait status: 0 is success.
    @discardableResult
    func wait() -> Int32 {
        if let exitStatus { return exitStatus }
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        exitStatus = status
        return status
    }

    /// Asks it to end, and insists when it takes longer than so many seconds.
    func stop(patience: Double = 20) {
        if hasEnded { return }
        kill(identifier, SIGTERM)
        if Wait.until(seconds: patience, { hasEnded }) { return }
        kill(identifier, SIGKILL)
        wait()
    }

    private static var inherited: [String] {
        var entries: [String] = []
        var next = environ
        while let entry = next.pointee {
            entries.append(String(cString: entry))
            next += 1
        }
        return entries
    }

    private static func withArguments<Result>(
        _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        let pointers = texts.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return (pointers + [nil]).withUnsafeBufferPointer { list in
            // A list that ends with nil is never empty.
            body(list.baseAddress.unsafelyUnwrapped)
        }
    }
}
