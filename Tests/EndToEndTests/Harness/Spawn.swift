import Foundation
import Synchronization
import TestSupport

/// Starts a process in a session of its own, with nothing inherited but the three streams.
enum Spawn {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Folders searched for a bare name; the distribution's programs only, so that runs are alike everywhere.
    static let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    /// Held while a process starts, and while a descriptor exists that is not yet closed on exec.
    private static let lock = Mutex(())

    /// Makes a descriptor that no child inherits, by a call that cannot ask for that itself.
    static func closedOnExec(_ make: () -> Int32) -> Int32 {
        lock.withLock { _ in
            let descriptor = make()
            if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
            return descriptor
        }
    }

    static func executable(_ name: String) throws -> String {
        if name.contains("/") { return name }
        for folder in path.split(separator: ":") where access("\(folder)/\(name)", X_OK) == 0 {
            return "\(folder)/\(name)"
        }
        throw Failure(description: "\(name) is not installed (make test installs it)")
    }

    static func start(
        _ name: String, _ arguments: [String], environment: [String: String], directory: String,
        streams: (input: Int32, output: Int32, error: Int32)
    ) throws -> pid_t {
        let command = [try executable(name)] + arguments
        return try lock.withLock { _ in
            try ChildProcess.start(
                command, in: directory, environment: environment, streams: streams, ownSession: true)
        }
    }
}
