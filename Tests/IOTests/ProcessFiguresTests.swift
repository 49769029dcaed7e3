import Bytes
import Glibc
import IO
import Synchronization
import TestSupport
import Testing

struct ProcessFiguresTests {
    @Test func `the system tells all of a process`() throws {
        let figures = ProcessFigures.current
        #expect(try #require(figures.processorSeconds) > 0)
        #expect(try #require(figures.openDescriptors) > 2)
        #expect(try #require(figures.residentBytes) > 1 << 20)
        #expect(try #require(figures.virtualBytes) > figures.residentBytes ?? 0)
        #expect(try #require(figures.startSeconds) > 1_700_000_000)
        #expect(ProcessFigures.current.startSeconds == figures.startSeconds)
    }

    @Test func `a descriptor more is one more`() throws {
        // Others of the run may open and close theirs meanwhile.
        let isCounted = (0..<100).contains { _ in
            let before = ProcessFigures.current.openDescriptors ?? 0
            let descriptor = dup(0)
            defer { close(descriptor) }
            return ProcessFigures.current.openDescriptors == before + 1
        }
        #expect(isCounted)
    }

    @Test func `a loop that is kept from its events says for how long`() throws {
        let loop = try EventLoop(index: 0)
        loop.start()
        let gate = Mutex(false)
        loop.submit {
            Pause.take(20)
            // In the turn behind it.
            loop.submit { gate.withLock { $0 = true } }
        }
        while !gate.withLock({ $0 }) { Pause.take(1) }
        let lag = loop.lag.durations
        #expect(lag.nanoseconds >= 19_000_000)
        #expect(lag.counts.dropFirst(4).reduce(0, +) >= 1)
    }
}
