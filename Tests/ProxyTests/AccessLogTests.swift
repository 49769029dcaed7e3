import Bytes
import IO
import Telemetry
import TestSupport
import Testing

@testable import Proxy

struct AccessLogTests {
    /// The lines that are counted as dropped after so many were written to a file.
    private static func dropped(_ lines: Int, of length: Int, to path: String) async throws -> Int {
        try await onLoop { loop in
            let metrics = Metrics()
            let log = AccessLog(to: LineWriter(try OutputFile(appendingTo: path)))
            let buffer = LineBuffer(on: loop, metrics: metrics)
            buffer.log = log
            let line = String(repeating: "x", count: length - 1) + "\n"
            for _ in 0..<lines { buffer.add { $0.append(line) } }
            buffer.flush()
            while !log.isIdle { await BlockingPool.shared.run { Pause.milliseconds(1) } }
            // What was lost is known with the next lines.
            buffer.add { $0.append("last\n") }
            buffer.flush()
            return metrics.value(of: .logLinesDropped)
        }
    }

    @Test func `lines that a full disk does not take are counted`() async throws {
        // The last line may be lost before it is asked how many are.
        #expect(100...101 ~= (try await Self.dropped(100, of: 100, to: "/dev/full")))
    }

    @Test func `lines that are written are not`() async throws {
        #expect(try await Self.dropped(10_000, of: 100, to: "/dev/null") == 0)
    }
}
