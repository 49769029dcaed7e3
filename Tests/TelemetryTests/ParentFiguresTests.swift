import Bytes
import IO
import TestSupport
import Testing

@testable import Telemetry

/// The figures of parents, from each loop to what an operator sees.
struct ParentFiguresTests {
    private static let (corp, other) = (
        ParentName("corp", kind: "http", at: "p1:3128"), ParentName("corp", kind: "http", at: "p2:3128")
    )

    @Test func `a parent's figures are the sums over all loops, and it fails where one loop finds it failing`() {
        let board = ParentBoard()
        let loops = [ParentFigures(Self.corp), ParentFigures(Self.corp)]
        for loop in loops {
            board.add(loop)
            loop.addRequest()
            loop.channelRests()
        }
        loops[0].addRefusal()
        #expect(board.states(of: [Self.corp], foundBy: []).first?.failingSince == nil)
        loops[0].failed(.init(at: 5000, "refused"), next: 6000)
        loops[0].failed(.init(at: 6000, "no route"), next: 8000)
        loops[1].failed(.init(at: 5500, "too slow"), next: 6500)
        var expected = ParentState(Self.corp)
        expected.isUsed = true
        (expected.requests, expected.refusals, expected.failures, expected.idle) = (2, 1, 3, 2)
        (expected.failingSince, expected.nextTry) = (5000, 6500)
        expected.lastError = .init(at: 6000, "no route")
        #expect(board.states(of: [Self.corp], foundBy: []) == [expected])
        loops[1].worked()
        #expect(board.states(of: [Self.corp], foundBy: []).first?.nextTry == 8000)
        loops[0].worked()
        (expected.failingSince, expected.nextTry) = (nil, nil)
        #expect(board.states(of: [Self.corp], foundBy: []) == [expected])
    }

    @Test func `a connection is counted until it is closed, and apart while it rests`() async throws {
        try await onLoop { loop in
            let (board, figures) = (ParentBoard(), ParentFigures(Self.corp))
            board.add(figures)
            let (near, far) = try await connectedPair(on: loop)
            figures.opened(near)
            let count = { board.states(of: [Self.corp], foundBy: []).map { [$0.connectionsInUse, $0.idle] } }
            #expect(count() == [[1, 0]])
            near.account?.channelRests()
            #expect(count() == [[0, 1]])
            near.account?.channelIsUsed()
            near.close()
            near.close()
            #expect(count() == [[0, 0]])
            far.close()
        }
    }

    @Test func `the rule file's parents come in its order, used or not, and behind them those that PAC files named`() {
        let board = ParentBoard()
        let found = ParentName("auto", kind: "socks5", at: "p3:1080")
        let figures = [
            ParentFigures(found, isFound: true), ParentFigures(Self.corp),
            ParentFigures(ParentName("gone", kind: "http", at: "p4:1"), isFound: true),
            ParentFigures(ParentName("former", kind: "http", at: "p5:1")),
        ]
        figures.forEach(board.add)
        let states = board.states(of: [Self.other, Self.corp], foundBy: ["auto"])
        #expect(states.map(\.parent) == [Self.other, Self.corp, found])
        #expect(states.map(\.isUsed) == [false, true, true] && states.map(\.isFound) == [false, false, true])
        #expect(board.states(of: [Self.other, Self.corp], foundBy: ["auto"], limit: 1).map(\.parent) == [Self.other])
    }

    @Test func `a parent that its loop has forgotten is gone`() {
        let board = ParentBoard()
        do {
            let figures = ParentFigures(Self.corp)
            board.add(figures)
            #expect(board.states(of: [Self.corp], foundBy: []).first?.isUsed == true)
        }
        #expect(board.states(of: [Self.corp], foundBy: []).first?.isUsed == false)
    }
}
