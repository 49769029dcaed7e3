import Bytes
import IO
import Synchronization

extension CredentialStore {
    /// Keeps a store's view current with the changes of other processes, on a separate thread, as long as the process
    /// lives. While the store is unavailable, the process uses its last knowledge.
    public final class Follower: Sendable {
        private let follow: @Sendable () throws(CredentialStore.Failure) -> Void
        private let report: @Sendable (String) -> Void
        private let trouble = Mutex<CredentialStore.Failure?>(nil)
        private let time = Atomic(SystemClock.wallTime)

        /// The time between two attempts while the store is unavailable.
        private static let pause: Milliseconds = 250
        /// The time that one call may wait for a change.
        private static let patience: Milliseconds = 1000

        /// - Parameter report: called when the store becomes unavailable, and when it is back.
        public convenience init(_ store: CredentialStore, report: @escaping @Sendable (String) -> Void) {
            self.init(report: report) { () throws(CredentialStore.Failure) in try store.follow(within: Self.patience) }
        }

        init(
            report: @escaping @Sendable (String) -> Void,
            follow: @escaping @Sendable () throws(CredentialStore.Failure) -> Void
        ) {
            self.follow = follow
            self.report = report
        }

        /// The reason why the last attempt to follow the store failed; nil without a problem.
        public var problem: CredentialStore.Failure? { trouble.withLock { $0 } }

        /// The time at which all changes in the store were known.
        public var lastFollowed: WallTime { time.load(ordering: .relaxed) }

        /// - Returns: whether the system gave a thread.
        public func start() -> Bool {
            SystemThread.start(name: "store") { [self] in
                while true {
                    if !step() { Pause.take(Self.pause) }
                }
            }
        }

        /// Waits for changes once.
        /// - Returns: whether the store was available.
        func step() -> Bool {
            do throws(CredentialStore.Failure) {
                try follow()
                time.store(SystemClock.wallTime, ordering: .relaxed)
                let wasAway = trouble.withLock { trouble in
                    defer { trouble = nil }
                    return trouble != nil
                }
                if wasAway { report("the credential store can be reached again") }
                return true
            } catch {
                let isNews = trouble.withLock { trouble in
                    defer { trouble = error }
                    return trouble == nil
                }
                if isNews { report("\(error); the proxy uses the credentials that it knows") }
                return false
            }
        }
    }
}
