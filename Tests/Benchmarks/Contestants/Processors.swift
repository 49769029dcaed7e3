import Glibc

/// The processors: the contestant alone has one, load generator and origin share another.
enum Processors {
    /// False on a machine with one processor, where all share it.
    private static var areSeparate: Bool { sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 }

    /// Keeps this thread, with the threads and processes that it will start, on the first processor.
    static func pinLoad() { if areSeparate { pin(to: 0) } }

    /// Has the process that `start` starts run on the second processor: it inherits where its starter may run, so that no
    /// other program has to be started before it.
    static func onSecond<Failure: Error>(_ start: () throws(Failure) -> Child) throws(Failure) -> Child {
        guard areSeparate else { return try start() }
        pin(to: 1)
        defer { pin(to: 0) }
        return try start()
    }

    private typealias SetAffinity = @convention(c) (pid_t, Int, UnsafePointer<cpu_set_t>) -> Int32

    /// Swift's Glibc leaves `sched_setaffinity` out, as an extension of GNU.
    private static func pin(to processor: Int) {
        guard let function = dlsym(nil, "sched_setaffinity") else { return }
        var set = cpu_set_t()
        withUnsafeMutableBytes(of: &set) { $0[processor / 8] = 1 << (processor % 8) }
        _ = unsafeBitCast(function, to: SetAffinity.self)(0, MemoryLayout<cpu_set_t>.size, &set)
    }
}
