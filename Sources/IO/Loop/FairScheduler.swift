import Bytes
import Synchronization

/// Slow work that clients may request faster than it is done. The amount of waiting work is limited, and the clients'
/// addresses take turns. Work that no client needs any longer is not done. Clients that need equal work at the same
/// time share it.
public final class FairScheduler<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    public enum Outcome: Sendable {
        case done(Value)
        /// Too much work waits already. There may be room after this time.
        case refused(retryAfter: Milliseconds)
        /// The client has left.
        case abandoned
    }

    /// A client that waits.
    private final class Ticket: Sendable {
        private let wakeup: LoopBound<Wakeup>
        private let word = Mutex<Outcome?>(nil)

        init(_ client: WaitingClient) { wakeup = LoopBound(client.wakeup, to: client.loop) }

        var outcome: Outcome? { word.withLock { $0 } }

        func end(_ outcome: Outcome) {
            word.withLock { $0 = outcome }
            wakeup.loop.submit { [wakeup] in wakeup.value.signal() }
        }
    }

    private struct Job {
        let work: @Sendable () -> Value
        var tickets: [ObjectIdentifier: Ticket]

        init(_ work: @escaping @Sendable () -> Value, for ticket: Ticket) {
            self.work = work
            tickets = [ObjectIdentifier(ticket): ticket]
        }

        func end(_ outcome: Outcome) {
            for ticket in tickets.values { ticket.end(outcome) }
        }
    }

    private struct State {
        var queue: FairQueue<Key>
        /// The waiting jobs, and those that are being done.
        var jobs: [Key: Job] = [:]
        /// The number of threads at work.
        var threads = 0
        /// The usual duration of a piece of work.
        var length: Milliseconds = 0
    }

    private let pool: BlockingPool
    private let threads: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - threads: the limit of simultaneous pieces of work.
    ///   - waiting: the limit of waiting pieces.
    public init(on pool: BlockingPool, threads: Int, waiting: Int) {
        self.pool = pool
        self.threads = max(1, threads)
        state = Mutex(State(queue: FairQueue(limit: waiting)))
    }

    /// The result of `work`, for every client that requested it. Call it on the client's loop.
    ///
    /// - Parameters:
    ///   - rank: lower ranks come first.
    ///   - subject: work with a subject is not done at the same time as other work with that subject, nor as other work
    ///     with a subject from the same address.
    public func run(
        _ key: Key, for client: WaitingClient, rank: Int = 0, subject: UInt128? = nil,
        _ work: @escaping @Sendable () -> Value
    ) async -> Outcome {
        client.loop.workElsewhere += 1
        defer { client.loop.workElsewhere -= 1 }
        let ticket = Ticket(client)
        let turn = FairQueue<Key>.Turn(source: client.network, rank: rank, subject: subject)
        add(ticket, key, turn, work)
        while true {
            if let outcome = ticket.outcome { return outcome }
            // A cancelled wake-up ends every wait at once.
            if client.hasLeft() || client.wakeup.isCancelled {
                withdraw(ticket, key)
                return .abandoned
            }
            await client.wakeup.wait()
        }
    }

    private func add(
        _ ticket: Ticket, _ key: Key, _ turn: FairQueue<Key>.Turn, _ work: @escaping @Sendable () -> Value
    ) {
        let (refused, time, startsThread) = state.withLock { state -> (Job?, Milliseconds, Bool) in
            var refused: Job?
            switch state.queue.add(key, turn) {
            case .refused: refused = Job(work, for: ticket)
            case .joins: state.jobs[key]?.tickets[ObjectIdentifier(ticket)] = ticket
            case .waits: state.jobs[key] = Job(work, for: ticket)
            case .replaces(let other):
                refused = state.jobs.removeValue(forKey: other)
                state.jobs[key] = Job(work, for: ticket)
            }
            return (refused, timeToWait(state), mayStartThread(&state))
        }
        refused?.end(.refused(retryAfter: time))
        if startsThread { pool.submit { self.serve() } }
    }

    private func withdraw(_ ticket: Ticket, _ key: Key) {
        state.withLock { state in
            state.jobs[key]?.tickets[ObjectIdentifier(ticket)] = nil
            if state.jobs[key]?.tickets.isEmpty == true, state.queue.withdraw(key) { state.jobs[key] = nil }
        }
    }

    private func mayStartThread(_ state: inout State) -> Bool {
        guard state.threads < threads, state.queue.hasNext else { return false }
        state.threads += 1
        return true
    }

    /// The usual time until all waiting work is done, in full seconds.
    private func timeToWait(_ state: State) -> Milliseconds {
        min(.minutes(1), .seconds(1 + (state.length * state.queue.count / threads).seconds))
    }

    /// Does all work that may be done.
    private func serve() {
        var done: (key: Key, value: Value, length: Milliseconds)?
        while true {
            let (next, former, startsThread) = state.withLock { state in
                let former = done.flatMap { finish($0.key, after: $0.length, &state) }
                let next = state.queue.next().flatMap { key in state.jobs[key].map { (key, $0.work) } }
                if next == nil { state.threads -= 1 }
                // The current work may have kept two pieces from starting.
                return (next, former, mayStartThread(&state))
            }
            if startsThread { pool.submit { self.serve() } }
            if let done { former?.end(.done(done.value)) }
            guard let (key, work) = next else { return }
            let begun = ContinuousClock.now
            let value = work()
            done = (key, value, Milliseconds(ContinuousClock.now - begun))
        }
    }

    private func finish(_ key: Key, after length: Milliseconds, _ state: inout State) -> Job? {
        state.queue.finish(key)
        state.length = (state.length * 3 + length) / 4
        return state.jobs.removeValue(forKey: key)
    }
}

/// A value that belongs to one loop, in a box that other threads may pass on.
///
/// `@unchecked Sendable`: every access checks that it happens on the loop's own thread.
public struct LoopBound<Value>: @unchecked Sendable {
    private let bound: Value
    public let loop: EventLoop

    public init(_ value: Value, to loop: EventLoop) {
        bound = value
        self.loop = loop
    }

    // Neither this nor `unstarted` may be inlined: Swift 6.3's optimiser would take the fields of the object that it returns
    // for unchanging, across calls and suspensions.
    @inline(never)
    public var value: Value {
        precondition(loop.isCurrent, "a value bound to a loop was used on another thread")
        return bound
    }

    /// The value before the loop runs, while the thread that created both still owns them.
    @inline(never)
    public var unstarted: Value {
        precondition(!loop.hasStarted, "a value bound to a running loop was used on another thread")
        return bound
    }
}
