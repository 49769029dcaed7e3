import Bytes
import CLinux
import Glibc
import Synchronization

/// One epoll loop on one thread, and the executor of every task started with `spawn`.
///
/// A task whose executor preference is a loop stays on it through every suspension, so that what it owns
/// (sockets, buffers, pools) needs no lock. Unstructured tasks do *not* inherit the preference: `spawn` is the only
/// way to start one.
///
/// `@unchecked Sendable`: the fields are touched by the loop's own thread only, except `remote`, which its mutex guards.
public final class EventLoop: TaskExecutor, @unchecked Sendable {
    private struct Remote {
        var jobs: [UnownedJob] = []
        var closures: [@Sendable () -> Void] = []
        var isEmpty: Bool { jobs.isEmpty && closures.isEmpty }
    }

    public let index: Int
    /// Bytes that one socket brings in one turn before the others have theirs: a peer that is faster than we are would
    /// keep the loop to itself.
    let share: Int
    /// Milliseconds on the monotonic clock, read once per batch of events.
    public private(set) var now: UInt64
    public let buffers = BufferPool()
    public let pipes = PipePool()
    /// Called when a new socket leaves few descriptors: whoever keeps some for later closes them.
    public var onScarcity: (() -> Void)?
    var wheel: TimerWheel
    /// Written once, before the thread exists.
    private(set) var hasStarted = false

    private let epoll: Int32
    private let wakeDescriptor: Int32
    private let remote = Mutex(Remote())
    private var jobs = Ring<UnownedJob>()
    private var closedInBatch: [Channel] = []
    /// Channels that have had their share of this turn.
    private var postponed: [Channel] = []
    /// Counts how often the loop has asked for events.
    private(set) var turn: UInt64 = 1
    private let events: UnsafeMutablePointer<epoll_event>
    private static let batch: Int32 = 256
    public static let usualShare = 1 << 20

    /// - Throws: `IOError.system` when the process has no descriptors left.
    public init(index: Int, share: Int = EventLoop.usualShare) throws(IOError) {
        self.index = index
        self.share = share
        now = Self.clock()
        wheel = TimerWheel(now: now)
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        events = .allocate(capacity: Int(Self.batch))
        guard epoll >= 0, wakeDescriptor >= 0 else {
            throw .system(errno: errno, operation: "cannot make an event loop")
        }
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | EPOLLET.rawValue
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, wakeDescriptor, &event) == 0 else {
            throw .system(errno: errno, operation: "cannot make an event loop")
        }
    }

    deinit {
        Glibc.close(epoll)
        Glibc.close(wakeDescriptor)
        events.deallocate()
    }

    /// The loop whose thread this is, if any.
    public static var current: EventLoop? {
        linux_get_current_loop().map { Unmanaged<EventLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    public var isCurrent: Bool {
        linux_get_current_loop() == UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque())
    }

    // MARK: - Work

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent {
            jobs.append(job)
        } else {
            wake { $0.jobs.append(job) }
        }
    }

    /// Starts a task that stays on this loop. Callable from any thread.
    @discardableResult
    public func spawn(_ body: sending @escaping () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: self, operation: body)
    }

    /// Runs `body` on the loop's thread, soon. Callable from any thread.
    public func submit(_ body: @escaping @Sendable () -> Void) {
        wake { $0.closures.append(body) }
    }

    private func wake(_ add: (inout Remote) -> Void) {
        let wasEmpty = remote.withLock { queue in
            let wasEmpty = queue.isEmpty
            add(&queue)
            return wasEmpty
        }
        guard wasEmpty else { return }
        var one: UInt64 = 1
        _ = Glibc.write(wakeDescriptor, &one, 8)
    }

    // MARK: - The loop

    /// Starts the loop's thread. A loop runs as long as the process.
    public func start() {
        hasStarted = true
        let hasThread = SystemThread.start(name: "loop-\(index)") { self.run() }
        precondition(hasThread, "the system gives no thread for an event loop")
    }

    private func run() {
        linux_set_current_loop(Unmanaged.passUnretained(self).toOpaque())
        while true {
            while let job = jobs.popFirst() { job.runSynchronously(on: asUnownedTaskExecutor()) }
            now = Self.clock()
            while let entry = wheel.nextExpired(now: now) { entry.expire() }
            let mayWait = jobs.isEmpty && postponed.isEmpty
            let timeout = mayWait ? wheel.timeToNextSlot(now: now).map(Int32.init(clamping:)) ?? -1 : 0
            let ready = epoll_wait(epoll, events, Self.batch, timeout)
            now = Self.clock()
            turn &+= 1
            for place in 0..<max(0, Int(ready)) { dispatch(events[place]) }
            if !postponed.isEmpty { resumePostponed() }
            // An event may name a channel that an earlier event of the same batch closed.
            if !closedInBatch.isEmpty { closedInBatch.removeAll(keepingCapacity: true) }
        }
    }

    private func dispatch(_ event: epoll_event) {
        guard let pointer = event.data.ptr else { return drainRemote() }
        Unmanaged<Channel>.fromOpaque(pointer)._withUnsafeGuaranteedRef { $0.receive(event.events) }
    }

    private func resumePostponed() {
        let channels = postponed
        postponed.removeAll(keepingCapacity: true)
        for channel in channels { channel.resume() }
    }

    /// Wakes the channel's task, or its observer, in the next turn.
    func postpone(_ channel: Channel) {
        if postponed.last !== channel { postponed.append(channel) }
    }

    private func drainRemote() {
        var count: UInt64 = 0
        _ = Glibc.read(wakeDescriptor, &count, 8)
        let taken = remote.withLock { queue in
            defer { queue = Remote() }
            return queue
        }
        for job in taken.jobs { jobs.append(job) }
        for closure in taken.closures { closure() }
    }

    // MARK: - Channels

    /// Both directions, edge-triggered: a socket is registered once and never modified.
    static let socketEvents = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue

    func register(_ channel: Channel, events: UInt32 = socketEvents) throws(IOError) {
        var event = epoll_event()
        event.events = events
        event.data.ptr = Unmanaged.passRetained(channel).toOpaque()
        if epoll_ctl(epoll, EPOLL_CTL_ADD, channel.descriptor, &event) != 0 {
            Unmanaged.passUnretained(channel).release()
            throw .system(errno: errno, operation: "cannot watch a descriptor")
        }
    }

    func modify(_ channel: Channel, events: UInt32) {
        var event = epoll_event()
        event.events = events
        event.data.ptr = Unmanaged.passUnretained(channel).toOpaque()
        epoll_ctl(epoll, EPOLL_CTL_MOD, channel.descriptor, &event)
    }

    /// Forgets a registered channel; its memory stays until the current batch of events is done.
    func unregister(_ channel: Channel) {
        epoll_ctl(epoll, EPOLL_CTL_DEL, channel.descriptor, nil)
        wheel.remove(channel)
        closedInBatch.append(channel)
        Unmanaged.passUnretained(channel).release()
    }

    private static func clock() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1000 &+ UInt64(time.tv_nsec) / 1_000_000
    }
}
