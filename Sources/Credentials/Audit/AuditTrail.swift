import Authentication
import Bytes
import IO
import Synchronization

/// The events of one process, which go to its log and to the processes that share its store. Noting one never blocks.
public final class AuditTrail: Sendable {
    private struct State {
        var observer: (@Sendable (AuditEvent) -> Void)?
        var journal: (@Sendable (AuditEvent) -> Void)?
        var budget = AuditTrail.Budget()
    }

    /// The machine's name.
    let host: String
    /// The author of all changes in a command. Nil for a proxy, which notes its events itself.
    let actor: AuditEvent.Actor?
    /// An id that identifies this process's events in a store.
    let id: String
    private let state = Mutex(State())

    public init(at host: String = "", by actor: AuditEvent.Actor? = nil) {
        self.host = host
        self.actor = actor
        id = String(UInt64.random(in: .min ... .max), radix: 16)
    }

    /// Sets the observer of each event.
    public func onEvent(_ observer: @escaping @Sendable (AuditEvent) -> Void) {
        state.withLock { $0.observer = observer }
    }

    /// Sets the journal, which stores the events that concern other processes too.
    func keep(in journal: @escaping @Sendable (AuditEvent) -> Void) { state.withLock { $0.journal = journal } }

    /// Notes an event of this process.
    public func note(_ event: AuditEvent) {
        guard tell(event), event.isShared else { return }
        state.withLock { $0.journal }?(event)
    }

    /// Tells the observer of an event, which may be one of another process.
    ///
    /// - Returns: whether the event was logged, and not only counted.
    @discardableResult
    func tell(_ event: AuditEvent) -> Bool {
        let (observer, admission) = state.withLock { state in
            (state.observer, state.budget.admit(event, at: SystemClock.uptime))
        }
        guard let observer else { return admission.isAdmitted }
        if admission.omitted > 0 {
            var omission = AuditEvent(.eventsOmitted, by: .proxy)
            omission.count = admission.omitted
            observer(omission)
        }
        if admission.isAdmitted { observer(event) }
        return admission.isAdmitted
    }

    /// Limits the events that one server can cause, which may send another realm each time, or one client by its logins.
    struct Budget {
        private struct Window {
            var start: LoopInstant
            var count = 0
        }

        private enum Cause: Hashable {
            case origin(Origin)
            case client(String)
        }

        private var windows: [Cause: Window] = [:]
        private var omitted = 0

        private static let limit = 64
        private static let length = Milliseconds.seconds(60)
        private static let causes = 1024

        /// - Parameter now: the time of the monotonic clock.
        /// - Returns: whether the event is logged, and how many before it were not, where that was not reported yet.
        mutating func admit(_ event: AuditEvent, at now: LoopInstant) -> (isAdmitted: Bool, omitted: Int) {
            guard event.isOfTraffic, let cause = Self.cause(of: event) else { return (true, takeOmitted()) }
            var window = windows[cause] ?? Window(start: now)
            if now >= window.start + Self.length { window = Window(start: now) }
            guard window.count < Self.limit else {
                omitted += 1
                return (false, 0)
            }
            window.count += 1
            if windows[cause] == nil, windows.count >= Self.causes {
                windows = windows.filter { now < $0.value.start + Self.length }
                if windows.count >= Self.causes { windows = [:] }
            }
            windows[cause] = window
            return (true, takeOmitted())
        }

        private static func cause(of event: AuditEvent) -> Cause? {
            let isOfClient = event.name == .loginRefused || event.name == .placeholderMisplaced
            if isOfClient, case .client(let address, _) = event.actor { return .client(address) }
            return event.space.map { .origin($0.origin) }
        }

        private mutating func takeOmitted() -> Int {
            defer { omitted = 0 }
            return omitted
        }
    }
}
