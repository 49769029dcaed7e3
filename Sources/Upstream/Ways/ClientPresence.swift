import Authentication
import IO

/// Whether a session's client is still there, and what ends when it is not: the task that carries its request out, with
/// every wait of that task.
///
/// A request that is judged for all goes on until it is judged, though not for long. A server counts a wrong password whether
/// or not anybody reads its answer: if each client that leaves early sent it again, the account would be locked. And of a login
/// that begins a session at the server there is one for all who wait.
///
/// Belongs to its loop.
public final class ClientPresence {
    /// The wake-up of the session's tasks.
    public let wakeup = Wakeup()
    public private(set) var hasLeft = false
    private var task: Task<Void, Never>?
    /// The leases of a request whose answer is on its way, at the origin or at a parent. They end with the verdict.
    private weak var trial: Lease?
    private weak var laterTrial: Lease?
    /// Whether the others who wait are served by what this request does, and not only by what it learns.
    private var isLoggingIn = false
    private var alarm: Alarm?

    /// Whether nothing of the client's request is continued.
    public var isOver: Bool { wakeup.isCancelled }

    /// Whether the request is to go on, for its client or for others.
    public var isWanted: Bool { !isOver && (!hasLeft || trial != nil || laterTrial != nil) }

    /// The session's request is carried out by this task.
    public func begin(_ task: Task<Void, Never>) {
        self.task = task
        isLoggingIn = false
    }

    /// The task is done. What it was made of need not outlive it.
    public func finish() { task = nil }

    /// The request sends an answer that decides for all who wait.
    public func beginTrial(_ lease: Lease) {
        if trial == nil || trial === lease { trial = lease } else { laterTrial = lease }
    }

    /// The request begins a session at the server, for all who wait for one.
    public func beginLogin(_ lease: Lease) {
        beginTrial(lease)
        isLoggingIn = true
    }

    /// The client has left.
    ///
    /// - Parameter limit: milliseconds until the verdict, where one is awaited.
    public func leave(awaitingVerdict limit: Int, on loop: EventLoop) {
        guard !hasLeft else { return }
        hasLeft = true
        guard isWanted else { return end() }
        if !isLoggingIn {
            // The next may try; what this one learns counts all the same.
            trial?.release()
            laterTrial?.release()
        }
        let alarm = Alarm(on: loop) { [unowned self] in end() }
        alarm.set(after: limit)
        self.alarm = alarm
    }

    private func end() {
        wakeup.cancel()
        task?.cancel()
    }
}
