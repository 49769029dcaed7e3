import Bytes
import Synchronization
import Testing

@Suite struct TimeTests {
    @Test func `lengths of time stop at the largest and the smallest number`() {
        let most = Milliseconds.max
        #expect(most + 1 == most)
        #expect(most - -1 == most)
        #expect(Milliseconds(.min) - 1 == Milliseconds(.min))
        #expect(Milliseconds(.min) + -1 == Milliseconds(.min))
        #expect(Milliseconds.seconds(.max) == most)
        #expect(Milliseconds.seconds(.min) == Milliseconds(.min))
        #expect(most * -2 == Milliseconds(.min))
        #expect(Milliseconds.days(.max) == most && Milliseconds.days(.min) == Milliseconds(.min))
        #expect(Milliseconds(1999).seconds == 1)
    }

    @Test func `lengths of time have units`() {
        #expect(Milliseconds.days(2) == .hours(48) && Milliseconds.hours(1) == .minutes(60))
        #expect(Milliseconds.minutes(1) == 60_000)
    }

    @Test func `a duration is a length of time as far as there are numbers`() {
        #expect(Milliseconds(.microseconds(1_999_999)) == 1999)
        #expect(Milliseconds(.zero - .microseconds(1_999_999)) == -1999)
        #expect(Milliseconds(.seconds(Int.max)) == .max && Milliseconds(.seconds(Int.min)) == Milliseconds(.min))
        #expect(Milliseconds(1500).duration == .milliseconds(1500))
    }

    @Test func `times of day stop at the distant future and past`() {
        #expect(WallTime.distantFuture + 1 == .distantFuture)
        #expect(WallTime.distantPast - 1 == .distantPast)
        #expect(WallTime.distantFuture - WallTime(milliseconds: -1) == .max)
        #expect(WallTime(seconds: .max) == .distantFuture)
        #expect(WallTime(seconds: 1_767_225_600) + 1999 == 1_767_225_601_999)
        #expect((WallTime(seconds: 1_767_225_600) + 1999).seconds == 1_767_225_601)
        #expect(WallTime.distantPast - WallTime.distantFuture == Milliseconds(.min))
    }

    @Test func `a time of day is one word, also where threads share it`() {
        #expect(MemoryLayout<WallTime>.size == 8 && MemoryLayout<Milliseconds>.size == 8)
        let shared = Atomic(WallTime.distantPast)
        #expect(shared.exchange(-5, ordering: .relaxed) == .distantPast)
        #expect(shared.load(ordering: .relaxed) == -5)
    }
}
