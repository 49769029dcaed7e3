import Bytes
import Challenges
import Credentials
import DNS
import IO
import Synchronization
import Telemetry
import Upstream

/// The proxy: a loop on each thread, each with its own listeners, connections and caches.
///
/// One thread makes all calls to it: that of the process's signals, which may block.
public final class ProxyServer: Sendable {
    /// The addresses that it listens on, with the ports that the system chose.
    public let addresses: [SocketAddress]
    /// The sockets in the file system that it listens on.
    private let sockets: [LocalSocket]
    /// The metrics, one for each loop.
    public let metrics: [Metrics]
    public let loops: [EventLoop]
    private let workers: [LoopBound<Worker>]
    private let policy: Mutex<ServicePolicy>
    private let shared: SharedState
    private let draining = Atomic<Bool>(false)
    /// The number of descriptors that the process may have open.
    public let descriptors: DescriptorBudget
    private let clients: ClientCount
    private let onLimit: @Sendable (String) -> Void

    /// Binds all addresses and prepares to serve; `start` serves.
    ///
    /// - Parameter onLimit: called when a limit is reached; nil to report it like other events.
    /// - Throws: a sentence about what this machine or another process does not allow.
    public init(
        threads: Int, listeners: [ClientListener], policy: ServicePolicy, shared: SharedState,
        onLimit: (@Sendable (String) -> Void)? = nil
    ) throws(StartError) {
        let onLimit = onLimit ?? shared.report
        self.onLimit = onLimit
        let threads = max(1, threads)
        descriptors = DescriptorBudget(
            available: Descriptors.raiseLimit(), loops: threads, listeners: listeners.count)
        clients = ClientCount(descriptors.limits(policy.exchanges.limits), loops: threads, report: onLimit)
        var addresses: [SocketAddress] = []
        var sockets: [(socket: LocalSocket, listener: ClientListener)] = []
        var workers: [LoopBound<Worker>] = []
        for listener in listeners {
            switch listener.place {
            case .network(let address):
                do throws(IOError) { if address.port != 0 { try Listener.probe(address) } } catch {
                    throw StartError("\(error)")
                }
                addresses.append(address)
            case .local(let path, let mode, let group):
                sockets.append((try Self.socket(path, mode: mode, group: group), listener))
            }
        }
        let networks = listeners.filter { if case .network = $0.place { true } else { false } }
        if listeners.contains(where: \.isTransparent) { Redirection.begin() }
        for index in 0..<threads {
            let room = Worker.Room(
                clients: clients, arrivals: descriptors.arrivals,
                idle: max(1, descriptors.idle(besides: clients.limits) / threads))
            let worker = try Self.worker(index, policy: policy, shared: shared, room: room)
            do throws(IOError) {
                // Loops share a port: the first one gets it from the system, the others take the same.
                for place in addresses.indices {
                    addresses[place] = try worker.listen(on: addresses[place], for: networks[place])
                }
                for (socket, listener) in sockets { try worker.listen(on: socket, for: listener) }
            } catch { throw StartError("\(error)") }
            workers.append(LoopBound(worker, to: worker.loop))
        }
        self.workers = workers
        self.shared = shared
        self.addresses = addresses
        self.sockets = sockets.map(\.socket)
        shared.ownListeners.add(addresses, as: .proxy)
        loops = workers.map(\.loop)
        metrics = workers.map { $0.unstarted.metrics }
        self.policy = Mutex(policy)
        shared.audit.onEvent { [weak self] event in self?.log(event) }
    }

    /// Logs the event after everything that happened before: the loops hand over their lines at once.
    private func log(_ event: AuditEvent) {
        let log = policy.withLock { $0.log }
        guard let stream = log.events else { return }
        let current = workers.first { $0.loop.isCurrent }
        if current?.value.note(event) != true {
            stream.add(event.level) { event.append(to: $0, at: $1, as: log.style) }
        }
        for worker in workers { worker.loop.submit { worker.value.flushLog() } }
    }

    private static func worker(
        _ index: Int, policy: ServicePolicy, shared: SharedState, room: Worker.Room
    ) throws(StartError) -> Worker {
        let loop: EventLoop
        do throws(IOError) { loop = try EventLoop(index: index) } catch { throw StartError("\(error)") }
        return Worker(
            policy: policy, shared: shared, on: loop, in: SystemNetwork(Resolver(on: loop), on: loop), room: room)
    }

