import Bytes
import Telemetry
import Testing

struct LineMergingTests {
    /// A batch whose lines are their times, and the letter of the source.
    private static func batch(_ times: [Int], of letter: String) -> LineMerging.Batch {
        var bytes: [UInt8] = []
        let lines = times.map { time -> LineMerging.Batch.Line in
            bytes += Array("\(time)\(letter) ".utf8)
            return (WallTime(milliseconds: time), bytes.count)
        }
        return LineMerging.Batch(bytes, lines)
    }

    private static func text(_ batch: LineMerging.Batch) -> String {
        #expect(batch.bytes.count { $0 == 0x20 } == batch.count)
        return String(decoding: batch.bytes, as: UTF8.self)
    }

    @Test func `lines of several sources are put in the order of time`() {
        var merging = LineMerging()
        merging.add(Self.batch([1, 2, 2, 9], of: "a"), of: 0)
        merging.add(Self.batch([2, 3], of: "b"), of: 1)
        merging.add(Self.batch([5], of: "b"), of: 1)
        merging.add(Self.batch([1, 9], of: "c"), of: 2)
        #expect(Self.text(merging.take(before: 5)) == "1a 1c 2a 2a 2b 3b ")
        #expect(Self.text(merging.take(before: 5)) == "")
        #expect(Self.text(merging.take(before: .distantFuture)) == "5b 9a 9c ")
        #expect(merging.size == 0)
    }

    @Test func `the lines of one source pass as they are, up to a time`() {
        var merging = LineMerging()
        merging.add(Self.batch([3, 1, 4], of: "a"), of: 7)
        #expect(Self.text(merging.take(before: 4)) == "3a 1a ")
        #expect(Self.text(merging.take(before: 5)) == "4a ")
        merging.add(Self.batch([], of: "a"), of: 7)
        #expect(merging.size == 0 && merging.take(before: .distantFuture).count == 0)
    }

    @Test func `whatever comes in whatever pieces goes out once, in order`() {
        for _ in 0..<300 {
            var merging = LineMerging()
            var clocks = [0, 0, 0]
            var (added, taken) = (0, [Int]())
            for _ in 0..<Int.random(in: 1...20) {
                let source = Int.random(in: 0...2)
                let times = (0..<Int.random(in: 0...5)).map { _ in
                    clocks[source] += Int.random(in: 0...3)
                    return clocks[source]
                }
                added += times.count
                merging.add(Self.batch(times, of: "\(source)."), of: source)
                // No source will have an earlier line than its last.
                let batch = Self.text(merging.take(before: WallTime(milliseconds: clocks.min() ?? 0)))
                taken += batch.split(separator: " ").compactMap { Int($0.dropLast(2)) }
            }
            taken += Self.text(merging.take(before: .distantFuture)).split(separator: " ").compactMap {
                Int($0.dropLast(2))
            }
            #expect(taken.count == added && taken == taken.sorted() && merging.size == 0)
        }
    }
}
