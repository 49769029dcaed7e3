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
        #expect(ProcessFigures.current.startSeconds == figures.startSeconds)
    }

    /// proc_pid_stat(5) counts ticks from the start of the system, which proc_stat(5) names in seconds.
    @Test func `the start of a process is a date`() throws {
        let system = String(decoding: try SmallFile.read("/proc/stat", limit: 1 << 20), as: UTF8.self)
        let line = try #require(system.split(separator: "\n").first { $0.hasPrefix("btime ") })
        let boot = try #require(Double(line.dropFirst("btime ".count)))
        let own = String(decoding: try SmallFile.read("/proc/self/stat", limit: 4096), as: UTF8.self)
        let fields = own[try #require(own.lastIndex(of: ")"))...].split(separator: " ")
        let ticks = try #require(Double(fields[20]))
        let start = try #require(ProcessFigures.current.startSeconds)
        #expect(abs(start - boot - ticks / Double(sysconf(Int32(_SC_CLK_TCK)))) < 5)
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