    private static func socket(
        _ path: LocalPath, mode: UInt32, group: UInt32?
    ) throws(StartError) -> LocalSocket {
        do throws(LocalListener.Failure) { return try LocalSocket(path, mode: mode, group: group) } catch {
            switch error {
            case .inUse(let process): throw StartError("cannot listen on \(path): process \(process) listens there")
            case .failed(let error): throw StartError("\(error)")
            }
        }
    }

    /// The places where it listens, as the rule file writes them.
    public var places: [String] { addresses.map { "\($0)" } + sockets.map { "unix:\($0.path)" } }

    public func start() {
        let wanted = policy.withLock { $0.exchanges.limits.clients }
        if let shortage = descriptors.shortage(of: wanted) { onLimit(shortage) }
        clients.connect(workers)
        for loop in loops { loop.start() }
        shared.onRetirement { [workers] retirement in
            for worker in workers { worker.loop.submit { worker.value.retire(retirement) } }
        }
        shared.challenges.questions.onQuestion { [workers] question in
            guard let worker = workers.first(where: { $0.loop.isCurrent }) ?? workers.first else { return }
            worker.loop.submit { worker.value.announce(question) }
        }
        loops.first?.spawn { [shared] in await shared.followStorage() }
    }

    public var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Applies the policy to new requests; requests in progress keep theirs.
    public func adopt(_ policy: ServicePolicy) {
        let old = self.policy.withLock { running in
            defer { running = policy }
            return running.exchanges.limits.clients
        }
        if old != policy.exchanges.limits.clients,
            let shortage = descriptors.shortage(of: policy.exchanges.limits.clients)
        {
            onLimit(shortage)
        }
        for index in clients.adopt(descriptors.limits(policy.exchanges.limits)) {
            clients.tell(index) { $0.admitWaiting() }
        }
        for worker in workers { worker.loop.submit { worker.value.adopt(policy) } }
    }

    /// Takes no new client, and waits until the current ones have their responses.
    /// - Parameter pause: waits the given time, and returns whether to continue.
    /// - Returns: the number of connections still open when the time was over, or when `pause` returned false.
    public func drain(within limit: Duration, pausing pause: (Milliseconds) -> Bool) -> Int {
        draining.store(true, ordering: .relaxed)
        for socket in sockets { socket.remove() }
        for worker in workers { worker.loop.submit { worker.value.drain() } }
        let end = ContinuousClock.now + limit
        while openClients > 0, ContinuousClock.now < end, pause(Self.step) {}
        flushSpans()
        flushLogs()
        return openClients
    }

    private static let step: Milliseconds = 20
    private static let collectorLimit: Milliseconds = 2000

    /// Sends the remaining spans to the collector before the process ends, if it takes them in time.
    private func flushSpans() {
        guard policy.withLock({ $0.collector }) != nil else { return }
        for worker in workers { worker.loop.submit { worker.value.endSpans() } }
        var rest = Self.collectorLimit
        while rest > 0 {
            let (asked, busy) = (Countdown(workers.count), Countdown(1))
            for worker in workers {
                worker.loop.submit {
                    if worker.value.hasSpans { busy.step() }
                    asked.step()
                }
            }
            while !asked.isOver, rest > 0 {
                Pause.take(Self.step)
                rest = rest - Self.step
            }
            if asked.isOver, !busy.isOver { return }
        }
    }

    /// The number of client connections at this moment.
    public var openClients: Int {
        metrics.reduce(0) { $0 + $1.value(of: .clientsAccepted) - $1.value(of: .clientsClosed) }
    }

    /// Writes the remaining lines to the log before the process ends, unless its destination takes none for a second.
    public func flushLogs() {
        let logs = policy.withLock { [$0.log.exchanges, $0.log.events] }.compactMap(\.self)
        if logs.isEmpty { return }
        let flushed = Countdown(workers.count)
        for worker in workers {
            worker.loop.submit {
                worker.value.flushLog()
                flushed.step()
            }
        }
        var rest: Milliseconds = 1000
        while !(flushed.isOver && logs.allSatisfy(\.isIdle)), rest > 0 {
            Pause.take(Self.step)
            rest = rest - Self.step
        }
    }

    /// A countdown that any thread may advance.
    private final class Countdown: Sendable {
        private let rest: Atomic<Int>
        init(_ count: Int) { rest = Atomic(count) }
        func step() { rest.subtract(1, ordering: .acquiringAndReleasing) }
        var isOver: Bool { rest.load(ordering: .acquiring) <= 0 }
    }
}
