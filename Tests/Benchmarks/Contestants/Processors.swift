import Glibc

/// Who runs where: the contestant alone on one processor, load generator and origin on another.
enum Processors {
    /// False on a machine with one processor, where all share it.
    static var areSeparate: Bool { sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 }

    /// Keeps this process, with the threads it has and will have, on the first processor.
    static func pinLoad() {
        if areSeparate { _ = try? Child.run(["taskset", "-a", "-c", "-p", "0", "\(getpid())"]) }
    }

    /// The command that runs `command` on the second processor.
    static func pinned(_ command: [String]) -> [String] {
        areSeparate ? ["taskset", "-c", "1"] + command : command
    }
}
