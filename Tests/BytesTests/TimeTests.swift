import Bytes
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
        #expect(Milliseconds(1999).seconds == 1)
    }

    @Test func `times of day stop at the distant future and past`() {
        #expect(WallTime.distantFuture + 1 == .distantFuture)
        #expect(WallTime.distantPast - 1 == .distantPast)
        #expect(WallTime.distantFuture - WallTime(milliseconds: -1) == .max)
        #expect(WallTime(seconds: .max) == .distantFuture)
        #expect(WallTime(seconds: 1_767_225_600) + 1999 == 1_767_225_601_999)
        #expect((WallTime(seconds: 1_767_225_600) + 1999).seconds == 1_767_225_601)
    }
}
