import Bytes
import Testing

@testable import IO

@Suite struct LoopInstantTests {
    @Test(arguments: [Milliseconds(.min), -1, 0])
    func `a length below zero does not lead back`(length: Milliseconds) {
        let start = LoopInstant.zero + 5
        #expect(start + length == start)
    }

    @Test func `the longest length leads to a time after all that a loop has`() {
        let now = LoopInstant.ofSystem
        #expect(now + .max > now + .seconds(86_400 * 365 * 200))
        #expect(now + .max < .distantFuture)
    }

    /// A loop that waits for less than the rest would wake before its deadline, and wait again for nothing.
    @Test func `the time until an instant is rounded up, the time since one down`() {
        let (start, end) = (LoopInstant(nanoseconds: 1_500_001), LoopInstant(nanoseconds: 3_500_000))
        #expect(start.time(until: end) == 2)
        #expect(end.time(since: start) == 1)
        #expect(end.time(until: start) == 0)
        #expect(end.nanoseconds(since: start) == 1_999_999)
    }
}
