import Bytes
import Foundation
import IO
import Synchronization
import TestSupport
import Testing

@testable import PAC

/// The life of the worker, played by shell scripts.
struct PACFileTests {
    /// - Parameter script: of the worker, which starts in an empty folder of its own.
    private func file(_ script: String) throws -> PACFile {
        let folder = URL.temporaryDirectory.appending(path: "attache-pac-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let program = folder.appending(path: "worker").path
        // By another process: what this one has open for writing, a child of another test may have for a moment, and
        // such a file is not started.
        let words = [
            "/bin/sh", "-c", "printf %s \"$1\" > \"$0\" && chmod 700 \"$0\"", program,
            "#!/bin/sh\ncd \(folder.path)\n\(script)\n",
        ]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var writer: pid_t = 0
        var status: Int32 = 0
        try #require(posix_spawn(&writer, words[0], nil, nil, &arguments, nil) == 0)
        while waitpid(writer, &status, 0) < 0, errno == EINTR {}
        try #require(status == 0)
        // None of these workers is given up, but between two lines of an asynchronous test all other suites may run.
        return PACFile(path: folder.appending(path: "proxy.pac").path, program: program, limit: .seconds(3600))
    }

    private func ways(
        _ file: PACFile, _ host: String, on loop: EventLoop, for client: PlayedClient? = nil
    ) async -> Result<[PACPath], PACFile.Failure> {
        let client = client ?? PlayedClient(on: loop)
        do throws(PACFile.Failure) {
            return .success(try await file.ways(to: "http", host: host, port: 80, for: client.waiting))
        } catch { return .failure(error) }
    }

    private func ways(_ file: PACFile, _ host: String) async throws -> Result<[PACPath], PACFile.Failure> {
        try await onLoop { loop in await ways(file, host, on: loop) }
    }

    @Test func `a worker that has died is replaced before anybody notices`() async throws {
        let file = try file("echo +; read line && echo '+PROXY a:1'")
        for host in ["a", "b", "c"] {
            #expect(try await ways(file, host) == .success([.proxy(.http, host: "a", port: 1)]))
        }
    }

    @Test func `a question that kills its worker is asked once more, and kills no other`() async throws {
        let file = try file(
            "echo >> started; echo +; while read url host; do [ $host = bad ] && exit; echo '+PROXY a:1'; done")
        #expect(try await ways(file, "a") == .success([.proxy(.http, host: "a", port: 1)]))
        guard case .failure(.unavailable) = try await ways(file, "bad") else {
            Issue.record("an answer from nobody")
            return
        }
        #expect(try await ways(file, "b") == .success([.proxy(.http, host: "a", port: 1)]))
        let folder = URL(filePath: file.path).deletingLastPathComponent()
        #expect(try Data(contentsOf: folder.appending(path: "started")).count == 3)
    }

    @Test func `the rest of an answer that is too long is no answer to the next question`() async throws {
        let file = try file(
            """
            echo +
            while read url host; do
                if [ $host = long ]; then printf '+PROXY evil:1;%060000d\\n' 0; else echo '+PROXY a:1'; fi
            done
            """)
        guard case .failure = try await ways(file, "long") else {
            Issue.record("an answer without end")
            return
        }
        #expect(try await ways(file, "b") == .success([.proxy(.http, host: "a", port: 1)]))
    }

    @Test func `a question that takes its time keeps nobody from asking others`() async throws {
        let file = try file(
            """
            echo +
            while read url host; do
                while [ $host = slow ] && [ ! -e go ]; do sleep 0.05; done
                echo '+PROXY a:1'
            done
            """)
        let way = [PACPath.proxy(.http, host: "a", port: 1)]
        async let slow = ways(file, "slow")
        for host in ["a", "b", "c"] { #expect(try await ways(file, host) == .success(way)) }
        let folder = URL(filePath: file.path).deletingLastPathComponent()
        try Data().write(to: folder.appending(path: "go"))
        #expect(try await slow == .success(way))
    }

    @Test func `a question of a client that has left is not asked, and one too many is refused`() async throws {
        let file = try file(
            """
            echo +
            while read url host; do
                echo $host >> asked
                while [ ! -e go ]; do sleep 0.05; done
                echo '+PROXY a:1'
            done
            """)
        let folder = URL(filePath: file.path).deletingLastPathComponent()
        let asked: @Sendable () -> String = {
            (try? String(contentsOf: folder.appending(path: "asked"), encoding: .utf8)) ?? ""
        }
        let outcome = try await onLoop { loop in
            let ended = Ended()
            let clients = (0..<260).map { _ in PlayedClient(on: loop) }
            for (number, client) in clients.enumerated() {
                loop.spawn {
                    _ = await ways(file, "host\(number)", on: loop, for: client)
                    ended.count.add(1, ordering: .relaxed)
                }
            }
            while asked().split(separator: "\n").count < 4 { await PlayedClient.pause() }
            // Four are asked, 256 wait.
            let late = await ways(file, "late", on: loop)
            for client in clients.dropFirst(4) { client.leave() }
            while ended.count.load(ordering: .relaxed) < 256 { await PlayedClient.pause() }
            try Data().write(to: folder.appending(path: "go"))
            let last = await ways(file, "last", on: loop)
            while ended.count.load(ordering: .relaxed) < 260 { await PlayedClient.pause() }
            return (late, last)
        }
        guard case .failure(.busy(let seconds)) = outcome.0 else {
            Issue.record("one too many was not refused: \(outcome.0)")
            return
        }
        #expect(seconds > 0)
        #expect(outcome.1 == .success([.proxy(.http, host: "a", port: 1)]))
        let hosts = ["host0", "host1", "host2", "host3", "last"]
        #expect(asked().split(separator: "\n").map(String.init).sorted() == hosts)
    }

    private final class Ended: Sendable { let count = Atomic(0) }

    @Test func `a worker that never comes up says why`() async throws {
        #expect(try await ways(file("echo '-!none is here'"), "a") == .failure(.unavailable("none is here")))
        #expect(try await ways(file("echo '-no script'"), "a") == .failure(.broken("no script")))
    }

    @Test func `a long answer ends with a whole way`() {
        let ways = (1...1000).map { "PROXY proxy\($0).example:8080" }.joined(separator: "; ")
        let line = PACWorker.line("+", ways)
        #expect(line.utf8.count <= PACProcess.longestAnswer + 1)
        #expect(line.hasPrefix("+PROXY proxy1.example:8080; ") && line.hasSuffix(".example:8080"))
        #expect(PACWorker.line("+", "PROXY a\n-") == "+PROXY a -")
        #expect(PACWorker.line("+", String(repeating: "x", count: 10_000)) == "-it says too much")
        let marks = "x" + String(repeating: "\u{301}", count: 100_000)
        #expect(PACWorker.line("-", marks).utf8.count <= PACProcess.longestAnswer + 1)
    }
}
