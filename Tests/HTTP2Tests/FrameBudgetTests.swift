import Testing

@testable import HTTP2

struct FrameBudgetTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `a budget is exhausted, and refills with time`() {
        var budget = FrameBudget(3, perSecond: 2)
        let first = (0..<4).map { _ in budget.take(at: Self.second) }
        #expect(first == [true, true, true, false])
        let later = (0..<3).map { _ in budget.take(at: 2 * Self.second) }
        #expect(later == [true, true, false])
        let muchLater = (0..<4).map { _ in budget.take(at: 2_000 * Self.second) }
        #expect(muchLater == [true, true, true, false])
        budget.give(1)
        let given = (0..<2).map { _ in budget.take(at: 0) }
        #expect(given == [true, false])
    }
}
