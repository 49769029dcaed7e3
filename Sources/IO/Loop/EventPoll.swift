import CLinux
import Glibc

/// An epoll instance, and the descriptor by which other threads wake the waiting thread.
///
/// All but `wake` belongs to the thread that waits.
struct EventPoll: ~Copyable {
    private let descriptor: Int32
    private let waker: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private static let batch: Int32 = 256

    /// - Throws: `IOError.system` if the process has no descriptors left.
    init() throws(IOError) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        waker = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        events = .allocate(capacity: Int(Self.batch))
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | EPOLLET.rawValue
        guard descriptor >= 0, waker >= 0, epoll_ctl(descriptor, EPOLL_CTL_ADD, waker, &event) == 0 else {
            throw .system(errno: errno, operation: "cannot make an event loop")
        }
    }

    deinit {
        Glibc.close(descriptor)
        Glibc.close(waker)
        events.deallocate()
    }

    /// - Parameter limit: milliseconds to wait for the first event; -1: no limit.
    /// - Returns: the number of events, from index 0 on.
    @inline(__always)
    func wait(within limit: Int32) -> Int { max(0, Int(linux_wait(descriptor, events, Self.batch, limit))) }

    /// The event at that index. An event without a pointer is the waker's.
    @inline(__always)
    subscript(place: Int) -> epoll_event { events[place] }

    /// Wakes the waiting thread. Callable from any thread.
    func wake() {
        var one: UInt64 = 1
        _ = Glibc.write(waker, &one, 8)
    }

    /// Clears the waker after its event.
    func settle() {
        var count: UInt64 = 0
        _ = Glibc.read(waker, &count, 8)
    }

    /// - Parameter channel: the value of the descriptor's events.
    /// - Returns: whether the system accepts it.
    func add(_ watched: Int32, events: UInt32, as channel: UnsafeMutableRawPointer) -> Bool {
        control(EPOLL_CTL_ADD, watched, events: events, as: channel)
    }

    func modify(_ watched: Int32, events: UInt32, as channel: UnsafeMutableRawPointer) {
        _ = control(EPOLL_CTL_MOD, watched, events: events, as: channel)
    }

    func remove(_ watched: Int32) { epoll_ctl(descriptor, EPOLL_CTL_DEL, watched, nil) }

    private func control(
        _ operation: Int32, _ watched: Int32, events: UInt32, as channel: UnsafeMutableRawPointer
    ) -> Bool {
        var event = epoll_event()
        event.events = events
        event.data.ptr = channel
        return epoll_ctl(descriptor, operation, watched, &event) == 0
    }
}
