import CLinux

/// Watches a descriptor that a C library owns. It is level-triggered, since the library may leave bytes unread, and it
/// never closes the descriptor.
public final class DescriptorWatch: DescriptorChannel {
    private let changed: (_ readable: Bool, _ writable: Bool) -> Void

    public init(
        borrowing descriptor: Int32, on loop: EventLoop, read: Bool, write: Bool,
        changed: @escaping (_ readable: Bool, _ writable: Bool) -> Void
    ) throws(IOError) {
        self.changed = changed
        super.init(descriptor: descriptor, on: loop)
        try loop.register(self, events: Self.mask(read: read, write: write))
    }

    public func update(read: Bool, write: Bool) {
        guard condition == .open else { return }
        loop.modify(self, events: Self.mask(read: read, write: write))
    }

    /// Stops watching. Call it before the library closes the descriptor.
    public func stop() {
        guard condition == .open else { return }
        condition = .closed
        loop.unregister(self)
    }

    override func receive(_ mask: UInt32) {
        guard condition == .open else { return }
        let ended = mask & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0
        changed(ended || mask & EPOLLIN.rawValue != 0, ended || mask & EPOLLOUT.rawValue != 0)
    }

    override public func close() { stop() }

    private static func mask(read: Bool, write: Bool) -> UInt32 {
        (read ? EPOLLIN.rawValue : 0) | (write ? EPOLLOUT.rawValue : 0)
    }
}
