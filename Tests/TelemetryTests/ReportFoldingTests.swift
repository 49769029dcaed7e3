import Telemetry
import Testing

struct ReportFoldingTests {
    private let start = ContinuousClock.now

    @Test func `a sentence is said once, and how often it was repeated at the end of the period`() {
        var folding = ReportFolding(period: .seconds(10))
        #expect(folding.add("a", at: start) == ["a"])
        #expect(folding.add("b", at: start + .seconds(1)) == ["b"])
        for second in 2...9 { #expect(folding.add("a", at: start + .seconds(second)) == []) }
        #expect(folding.due(at: start + .seconds(9)) == [])
        #expect(folding.due(at: start + .seconds(10)) == ["a (said 8 more times)"])
        #expect(folding.due(at: start + .seconds(100)) == [])
        #expect(folding.add("a", at: start + .seconds(101)) == ["a"])
    }

    @Test func `nothing is held back at the end`() {
        var folding = ReportFolding(period: .seconds(10))
        for _ in 1...2 { _ = folding.add("a", at: start) }
        _ = folding.add("b", at: start)
        #expect(folding.finish() == ["a (said once more)"])
        #expect(folding.finish() == [])
    }

    @Test func `a repetition after the period is said with what was held back`() {
        var folding = ReportFolding(period: .seconds(10))
        for _ in 1...3 { _ = folding.add("a", at: start) }
        #expect(folding.add("a", at: start + .seconds(11)) == ["a (said 2 more times)", "a"])
    }

    @Test func `sentences that are all different are all said`() {
        var folding = ReportFolding(period: .seconds(10))
        for number in 0..<1000 { #expect(folding.add("\(number)", at: start) == ["\(number)"]) }
        #expect(folding.finish() == [])
    }
}
