import Bytes
import IO
import Synchronization

/// A client that waits for slow work, and leaves on request.
public final class PlayedClient: Sendable {
    private let address: IPAddress
    private let wakeup: LoopBound<Wakeup>
    private let hasLeft = Atomic(false)

    public init(on loop: EventLoop, at address: IPAddress = IPAddress(v4: 0x7F00_0001)) {
        self.address = address
        wakeup = LoopBound(Wakeup(), to: loop)
    }

    /// The waiting client. Read it on the loop.
    public var waiting: WaitingClient {
        WaitingClient(address: address, wakeup: wakeup.value, on: wakeup.loop) { [self] in
            hasLeft.load(ordering: .relaxed)
        }
    }

    /// Lets the loop run the tasks that are due, and lets other threads work. A task that only yields keeps the loop from its
    /// events, and the work of another thread may be done before this task has given way.
    public static func pause() async {
        await Task.yield()
        await BlockingPool.shared.run { Pause.take(1) }
    }

    public func leave() {
        hasLeft.store(true, ordering: .relaxed)
        wakeup.loop.submit { [wakeup] in wakeup.value.signal() }
    }
}
