import CLinux
import Glibc

/// A named thread that blocks all signals, which belong to the main thread.
public enum SystemThread {
    private final class Start {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// - Returns: whether the system gave a thread; a container may limit them.
    public static func start(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                linux_name_thread(start.name)
                start.body()
                return nil
            }, start.toOpaque())
        guard result == 0 else {
            start.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}

/// The processors that this process may use.
public enum Processors {
    /// The number of cores in the scheduler's affinity mask, which a container's cpuset restricts; at least 1.
    public static var count: Int { max(1, Int(linux_processor_count())) }
}
