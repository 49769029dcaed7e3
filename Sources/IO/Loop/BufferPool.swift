import Bytes

/// The free buffers of one loop. A buffer is taken when bytes arrive and given back before an idle wait.
public final class BufferPool {
    /// The size for a head with the first piece of its body, in bytes.
    public static let regular = 16 * 1024
    /// The size for large bodies, in bytes: fewer, larger system calls.
    public static let large = 64 * 1024

    private var regularFree: [ByteBuffer] = []
    private var largeFree: [ByteBuffer] = []
    private static let keptRegular = 32
    private static let keptLarge = 32

    init() {
        regularFree.reserveCapacity(Self.keptRegular)
        largeFree.reserveCapacity(Self.keptLarge)
    }

    public func take() -> ByteBuffer {
        regularFree.popLast() ?? ByteBuffer(capacity: Self.regular)
    }

    public func takeLarge() -> ByteBuffer {
        largeFree.popLast() ?? ByteBuffer(capacity: Self.large)
    }

    /// Takes the memory of an empty buffer that its owner keeps. Until `refill` it has room for a few bytes.
    public func reclaim(from buffer: ByteBuffer) {
        guard buffer.isEmpty, buffer.capacity >= Self.regular else { return }
        let taken = ByteBuffer(capacity: 0)
        taken.swapContents(with: buffer)
        give(taken)
    }

    /// Gives an empty buffer that was reclaimed its full size again.
    public func refill(_ buffer: ByteBuffer) {
        guard buffer.isEmpty, buffer.capacity < Self.regular else { return }
        buffer.swapContents(with: take())
    }

    /// Returns a buffer to the pool. A buffer that grew beyond its size is freed.
    public func give(_ buffer: ByteBuffer) {
        buffer.clear()
        switch buffer.capacity {
        case Self.regular where regularFree.count < Self.keptRegular: regularFree.append(buffer)
        case Self.large where largeFree.count < Self.keptLarge: largeFree.append(buffer)
        default: break
        }
    }
}
