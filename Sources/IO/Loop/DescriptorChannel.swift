import CLinux
import Glibc

/// A channel that is a descriptor on its loop's epoll.
public class DescriptorChannel: Channel {
    public final let descriptor: Int32

    init(descriptor: Int32, on loop: EventLoop) {
        self.descriptor = descriptor
        super.init(on: loop)
    }

    /// Handles an event of this descriptor.
    func receive(_ mask: UInt32) {
        if condition == .closed { return }
        if mask & (EPOLLIN.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue | EPOLLRDHUP.rawValue) != 0 {
            isReadable = true
        }
        if mask & (EPOLLOUT.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 { isWritable = true }
        if mask & (EPOLLHUP.rawValue | EPOLLERR.rawValue | EPOLLRDHUP.rawValue) != 0 { hasPeerEnded = true }
        // Not for EPOLLHUP: it also follows two orderly ends, with bytes still unread.
        if mask & EPOLLERR.rawValue != 0 { isBroken = true }
        announce()
    }

    /// Closes the descriptor, which ends its watch too.
    override public func release() {
        Glibc.close(descriptor)
        loop.forget(self)
    }
}
