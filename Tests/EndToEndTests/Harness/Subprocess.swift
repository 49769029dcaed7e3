import Foundation
import Synchronization
import TestSupport

/// A program that was started, its output in files. It is killed with all its children when the object is released.
final class Subprocess: Sendable {
    let identifier: pid_t
    let outputPath: String
    let errorPath: String
    private let exit = Mutex<Int32?>(nil)

    /// - Parameter input: a file for standard input, `/dev/null` if left out.
    init(
        _ name: String, _ arguments: [String], environment: [String: String] = [:], directory: String = Scratch.root,
        input: String = "/dev/null"
    ) throws {
        let stem = "\(Scratch.root)/run.\(UUID().uuidString)"
        outputPath = stem + ".out"
        errorPath = stem + ".err"
        let streams = (
            open(input, O_RDONLY | O_CLOEXEC), open(outputPath, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644),
            open(errorPath, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        )
        defer { for stream in [streams.0, streams.1, streams.2] { close(stream) } }
        var clean = ["PATH": Spawn.path, "HOME": Scratch.root, "LC_ALL": "C.UTF-8"]
        clean.merge(Sanitizer.environment) { $1 }
        clean.merge(environment) { $1 }
        identifier = try Spawn.start(name, arguments, environment: clean, directory: directory, streams: streams)
        LastWill.shared.started(identifier)
    }

    deinit {
        if wait(seconds: 0) == nil { _ = kill() }
        unlink(outputPath)
        unlink(errorPath)
    }

    var output: String { Scratch.read(outputPath) }
    var errorOutput: String { Scratch.read(errorPath) }
    var isRunning: Bool { wait(seconds: 0) == nil }

    func signal(_ number: Int32) {
        exit.withLock { if $0 == nil { _ = Foundation.kill(identifier, number) } }
    }

    /// The exit status (128 + n after signal n), or nil if it still runs after that time.
    func wait(seconds: Double) -> Int32? {
        var status = reap()
        _ = Wait.until(seconds: seconds) {
            status = reap()
            return status != nil
        }
        return status
    }

    /// Kills the whole process group and waits.
    func kill() -> Int32 {
        exit.withLock { if $0 == nil { _ = Foundation.kill(-identifier, SIGKILL) } }
        return wait(seconds: 10) ?? -1
    }

    private func reap() -> Int32? {
        exit.withLock { known in
            if known != nil { return known }
            var status: Int32 = 0
            guard waitpid(identifier, &status, WNOHANG) == identifier else { return nil }
            let signal = status & 0x7f
            known = signal == 0 ? (status >> 8) & 0xff : 128 + signal
            LastWill.shared.ended(identifier)
            return known
        }
    }
}
