import Bytes
import CLinux
import Glibc
import Synchronization

/// One epoll loop on one thread, and the executor of every task started with `spawn`.
///
/// A task with a loop as executor preference stays on it through every suspension. So its sockets, buffers and pools
/// need no lock. Unstructured tasks do *not* inherit the preference: `spawn` is the only way to start one.
///
/// `@unchecked Sendable`: only the loop's own thread uses the fields, except `remote`, which its mutex guards, and
/// `EventPoll.wake`, which reads a descriptor that never changes.
public final class EventLoop: TaskExecutor, @unchecked Sendable {
    private struct Remote {
        var jobs: [UnownedJob] = []
        var closures: [@Sendable () -> Void] = []
        var isEmpty: Bool { jobs.isEmpty && closures.isEmpty }
    }

    public let index: Int
    /// The bytes that one socket may deliver in one turn before the others are served: a fast peer could otherwise
    /// occupy the loop.
    let share: Int
    private var time: EventLoop.Time
    /// The time on the monotonic clock, read once per batch of events.
    public var now: LoopInstant { time.now }
    public let buffers = BufferPool()
    public let pipes = Pipe.Pool()
    /// Called when a new socket leaves few descriptors, so that idle ones are closed.
    public var onScarcity: (() -> Void)?
    /// The times from an event, or a batch of them, to the next wait for events: so long another event may have waited.
    public let lag = DurationHistogram()
    var wheel: TimerWheel
    /// Whether the loop was started. Written once, before the thread exists.
    private(set) var hasStarted = false
    /// The number of calls on other threads that tasks of this loop wait for.
    var workElsewhere = 0
    private let poll: EventPoll
    private let remote = Mutex(Remote())
    private var jobs = Ring<UnownedJob>()
    private var served: EventLoop.Turn
    /// The number of times that the loop has waited for events.
    var turn: UInt64 { served.number }
    public static let usualShare = 1 << 20
    /// The limit of jobs in one turn, beyond those that existed at its start. Tasks that each add the next job could
    /// otherwise keep the loop from its events.
    private static let jobShare = 64

    /// - Parameter clock: the time for the loop in place of the system's; the loop is then driven by hand.
    /// - Throws: `IOError.system` if the process has no descriptors left.
    public init(
        index: Int, share: Int = EventLoop.usualShare, clock: ManualClock? = nil
    ) throws(IOError) {
        self.index = index
        self.share = share
        time = EventLoop.Time(clock)
        served = EventLoop.Turn(began: time.now)
        wheel = TimerWheel(now: time.now)
        poll = try EventPoll()
    }

