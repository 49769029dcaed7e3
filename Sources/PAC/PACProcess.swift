import Glibc
import IO

/// A `PACWorker` process and its socket. Blocks; one thread at a time uses it.
final class PACProcess {
    private let identifier: pid_t
    private let descriptor: Int32
    private var received: [UInt8] = []

    /// The limit of a script in bytes.
    static let longestScript = 4 << 20
    /// The limit of an answer in bytes.
    static let longestAnswer = 4096

    /// Starts the process, and waits until it has read the script.
    ///
    /// - Parameter program: this program, or one that also contains the worker.
    init(program: String, path: String, within limit: Duration) throws(PACFile.Failure) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw .unavailable("there is no descriptor left for the process that reads a PAC file")
        }
        descriptor = ends[0]
        let started = Self.spawn([program, PACWorker.command, path], talkingTo: ends[1])
        close(ends[1])
        guard let started else {
            identifier = -1
            throw .unavailable("the process that reads a PAC file cannot be started")
        }
        identifier = started
        _ = try answer(by: .now + limit)
    }

    deinit {
        close(descriptor)
        if identifier > 0 {
            kill(identifier, SIGKILL)
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        }
    }

    /// - Parameters:
    ///   - url: without blanks.
    ///   - host: without blanks.
    /// - Returns: the script's own result.
    /// - Throws: `broken` if the script threw. After any other error the process cannot be used again.
    func ask(url: String, host: String, within limit: Duration) throws(PACFile.Failure) -> String {
        let line = Array("\(url) \(host)\n".utf8)
        // The process has read every line before this one.
        guard send(descriptor, line, line.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL)) == line.count else {
            throw .unavailable("the process that reads a PAC file has ended")
        }
        return try answer(by: .now + limit)
    }

    private func answer(by deadline: ContinuousClock.Instant) throws(PACFile.Failure) -> String {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: received[..<end], as: UTF8.self)
                received.removeSubrange(...end)
                if line.hasPrefix("+") { return String(line.dropFirst()) }
                throw line.hasPrefix("-!") ? .unavailable(String(line.dropFirst(2))) : .broken(String(line.dropFirst()))
            }
            try receive(by: deadline)
        }
    }

    private func receive(by deadline: ContinuousClock.Instant) throws(PACFile.Failure) {
        let (seconds, attoseconds) = ContinuousClock.now.duration(to: deadline).components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard milliseconds > 0 else { throw .timedOut }
        let ready = poll(&watched, 1, Int32(clamping: milliseconds))
        if ready < 0, errno == EINTR { return }
        guard ready > 0 else { throw .timedOut }
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &piece, piece.count, 0)
        guard count > 0 else { throw .unavailable("the process that reads a PAC file has ended") }
        received += piece[..<count]
        guard received.count <= 2 * Self.longestAnswer else {
            throw .unavailable("the process that reads a PAC file says too much")
        }
    }

    /// Starts the process with an empty environment, and no open descriptors but this one and standard error.
    private static func spawn(_ arguments: [String], talkingTo descriptor: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, descriptor, 0)
        posix_spawn_file_actions_adddup2(&actions, descriptor, 1)
        guard Descriptors.endPassed(from: 3, in: &actions) else { return nil }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The threads that start the process block all signals.
        withUnsafeTemporaryAllocation(of: sigset_t.self, capacity: 1) { room in
            guard let none = room.baseAddress else { return }
            sigemptyset(none)
            posix_spawnattr_setsigmask(&attributes, none)
        }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var texts: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        defer { for text in texts { free(text) } }
        texts.append(nil)
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        var identifier: pid_t = 0
        let result = Descriptors.whileCopied {
            posix_spawn(&identifier, arguments[0], &actions, &attributes, &texts, &environment)
        }
        return result == 0 ? identifier : nil
    }
}
