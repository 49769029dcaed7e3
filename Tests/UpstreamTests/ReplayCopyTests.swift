import Bytes
import Testing

@testable import Upstream

struct ReplayCopyTests {
    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

    private static func room(_ memory: Int, _ disk: Int, total: Int = 1 << 30, in spool: ReplaySpool) -> ReplayRoom {
        ReplayRoom(memory: memory, disk: disk, free: memory, total: total, spool: spool)
    }

    /// A copy of as many bytes, added in pieces.
    private static func copy(_ count: Int, memory: Int, disk: Int, pieces: Int = 100) async -> ReplayCopy {
        let copy = ReplayCopy(in: room(memory, disk, in: ReplaySpool()))
        let buffer = ByteBuffer(capacity: count + 10)
        buffer.append(bytes(count))
        // What is behind the body must stay out of it.
        buffer.append("next" as StaticString)
        while buffer.count > 4 {
            let piece = min(pieces, buffer.count - 4)
            await copy.add(buffer, count: piece)
            buffer.consume(piece)
        }
        return copy
    }

    private static func readBack(_ copy: ReplayCopy, room: Int) async -> [UInt8] {
        var all: [UInt8] = []
        let buffer = ByteBuffer(capacity: room)
        while let count = await copy.read(from: all.count, into: buffer) {
            #expect(count == buffer.count)
            all += buffer.readable.array
            buffer.clear()
        }
        return all
    }

    @Test(arguments: [(0, 0), (1, 1), (1000, 0), (1000, 500), (200, 2000)])
    func `a copy within the limits is read back as it came`(memory: Int, disk: Int) async {
        let count = min(1000, memory + disk)
        let copy = await Self.copy(count, memory: memory, disk: disk)
        #expect(copy.isWhole)
        #expect(copy.count == count)
        #expect(await Self.readBack(copy, room: 64) == Self.bytes(count))
    }

    @Test(arguments: [(0, 0), (999, 0), (0, 999), (500, 499)])
    func `one byte more and the copy is given up`(memory: Int, disk: Int) async {
        let copy = await Self.copy(memory + disk + 1, memory: memory, disk: disk)
        #expect(!copy.isWhole)
        #expect(copy.count == 0)
        #expect(await copy.read(from: 0, into: ByteBuffer(capacity: 64)) == nil)
    }

    @Test func `all copies together have no more than the total, and give back what they had`() async {
        let spool = ReplaySpool()
        let room = Self.room(10, 100, total: 150, in: spool)
        let first = ReplayCopy(in: room)
        #expect(first.makeRoom(for: 110))
        do {
            let second = ReplayCopy(in: room)
            #expect(second.makeRoom(for: 60))
            #expect(!second.makeRoom(for: 61))
            #expect(second.wasCrowdedOut)
            #expect(second.isWhole)
            // Memory is not shared.
            #expect(ReplayCopy(in: room).makeRoom(for: 10))
            #expect(!ReplayCopy(in: room).makeRoom(for: 11))
        }
        #expect(ReplayCopy(in: room).makeRoom(for: 60))
        let buffer = ByteBuffer(capacity: 200)
        buffer.append(Self.bytes(120))
        // More than one may have: it is given up, and what it had is there for others.
        await first.add(buffer, count: 120)
        #expect(!first.isWhole)
        #expect(spool.take(150, of: 150))
        #expect(!spool.take(1, of: 150))
    }
}
