import Bytes
import Glibc
import IO
import TestSupport
import Testing

@Suite struct BlockTests {
    /// 16 blocks of five pages stay with the thread.
    func `a loop that needed many buffers at once gives their pages back`() async throws {
        let (used, left) = try await onLoop { _ in
            var buffers = (0..<200).map { _ in ByteBuffer(capacity: BufferPool.regular) }
            for buffer in buffers { buffer.append([UInt8](repeating: 1, count: BufferPool.regular)) }
            let places = buffers.map { buffer in
                var place = UInt(0)
                _ = buffer.withReadable { bytes in
                    place = UInt(bitPattern: bytes.baseAddress)
                    return 0
                }
                return place
            }
            let used = places.count { Self.isResident($0) }
            buffers = []
            return (used, places.count { Self.isResident($0) })
        }
        #expect(used == 200)
        #expect(left <= 16, "\(left)")
    }

    @Test func `bytes stay as a buffer grows into a block and out of it, and are freed by another thread`() async throws
    {
        let buffer = try await onLoop { _ in
            let buffer = ByteBuffer(capacity: 64)
            for count in 0..<60_000 { buffer.append(UInt8(truncatingIfNeeded: count)) }
            let small = ByteBuffer(capacity: BufferPool.regular)
            small.append([1, 2, 3])
            small.shrink()
            #expect(small.capacity == 64)
            let kept = small.readable.array
            #expect(kept == [1, 2, 3])
            small.append([UInt8](repeating: 4, count: 20_000))
            #expect(small.count == 20_003)
            // More than a thread keeps: other threads give some back.
            return Unshared((0..<40).map { _ in ByteBuffer(capacity: BufferPool.regular) } + [buffer])
        }
        let last = buffer.value[buffer.value.count - 1]
        let bytes = last.readable.array
        #expect(bytes == (0..<60_000).map { UInt8(truncatingIfNeeded: $0) })
    }

    /// Passed on by the one that made it.
    private struct Unshared: @unchecked Sendable {
        let value: [ByteBuffer]
        init(_ value: [ByteBuffer]) { self.value = value }
    }

    private static func isResident(_ place: UInt) -> Bool {
        let size = UInt(sysconf(Int32(_SC_PAGESIZE)))
        var state: UInt8 = 0
        let page = UnsafeMutableRawPointer(bitPattern: place / size * size)
        return mincore(page, 1, &state) == 0 && state & 1 == 1
    }
}

@Suite struct HeapTrimTests {
    /// Small ones, between which some stay.
    @Test func `what was needed at once and is free again is given back, once`() {
        // The other tests of the process use memory, too.
        var trim = HeapTrim(share: 10_000)
        trim.run()
        var buffers = (0..<40_000).map { _ in ByteBuffer(capacity: 2000) }
        // They may have taken memory that was free before.
        trim.run()
        for buffer in buffers { buffer.append([UInt8](repeating: 1, count: 2000)) }
        buffers = buffers.enumerated().filter { $0.offset % 100 == 0 }.map(\.element)
        #expect(buffers.count == 400)
        let hasTrimmed = trim.run()
        #expect(hasTrimmed)
        let areWhole = buffers.allSatisfy { buffer in buffer.readable.array == [UInt8](repeating: 1, count: 2000) }
        #expect(areWhole)
    }
}
