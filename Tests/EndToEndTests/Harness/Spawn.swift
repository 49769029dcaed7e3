import Foundation
import IO
import Synchronization

/// Starts a process in a session of its own, with nothing inherited but the three streams.
enum Spawn {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Folders searched for a bare name; the distribution's programs only, so that runs are alike everywhere.
    static let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    /// POSIX_SPAWN_SETSID, which glibc shows only to GNU sources.
    private static let setsid: Int32 = 0x80

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
        let program = "/usr/bin/env"
        let command = try ["-C", directory, executable(name)] + arguments
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, streams.input, 0)
        posix_spawn_file_actions_adddup2(&actions, streams.output, 1)
        posix_spawn_file_actions_adddup2(&actions, streams.error, 2)
        // Foundation waits for a child by a socket that others inherit: it would wait for this one, too.
        _ = PassedDescriptors.end(before: 3, in: &actions)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var every = sigset_t()
        sigemptyset(&none)
        sigfillset(&every)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &every)
        let flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | setsid
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var argv = ([program] + command).map { strdup($0) } + [nil]
        var envp = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in argv + envp { free(text) } }
        var process: pid_t = 0
        let error = lock.withLock { _ in
            Descriptors.whileCopied { posix_spawn(&process, program, &actions, &attributes, &argv, &envp) }
        }
        guard error == 0 else { throw Failure(description: "\(name): \(String(cString: strerror(error)))") }
        return process
    }
}
