import CLinux
import Glibc

/// A descriptor on a loop, with what is known of its readiness.
///
/// Belongs to its loop. An event tells the `observer`, if there is one, and then wakes the one task that uses the channel
/// (`wakeup`): that is how a pool learns that an idle connection was closed by the peer, and a session that its client
/// has left while a task waits for somebody else.
open class Channel: Timed {
    /// The state of the channel, beyond being ready.
    enum Condition {
        case open
        case timedOut
        case closed
    }

    public final let descriptor: Int32
    public final var isReadable = false
    public final var isWritable = false
    /// The peer has ended its sending side (or all of it): the buffered bytes must be read to the end.
    public final var hasPeerEnded = false
    /// The connection is gone, as after a reset: nothing that is sent will arrive.
    public final var isBroken = false
    final var condition = Condition.open
    public final var wakeup: Wakeup?
    /// Until the channel is closed the two may refer to each other.
    public final var observer: (any ChannelObserver)?
    /// The one who counts connections of its kind.
    public final var account: (any ChannelAccount)?

    init(descriptor: Int32, on loop: EventLoop) {
        self.descriptor = descriptor
        super.init(on: loop)
    }

    /// The loop's news of this descriptor.
    func receive(_ mask: UInt32) {
        if condition == .closed { return }
        if mask & (EPOLLIN.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue | EPOLLRDHUP.rawValue) != 0 {
            isReadable = true
        }
        if mask & (EPOLLOUT.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 { isWritable = true }
        if mask & (EPOLLHUP.rawValue | EPOLLERR.rawValue | EPOLLRDHUP.rawValue) != 0 { hasPeerEnded = true }
        // Not EPOLLHUP: two sides that have ended one after the other hang up with bytes still unread.
        if mask & EPOLLERR.rawValue != 0 { isBroken = true }
        announce()
    }

    override func expire() {
        if condition == .open { condition = .timedOut }
        announce()
    }

    /// It is the channel's turn again.
    func resume() {
        if condition == .open { announce() }
    }

    private final func announce() {
        observer?.channelChanged(self)
        wakeup?.signal()
    }

    public final var isClosed: Bool { condition == .closed }
    public final var isOpen: Bool { condition == .open }

    /// From now on no task waits for the channel: its news is for the observer alone. Most are told already, and a look is
    /// cheaper than counting references.
    public final func rest(telling observer: any ChannelObserver) {
        if wakeup != nil { wakeup = nil }
        if self.observer !== observer { self.observer = observer }
    }

    /// A deadline that passed stays passed until this is called: the owner decides that the channel may go on.
    public final func clearTimeout() {
        if condition == .timedOut { condition = .open }
    }

    /// Throws what makes further use of the channel pointless: also that its task is not to wait any more.
    public final func check() throws(IOError) {
        if let wakeup, wakeup.isCancelled { throw .closed }
        switch condition {
        case .open: return
        case .timedOut: throw .timedOut
        case .closed: throw .closed
        }
    }

    /// Ends the channel, and wakes the task that waits for it. Once is enough, twice does no harm.
    public func close() {
        guard condition != .closed else { return }
        condition = .closed
        // That ends the watch too.
        Glibc.close(descriptor)
        loop.forget(self)
        observer = nil
        account.take()?.channelClosed()
        wakeup?.signal()
    }
}

/// Told of a channel's events, before the task is woken that uses it.
public protocol ChannelObserver: AnyObject {
    func channelChanged(_ channel: Channel)
}

/// Counts connections of one kind.
public protocol ChannelAccount: AnyObject {
    /// The connection waits for its next request.
    func channelRests()
    /// It does not any more: it serves one, or is about to be closed.
    func channelIsUsed()
    func channelClosed()
}
