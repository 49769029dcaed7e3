import IO
import Synchronization

/// Keeps a store's view current with what other processes change, on a thread of its own, as long as the process lives.
/// While the store is away the process goes on with what it knows.
public final class StoreFollower: Sendable {
    private let follow: @Sendable () throws(CredentialStoreError) -> Void
    private let report: @Sendable (String) -> Void
    private let trouble = Mutex<CredentialStoreError?>(nil)
    private let time = Atomic(SystemClock.epochMilliseconds)

    /// Milliseconds between two attempts at a store that is away.
    private static let pause = 250
    /// Milliseconds that one look may wait for a change.
    private static let patience = 1000

    /// - Parameter report: told when the store goes away, and when it is back.
    public convenience init(_ store: CredentialStore, report: @escaping @Sendable (String) -> Void) {
        self.init(report: report) { () throws(CredentialStoreError) in try store.follow(within: Self.patience) }
    }

    init(
        report: @escaping @Sendable (String) -> Void,
        follow: @escaping @Sendable () throws(CredentialStoreError) -> Void
    ) {
        self.follow = follow
        self.report = report
    }

    /// Why the store could not be followed when it was last tried; nil while all is well.
    public var problem: CredentialStoreError? { trouble.withLock { $0 } }

    /// When all changes in the store were known, in milliseconds since 1970.
    public var lastFollowed: Int { time.load(ordering: .relaxed) }

    /// - Returns: whether the system gave a thread.
    public func start() -> Bool {
        SystemThread.start(name: "store") { [self] in
            while true {
                if !step() { Pause.milliseconds(Self.pause) }
            }
        }
    }

    /// Waits for changes once.
    /// - Returns: whether the store could be asked.
    func step() -> Bool {
        do throws(CredentialStoreError) {
            try follow()
            time.store(SystemClock.epochMilliseconds, ordering: .relaxed)
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
