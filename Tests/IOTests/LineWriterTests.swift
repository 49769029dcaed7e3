import Bytes
import Foundation
import IO
import Synchronization
import Testing

struct LineWriterTests {
    private final class Changes: Sendable {
        private let list = Mutex<[LineWriter.Change]>([])
        func add(_ change: LineWriter.Change) { list.withLock { $0.append(change) } }
        var all: [LineWriter.Change] { list.withLock { $0 } }
    }

    private func path() -> String {
        FileManager.default.temporaryDirectory.appending(path: "attache-lines-\(UUID().uuidString)").path
    }

    private func write(_ line: String, _ writer: LineWriter, _ losses: LineWriter.Losses) {
        writer.write(Array("\(line)\n".utf8), lines: 1, losses: losses)
    }

    private func drain(_ writer: LineWriter) { while !writer.isIdle { Pause.take(1) } }

    @Test func `a destination that fails is reported once, and once more when it takes lines again`() throws {
        let (path, changes, losses) = (path(), Changes(), LineWriter.Losses())
        defer { unlink(path) }
        let writer = LineWriter(try OutputFile(appendingTo: "/dev/full"), calm: .zero) { changes.add($0) }
        for _ in 1...5 {
            write("lost", writer, losses)
            drain(writer)
        }
        #expect(changes.all == [.failed("no space left on device")])
        #expect(losses.total == 5)
        writer.replace(with: try OutputFile(appendingTo: path))
        for line in ["a", "b"] {
            write(line, writer, losses)
            drain(writer)
        }
        #expect(changes.all == [.failed("no space left on device"), .recovered(lost: 5)])
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "a\nb\n")
        #expect(losses.total == 5)
        #expect(losses.take() == 5 && losses.take() == 0)
    }

    /// A pipe takes 64 KiB before its reader reads. Some lines get through between those that are lost: that counts as
    /// one trouble as long as the test lasts.
    @Test func `a writer to a pipe without a reader does not wait, and learns of the lost lines`() throws {
        let (path, changes, losses) = (path(), Changes(), LineWriter.Losses())
        defer { unlink(path) }
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDWR | O_CLOEXEC)
        let writer = LineWriter(try OutputFile(appendingTo: path), pending: 100_000, calm: .seconds(3600)) {
            changes.add($0)
        }
        let line = String(repeating: "x", count: 999)
        for _ in 1...1000 { write(line, writer, losses) }
        #expect(changes.all == [.overtaxed])
        #expect(losses.total >= 700)
        var (room, received) = ([UInt8](repeating: 0, count: 1 << 16), 0)
        while received < (1000 - losses.total) * 1000 { received += max(0, read(reader, &room, room.count)) }
        close(reader)
        drain(writer)
        #expect(received == (1000 - losses.total) * 1000)
    }

    @Test func `half a line that a full disk has left does not spoil the next`() throws {
        let (path, losses) = (path(), LineWriter.Losses())
        defer { unlink(path) }
        try #require(mkfifo(path, 0o600) == 0)
        // The pipe loses its reader when it is full: half of the line was written.
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let writer = LineWriter(try OutputFile(appendingTo: path), calm: .zero)
        signal(SIGPIPE, SIG_IGN)
        var bytes = Array(String(repeating: "y", count: 100_000).utf8)
        bytes.append(0x0A)
        writer.write(bytes, lines: 1, losses: losses)
        var room = [UInt8](repeating: 0, count: 4096)
        while read(reader, &room, room.count) <= 0 { Pause.take(1) }
        close(reader)
        drain(writer)
        #expect(losses.total == 1)
        let second = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        defer { close(second) }
        while read(second, &room, room.count) > 0 {}
        write("next", writer, losses)
        drain(writer)
        let count = read(second, &room, room.count)
        #expect(String(decoding: room.prefix(max(0, count)), as: UTF8.self) == "\nnext\n")
    }

    @Test func `half a line that an earlier process has left does not spoil the next`() throws {
        let (path, losses) = (path(), LineWriter.Losses())
        defer { unlink(path) }
        for (there, expected) in [("", "next\n"), ("whole\n", "whole\nnext\n"), ("ha", "ha\nnext\n")] {
            try there.write(toFile: path, atomically: false, encoding: .utf8)
            let writer = LineWriter(try OutputFile(appendingTo: path), calm: .zero)
            write("next", writer, losses)
            drain(writer)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == expected)
            // The file is opened again, as on SIGHUP.
            try there.write(toFile: path, atomically: false, encoding: .utf8)
            writer.replace(with: try OutputFile(appendingTo: path))
            write("next", writer, losses)
            drain(writer)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == expected)
        }
    }
}
