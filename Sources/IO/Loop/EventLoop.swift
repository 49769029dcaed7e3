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
/// `@unchecked Sendable`: the fields are touched by the loop's own thread only, except `remote`, which its mutex guards, and
/// `EventPoll.wake`, which reads a descriptor that never changes.
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
    private var time: LoopTime
    /// Milliseconds on the monotonic clock, read once per batch of events.
    public var now: UInt64 { time.milliseconds }
    /// The same moment in nanoseconds, for all that is measured.
    public var nanoseconds: UInt64 { time.nanoseconds }
    public let buffers = BufferPool()
    public let pipes = PipePool()
    /// Called when a new socket leaves few descriptors: whoever keeps some for later closes them.
    public var onScarcity: (() -> Void)?
    /// From an event, or a batch of them, to the next wait for events: how long another event may have waited.
    public let lag = DurationHistogram()
    var wheel: TimerWheel
    /// Written once, before the thread exists.
    private(set) var hasStarted = false
    /// Pieces of work on other threads that tasks of this loop wait for.
    var workElsewhere = 0
    private let poll: EventPoll
    private let remote = Mutex(Remote())
    private var jobs = Ring<UnownedJob>()
    private var served: Turn
    /// Counts how often the loop has asked for events.
    var turn: UInt64 { served.number }
    public static let usualShare = 1 << 20
    /// Jobs that run in one turn at most, beyond those that were there when it began: tasks that each bring the next job
    /// would keep the loop from its events.
    private static let jobShare = 64

    /// - Parameter clock: the time that the loop goes by, instead of the system's; then the loop is driven by hand.
    /// - Throws: `IOError.system` when the process has no descriptors left.
    public init(
        index: Int, share: Int = EventLoop.usualShare, clock: ManualClock? = nil
    ) throws(IOError) {
        self.index = index
        self.share = share
        time = LoopTime(clock)
        served = Turn(began: time.nanoseconds)
        wheel = TimerWheel(now: time.milliseconds)
        poll = try EventPoll()
    }

    /// The loop whose thread this is, if any.
    public static var current: EventLoop? {
        linux_get_current_loop().map { Unmanaged<EventLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    public var isCurrent: Bool {
        linux_get_current_loop() == UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque())
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var epochMilliseconds: Int { time.clock?.epochMilliseconds ?? SystemClock.epochMilliseconds }

    /// The zero of `nanoseconds` on the clock of the day, in nanoseconds since 1970-01-01T00:00:00Z.
    public var epoch: Int {
        if let clock = time.clock {
            return clock.epochMilliseconds &* Int(LoopTime.nanosecondsPerMillisecond)
                &- Int(clamping: clock.nanoseconds)
        }
        return SystemClock.epochNanoseconds &- Int(clamping: Self.systemTime())
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
        served.began = Self.systemTime()
        while true {
            runDue()
            let mayWait = jobs.isEmpty && served.postponed.isEmpty
            lag.add(Self.systemTime() &- served.began)
            serveEvents(within: mayWait ? wheel.timeToNextSlot(now: now).map(Int32.init(clamping:)) ?? -1 : 0)
        }
    }

    /// Runs the jobs that are there, and some that they bring, and then what has its time.
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

    /// - Parameter limit: milliseconds to wait for the first event; -1: as long as it takes.
    /// - Returns: how many events there were.
    @inline(__always) @discardableResult
    private func serveEvents(within limit: Int32) -> Int {
        let ready = poll.wait(within: limit)
        time.read()
        served.began = time.nanoseconds
        served.number &+= 1
        for place in 0..<ready { dispatch(poll[place]) }
        if !served.postponed.isEmpty { resumePostponed() }
        // An event may name a channel that an earlier event of the same batch closed.
        if !served.closed.isEmpty { releaseClosed() }
        return ready
    }

    // MARK: - By hand

    /// Makes the calling thread the loop's while `body` runs, instead of `start`. Nothing happens on the loop but in
    /// `runUntilIdle`. The calling thread must not be one that runs tasks.
    public func occupyThread<Value>(_ body: () throws -> Value) rethrows -> Value {
        precondition(!hasStarted && time.clock != nil, "a loop with a thread of its own cannot be driven by hand")
        linux_set_current_loop(Unmanaged.passUnretained(self).toOpaque())
        defer { linux_set_current_loop(nil) }
        return try body()
    }

    /// Serves what is ready until nothing is: no job, no event, no deadline that has passed, and no work on other threads
    /// that a task waits for.
    ///
    /// - Parameter limit: milliseconds to wait for work on other threads.
    /// - Returns: false when that takes longer.
    public func runUntilIdle(within limit: Int32) -> Bool {
        precondition(isCurrent, "a loop is driven by the thread that it occupies")
        while true {
            runDue()
            let isBusy = !jobs.isEmpty || !served.postponed.isEmpty
            let mayWait = !isBusy && workElsewhere > 0
            if serveEvents(within: mayWait ? limit : 0) > 0 || isBusy || !jobs.isEmpty || !served.postponed.isEmpty {
                continue
            }
            return workElsewhere == 0
        }
    }

    /// Milliseconds until the loop has to look at a deadline again; nil: there is none.
    public var timeToNextDeadline: Int? { wheel.timeToNextSlot(now: now) }

    private func dispatch(_ event: epoll_event) {
        guard let pointer = event.data.ptr else { return drainRemote() }
        Unmanaged<Channel>.fromOpaque(pointer)._withUnsafeGuaranteedRef { $0.receive(event.events) }
    }

    private func resumePostponed() {
        let channels = served.postponed
        served.postponed.removeAll(keepingCapacity: true)
        for channel in channels { channel.resume() }
    }

    /// Wakes the channel's task, or its observer, in the next turn.
    func postpone(_ channel: Channel) {
        if served.postponed.last !== channel { served.postponed.append(channel) }
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

    func register(_ channel: Channel, events: UInt32 = socketEvents) throws(IOError) {
        if !poll.add(channel.descriptor, events: events, as: Unmanaged.passRetained(channel).toOpaque()) {
            Unmanaged.passUnretained(channel).release()
            throw .system(errno: errno, operation: "cannot watch a descriptor")
        }
    }

    func modify(_ channel: Channel, events: UInt32) {
        poll.modify(channel.descriptor, events: events, as: Unmanaged.passUnretained(channel).toOpaque())
    }

    /// Forgets a registered channel whose descriptor stays open.
    func unregister(_ channel: Channel) {
        endWatch(of: channel)
        forget(channel)
    }

    /// For a descriptor that is about to be closed while the system has others for the same thing.
    func endWatch(of channel: Channel) {
        poll.remove(channel.descriptor)
    }

    /// Forgets a channel whose descriptor was closed, which has ended its watch; its memory stays until the current batch of
    /// events is done, and while a copy of the descriptor may keep the watch alive.
    func forget(_ channel: Channel) {
        wheel.remove(channel)
        served.closed.append(channel)
        Unmanaged.passUnretained(channel).release()
    }

    /// Lets go of closed channels, unless a copy of a descriptor may have its events reported still.
    private func releaseClosed() {
        if Descriptors.copies.mayExist(at: time.clock == nil ? now : Self.uptimeMilliseconds) { return }
        served.closed.removeAll(keepingCapacity: true)
    }

    /// Nanoseconds on the monotonic clock.
    static func systemTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// The same in milliseconds.
    static var uptimeMilliseconds: UInt64 { systemTime() / LoopTime.nanosecondsPerMillisecond }
}

/// The time that a loop goes by, as it was read last.
private struct LoopTime {
    /// Nil where the system's clocks hold.
    let clock: ManualClock?
    private(set) var nanoseconds: UInt64 = 0
    private(set) var milliseconds: UInt64 = 0

    static let nanosecondsPerMillisecond: UInt64 = 1_000_000

    init(_ clock: ManualClock?) {
        self.clock = clock
        read()
    }

    @inline(__always)
    mutating func read() {
        nanoseconds = clock?.nanoseconds ?? EventLoop.systemTime()
        milliseconds = nanoseconds / Self.nanosecondsPerMillisecond
    }
}

/// The batch of events that a loop serves.
private struct Turn {
    /// Counts them.
    var number: UInt64 = 1
    /// When the events were there.
    var began: UInt64
    /// Channels that were closed meanwhile.
    var closed: [Channel] = []
    /// Channels that have had their share.
    var postponed: [Channel] = []

    init(began: UInt64) { self.began = began }
}
