import Glibc
import Synchronization

/// SIGINT, SIGTERM and SIGHUP as a request to a command that stops between two items of its work. A second signal with
/// the same number ends the process at once, like any other signal. A signal that the process ignored from its start,
/// as under `nohup`, stays ignored.
public enum StopSignals {
    private static let latest = Atomic<Int32>(0)
    private static let numbers = [SIGINT, SIGTERM, SIGHUP]

    /// Begins to note signals. They interrupt system calls that wait.
    public static func expect() {
        latest.store(0, ordering: .relaxed)
        for number in numbers {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { number in StopSignals.latest.store(number, ordering: .relaxed) }
            action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
            var former = sigaction()
            sigaction(number, &action, &former)
            if isIgnored(former) { sigaction(number, &former, nil) }
        }
    }

    /// Lets signals end the process again.
    public static func endExpecting() {
        for number in numbers {
            var present = sigaction()
            sigaction(number, nil, &present)
            if !isIgnored(present) { signal(number, SIG_DFL) }
        }
    }

    /// The number of the received signal; nil if none.
    public static var received: Int32? {
        let number = latest.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    private static func isIgnored(_ action: sigaction) -> Bool {
        unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
