import Foundation
import IO
import TestSupport

/// The program with a terminal of its own, and a person before it.
final class TerminalSession {
    private let screen: Int32
    private let process: pid_t
    private var shown: [UInt8] = []

    struct Failure: Error {}

    /// TIOCSPTLCK and TIOCGPTN, which are macros: what unlockpt and ptsname ask, which glibc shows to GNU sources only.
    private static let setLock: UInt = 0x4004_5431
    private static let number: UInt = 0x8004_5430

    /// - Parameter variables: each as `NAME=VALUE`; before those of this process.
    init(_ arguments: [String], variables: [String] = []) throws {
        screen = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var lock: Int32 = 0
        var number: Int32 = 0
        guard screen >= 0, ioctl(screen, Self.setLock, &lock) == 0, ioctl(screen, Self.number, &number) == 0 else {
            throw Failure()
        }
        let name = "/dev/pts/\(number)"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that the leader of a session opens becomes that session's.
        posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var attributes = ChildProcess.attributes(ownSession: true)
        defer { posix_spawnattr_destroy(&attributes) }
        let path = AttacheProgram.folder + "/attache"
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var environment =
            (variables + ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }).map { strdup($0) } + [nil]
        defer { for word in words + environment { free(word) } }
        var started: pid_t = 0
        let error = Descriptors.whileCopied {
            posix_spawn(&started, path, &actions, &attributes, &words, &environment)
        }
        guard error == 0 else { throw Failure() }
        process = started
    }

    deinit {
        kill(process, SIGKILL)
        close(screen)
    }

    /// Waits until the screen shows a text behind what was waited for before; false when the program ends first.
    func awaits(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        while true {
            if let found = shown.firstRange(of: wanted) {
                shown.removeSubrange(..<found.upperBound)
                return true
            }
            guard readMore() else { return false }
        }
    }

    /// Waits for the next whole line with a text in it; nil when the program ends first.
    func line(with text: String) -> String? {
        while true {
            while let end = shown.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: shown[..<end], as: UTF8.self)
                shown.removeSubrange(...end)
                if line.contains(text) { return line.hasSuffix("\r") ? String(line.dropLast()) : line }
            }
            guard readMore() else { return nil }
        }
    }

    /// Sends Ctrl-C.
    func interrupt() { send(SIGINT) }

    func send(_ signal: Int32) { kill(process, signal) }

    /// Waits until the program has taken a signal: that is then no longer pending, and the program no longer catches it.
    func awaitsDelivery(of signal: Int32) -> Bool {
        let mask = UInt64(1) << UInt64(signal - 1)
        return Wait.until {
            let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
            let sets = status.split(separator: "\n").filter { line in
                ["SigPnd:", "ShdPnd:", "SigCgt:"].contains { line.hasPrefix($0) }
            }.compactMap { $0.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } }
            return sets.count == 3 && sets.allSatisfy { $0 & mask == 0 }
        }
    }

    func type(_ text: String) {
        _ = write(screen, text, text.utf8.count)
    }

    /// Returns the screen's text from here to the end of the program, and its status (128 + n after signal n).
    func finish() -> (text: String, status: Int32) {
        while readMore() {}
        var status: Int32 = 0
        waitpid(process, &status, 0)
        let signal = status & 0x7F
        return (String(decoding: shown, as: UTF8.self), signal == 0 ? (status >> 8) & 0xFF : 128 + signal)
    }

    private func readMore() -> Bool {
        var event = pollfd(fd: screen, events: Int16(POLLIN), revents: 0)
        guard poll(&event, 1, 20_000) > 0 else { return false }
        var piece = [UInt8](repeating: 0, count: 1024)
        let count = read(screen, &piece, piece.count)
        guard count > 0 else { return false }
        shown += piece[..<count]
        return true
    }
}
