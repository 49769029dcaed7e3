import Bytes
import Foundation
import Telemetry
import TestSupport
import Testing

@testable import IO
@testable import Proxy

struct LogStreamTests {
    /// The lines that are counted as dropped after so many were written to a file.
    private static func dropped(_ lines: Int, of length: Int, to path: String) async throws -> Int {
        try await onLoop { loop in
            let metrics = Metrics()
            let log = LogStream(to: LineWriter(try OutputFile(appendingTo: path)))
            let buffer = LineBuffer(on: loop, metrics: metrics)
            buffer.log = log
            let line = String(repeating: "x", count: length - 1) + "\n"
            for _ in 0..<lines { buffer.add(.info) { lines, _ in lines.append(line) } }
            buffer.flush()
            while !log.isIdle { await BlockingPool.shared.run { Pause.take(1) } }
            // What was lost is known with the next lines.
            buffer.add(.info) { lines, _ in lines.append("last\n") }
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

    private static func scratch() -> String {
        FileManager.default.temporaryDirectory.appending(path: "log-\(UUID().uuidString)").path
    }

    @Test func `lines of all loops and events stand in the order of time`() async throws {
        let path = Self.scratch()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let log = LogStream(to: LineWriter(try OutputFile(appendingTo: path)))
        let loops = try (0..<4).map { try EventLoop(index: $0) }
        let rounds = 300
        @Sendable func append(_ time: WallTime, to lines: ByteBuffer) {
            lines.append(decimal: time.milliseconds)
            lines.append(UInt8(ascii: "\n"))
        }
        await withTaskGroup { group in
            for loop in loops {
                group.addTask {
                    await BlockingPool.shared.run {
                        let buffer = LineBuffer(on: loop, metrics: Metrics())
                        buffer.log = log
                        for round in 0..<rounds {
                            for _ in 0...(round % 7) { buffer.add(.info) { append($1, to: $0) } }
                            if round % 5 == loop.index { Pause.take(1) }
                            buffer.flush()
                            if round % 3 == 0 { log.add(.info) { append($1, to: $0) } }
                        }
                    }
                }
            }
        }
        while !log.isIdle { await BlockingPool.shared.run { Pause.take(1) } }
        let times = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").compactMap { Int($0) }
        let lines = (0..<rounds).reduce(0) { $0 + $1 % 7 + 1 + ($1 % 3 == 0 ? 1 : 0) }
        #expect(times.count == lines * loops.count)
        #expect(times == times.sorted())
    }

    @Test func `a line waits for the earlier ones of another loop, and not for one that has none`() async throws {
        let path = Self.scratch()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let unaided = BlockingPool(threads: 1) { _ in false }
        let log = LogStream(to: LineWriter(try OutputFile(appendingTo: path), on: unaided))
        let loops = try (0..<2).map { try EventLoop(index: $0, clock: ManualClock(start: 1)) }
        defer { withExtendedLifetime(loops) {} }
        let buffers = loops.map { LineBuffer(on: $0, metrics: Metrics()) }
        for buffer in buffers { buffer.log = log }
        func written() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
        buffers[0].add(.info) { lines, _ in lines.append("first\n") }
        buffers[0].flush()
        #expect(try written() == "first\n")
        buffers[0].add(.info) { lines, _ in lines.append("second\n") }
        log.add(.info) { lines, _ in lines.append("event\n") }
        #expect(try written() == "first\n")
        buffers[0].flush()
        #expect(try written() == "first\nsecond\nevent\n")
    }
}