    /// The loop of the current thread, if any.
    public static var current: EventLoop? {
        linux_get_current_loop().map { Unmanaged<EventLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    public var isCurrent: Bool {
        linux_get_current_loop() == UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque())
    }

    /// The time of day.
    public var wallTime: WallTime { time.clock?.wallTime ?? SystemClock.wallTime }

    /// The time of day at `LoopInstant.zero`, in nanoseconds since 1970-01-01T00:00:00Z.
    public var epoch: Int {
        if let clock = time.clock {
            return clock.wallTime.milliseconds &* Int(LoopInstant.nanosecondsPerMillisecond)
                &- Int(clamping: clock.now.nanoseconds)
        }
        return SystemClock.epochNanoseconds &- Int(clamping: LoopInstant.ofSystem.nanoseconds)
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
        if wasEmpty { poll.wake() }
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
        BlockMemory.keep()
        served.began = .ofSystem
        while true {
            runDue()
            let mayWait = jobs.isEmpty && served.postponed.isEmpty
            lag.add(LoopInstant.ofSystem.nanoseconds(since: served.began))
            serveEvents(within: mayWait ? wheel.timeToNextSlot(now: now).map { Int32(clamping: $0.count) } ?? -1 : 0)
        }
    }

    /// Runs the existing jobs and some that they add, then the entries whose deadline has passed.
    @inline(__always)
    private func runDue() {
        if time.clock != nil || !jobs.isEmpty {
            var rest = max(jobs.count, Self.jobShare)
            while rest > 0, let job = jobs.popFirst() {
                job.runSynchronously(on: asUnownedTaskExecutor())
                rest -= 1
            }
            time.read()
        }
        while let entry = wheel.nextExpired(now: now) { entry.expire() }
    }

    /// - Parameter limit: milliseconds to wait for the first event; -1: no limit.
    /// - Returns: the number of events.
    @inline(__always) @discardableResult
    private func serveEvents(within limit: Int32) -> Int {
        let ready = poll.wait(within: limit)
        time.read()
        served.began = time.now
        served.number &+= 1
        for place in 0..<ready { dispatch(poll[place]) }
        if !served.postponed.isEmpty { resumePostponed() }
        // An event may refer to a channel that an earlier event of the batch closed.
        if !served.closed.isEmpty { releaseClosed() }
        return ready
    }

    // MARK: - By hand

    /// Makes the calling thread the loop's while `body` runs, in place of `start`. The loop runs only in
    /// `runUntilIdle`. The calling thread must not run tasks.
    public func occupyThread<Value>(_ body: () throws -> Value) rethrows -> Value {
        precondition(!hasStarted && time.clock != nil, "a loop with a thread of its own cannot be driven by hand")
        linux_set_current_loop(Unmanaged.passUnretained(self).toOpaque())
        defer { linux_set_current_loop(nil) }
        return try body()
    }

    /// Awaits work on other threads. A loop that is driven by hand is not idle meanwhile.
    public static func awaitingOthers<Value>(_ body: () async -> Value) async -> Value {
        let loop = EventLoop.current
        loop?.workElsewhere += 1
        defer { loop?.workElsewhere -= 1 }
        return await body()
    }

    /// Runs until the loop is idle: no job, no event, no passed deadline, and no work on other threads that a task
    /// waits for.
    ///
    /// - Parameter limit: the time to wait for work on other threads.
    /// - Returns: false if that takes longer.
    public func runUntilIdle(within limit: Milliseconds) -> Bool {
        precondition(isCurrent, "a loop is driven by the thread that it occupies")
        while true {
            runDue()
            let isBusy = !jobs.isEmpty || !served.postponed.isEmpty
            let mayWait = !isBusy && workElsewhere > 0
            if serveEvents(within: mayWait ? Int32(clamping: limit.count) : 0) > 0 || isBusy || !jobs.isEmpty
                || !served.postponed.isEmpty
            {
                continue
            }
            return workElsewhere == 0
        }
    }

    /// The time until the loop must check a deadline again; nil without deadlines.
    public var timeToNextDeadline: Milliseconds? { wheel.timeToNextSlot(now: now) }

    private func dispatch(_ event: epoll_event) {
        guard let pointer = event.data.ptr else { return drainRemote() }
        Unmanaged<DescriptorChannel>.fromOpaque(pointer)._withUnsafeGuaranteedRef { $0.receive(event.events) }
    }

    private func resumePostponed() {
        served.resumePostponed()
        for channel in served.resumed { channel.resume() }
        served.resumed.removeAll(keepingCapacity: true)
    }

    /// Wakes the channel's task, or its observer, in the next turn.
    func postpone(_ channel: Channel) {
        served.postpone(channel)
    }

    private func drainRemote() {
        poll.settle()
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

    func register(_ channel: DescriptorChannel, events: UInt32 = socketEvents) throws(IOError) {
        if !poll.add(channel.descriptor, events: events, as: Unmanaged.passRetained(channel).toOpaque()) {
            Unmanaged.passUnretained(channel).release()
            throw .system(errno: errno, operation: "cannot watch a descriptor")
        }
    }

    func modify(_ channel: DescriptorChannel, events: UInt32) {
        poll.modify(channel.descriptor, events: events, as: Unmanaged.passUnretained(channel).toOpaque())
    }

    /// Removes a registered channel whose descriptor stays open.
    func unregister(_ channel: DescriptorChannel) {
        endWatch(of: channel)
        forget(channel)
    }

    /// Ends the watch of a descriptor that is about to be closed while copies of it exist.
    func endWatch(of channel: DescriptorChannel) {
        poll.remove(channel.descriptor)
    }

    /// Removes a channel whose descriptor was closed, which has ended its watch. Its memory stays until the current
    /// batch of events is done, and while a copy of the descriptor may keep the watch active.
    func forget(_ channel: DescriptorChannel) {
        wheel.remove(channel)
        served.closed.append(channel)
        Unmanaged.passUnretained(channel).release()
    }

    /// Releases closed channels, unless a copy of a descriptor may still report events for them.
    private func releaseClosed() {
        if Descriptors.copies.mayExist(at: time.clock == nil ? now : .ofSystem) { return }
        served.closed.removeAll(keepingCapacity: true)
    }

    /// The time of a loop, as it was read last.
    fileprivate struct Time {
        /// The manual clock; nil: the system's clocks are used.
        let clock: ManualClock?
        private(set) var now = LoopInstant.zero

        init(_ clock: ManualClock?) {
            self.clock = clock
            read()
        }

        @inline(__always)
        mutating func read() {
            now = clock?.now ?? .ofSystem
        }
    }

    /// The batch of events that a loop is serving.
    fileprivate struct Turn {
        /// The number of the batch.
        var number: UInt64 = 1
        /// The time at which the events were there.
        var began: LoopInstant
        /// The channels that were closed meanwhile.
        var closed: [Channel] = []
        /// The channels that have used up their share.
        private(set) var postponed: [Channel] = []
        /// The channels that were postponed, while they are resumed.
        var resumed: [Channel] = []

        init(began: LoopInstant) { self.began = began }

        mutating func postpone(_ channel: Channel) {
            if postponed.last !== channel { postponed.append(channel) }
        }

        /// Moves the postponed channels to `resumed`. The arrays are swapped, because a copy would allocate memory each turn.
        mutating func resumePostponed() { swap(&postponed, &resumed) }
    }
}
