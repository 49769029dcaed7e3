/// An end of a connection on a loop, with its known readiness: a descriptor, or a stream that shares a connection with others.
///
/// Belongs to its loop. An event informs the `observer`, if there is one, and then wakes the one task that uses the
/// channel (`wakeup`). So a pool learns that the peer closed an idle connection. A session learns that its client has
/// left while a task waits for another server.
open class Channel: Timed {
    /// Counts connections of one kind.
    public protocol Account: AnyObject {
        /// The connection waits for its next request.
        func channelRests()
        /// The connection no longer waits: it serves a request, or is about to be closed.
        func channelIsUsed()
        func channelClosed()
    }

    /// Gets a channel's events, before the task that uses it is woken.
    public protocol Observer: AnyObject {
        func channelChanged(_ channel: Channel)
    }

    /// The condition of the channel, apart from its readiness.
    enum Condition {
        case open
        case timedOut
        case closed
    }

    public final var isReadable = false
    public final var isWritable = false
    /// Whether the peer has closed its sending side, or both. The buffered bytes must still be read.
    public final var hasPeerEnded = false
    /// Whether the connection is broken, as after a reset: bytes that are sent do not arrive.
    public final var isBroken = false
    final var condition = Condition.open
    public final var wakeup: Wakeup?
    /// The observer. The two may refer to each other until the channel is closed.
    public final var observer: (any Observer)?
    /// The object that counts connections of this kind.
    public final var account: (any Account)?

    public override init(on loop: EventLoop) { super.init(on: loop) }

    /// Releases what the channel holds. `close` calls it once.
    open func release() { setDeadline(after: nil) }

    override func expire() {
        if condition == .open { condition = .timedOut }
        announce()
    }

    /// Continues the channel in its next turn.
    func resume() {
        if condition == .open { announce() }
    }

    /// Announces the channel once the events of this batch are served. Call it once for each announcement.
    public final func announceSoon() { loop.postpone(self) }

    /// Tells the observer, and the task that waits, that the channel has changed.
    public final func announce() {
        observer?.channelChanged(self)
        wakeup?.signal()
    }

    public final var isClosed: Bool { condition == .closed }
    public final var isOpen: Bool { condition == .open }

    /// Makes the channel idle: its events go to the observer only. Mostly that is already so, and a check is cheaper
    /// than counting references.
    public final func rest(telling observer: consuming any Observer) {
        if wakeup != nil { wakeup = nil }
        if self.observer !== observer { self.observer = observer }
    }

    /// Clears a passed deadline. It stays passed until then: the owner decides that the channel may continue.
    public final func clearTimeout() {
        if condition == .timedOut { condition = .open }
    }

    /// Throws the reason why the channel cannot be used, also if its task was cancelled.
    public final func check() throws(IOError) {
        if let wakeup, wakeup.isCancelled { throw .closed }
        switch condition {
        case .open: return
        case .timedOut: throw .timedOut
        case .closed: throw .closed
        }
    }

    /// Suspends until an event on any channel of this channel's task.
    public final func waitForEvent() async {
        guard let wakeup else { return }
        await wakeup.wait()
    }

    /// Closes the channel, and wakes the task that waits for it. Calling it twice is harmless.
    open func close() {
        guard condition != .closed else { return }
        condition = .closed
        release()
        observer = nil
        account.take()?.channelClosed()
        wakeup?.signal()
    }
}
