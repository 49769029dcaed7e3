import Glibc
import TLS

/// One end of two byte queues in memory, with a kernel's habits: short reads, refused writes, an end.
final class MemoryTransport: RecordTransport {
    private final class Queue {
        var bytes: [UInt8] = []
        var hasEnded = false
    }

    private let incoming: Queue
    private let outgoing: Queue
    /// Bytes that one read brings at most.
    var readLimit = Int.max
    /// Bytes that may lie in the queue to the other side.
    var capacity = Int.max
    /// Whether writes fail from now on.
    var isBroken = false
    /// The place in what is written of the one byte that arrives changed, and how.
    var spoils: Int?
    var mask: UInt8 = 0
    private(set) var reads = 0
    private(set) var sent: [UInt8] = []

    private init(incoming: Queue, outgoing: Queue) {
        self.incoming = incoming
        self.outgoing = outgoing
    }

    static func pair() -> (MemoryTransport, MemoryTransport) {
        let (there, back) = (Queue(), Queue())
        return (MemoryTransport(incoming: back, outgoing: there), MemoryTransport(incoming: there, outgoing: back))
    }

    /// The number of bytes that the other side has not read yet.
    var unread: Int { outgoing.bytes.count }

    func end() { outgoing.hasEnded = true }

    /// Takes what has come without looking at it.
    func takeAll() -> [UInt8] {
        defer { incoming.bytes.removeAll() }
        return incoming.bytes
    }

    var isReadable: Bool { !incoming.bytes.isEmpty || incoming.hasEnded }

    func read(into room: inout MutableRawSpan) -> RecordTransfer {
        reads += 1
        let count = min(readLimit, room.byteCount, incoming.bytes.count)
        if count == 0 { return incoming.hasEnded ? .endOfStream : .wouldBlock }
        for place in 0..<count { room.storeBytes(of: incoming.bytes[place], toByteOffset: place, as: UInt8.self) }
        incoming.bytes.removeFirst(count)
        return .moved(count)
    }

    func write(_ bytes: RawSpan) -> RecordTransfer {
        if isBroken { return .failed(errno: EPIPE) }
        let count = min(capacity - outgoing.bytes.count, bytes.byteCount)
        if count <= 0 { return .wouldBlock }
        for place in 0..<count {
            var byte = bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self)
            if sent.count == spoils { byte ^= mask }
            outgoing.bytes.append(byte)
            sent.append(byte)
        }
        return .moved(count)
    }
}
