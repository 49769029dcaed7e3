import Foundation
import Glibc
import TestSupport
import Testing

@testable import IO

/// The programs that the proxy runs for a moment.
@Suite struct HelperProgramTests {
    private static func script(_ text: String, mode: mode_t = 0o700) throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/helper-\(UUID().uuidString)"
        try ScriptFile.write(text, to: path, mode: mode)
        return path
    }

    private static func run(
        _ words: [String], environment: [String] = [], input: String = "", within limit: Duration = .seconds(30)
    ) throws(HelperProgram.Failure) -> String {
        var limits = HelperProgram.Limits(time: limit)
        limits.grace = .milliseconds(100)
        let program = try HelperProgram(words, environment: environment)
        return String(decoding: try program.run(input: Array(input.utf8), within: limits), as: UTF8.self)
    }

    private static func failure(_ text: String, within limit: Duration = .seconds(30)) throws -> HelperProgram.Failure?
    {
        let path = try script(text)
        defer { unlink(path) }
        do throws(HelperProgram.Failure) {
            _ = try run([path], within: limit)
            return nil
        } catch { return error }
    }

    @Test func `a program gets its input and its arguments, which no shell reads`() throws {
        #expect(try Self.run(["cat"], input: "protocol=https\n\n") == "protocol=https\n\n")
        #expect(try Self.run(["echo", "~", "$HOME", "`id`", "a  b"]) == "~ $HOME `id` a  b\n")
    }

    @Test func `it gets no variables but those that are named, and no descriptors but three`() throws {
        #expect(try Self.run(["env"], environment: ["LANG=C.UTF-8"]) == "LANG=C.UTF-8\n")
        // The fourth is the one by which the folder is read.
        let open = try Self.run(["ls", "/proc/self/fd"]).split(separator: "\n").map(String.init)
        #expect(open == ["0", "1", "2", "3"])
    }

    @Test func `it has a session of its own, a small limit of descriptors, and makes no core file`() throws {
        let own = try Self.run(["sh", "-c", "ps -o sid= -p $$; echo $$"]).split(whereSeparator: \.isWhitespace)
        #expect(own.count == 2 && own[0] == own[1])
        #expect(try Self.run(["sh", "-c", "ulimit -n; ulimit -c"]) == "1024\n0\n")
    }

    @Test func `a failure has the status and the first printable line of the errors`() throws {
        #expect(
            try Self.failure("#!/bin/sh\nprintf '\\033\\n\\033[1mno entry\\n' >&2; echo secret; exit 3\n")
                == .failed(status: 3, "[1mno entry"))
        let killed = try Self.failure("#!/bin/sh\nkill -9 $$\n")
        #expect(killed == .killed(signal: SIGKILL, ""))
    }

    @Test func `a program that hangs is ended, with all that it has started`() throws {
        let mark = "/tmp/helper-\(UUID().uuidString)"
        let limit = Duration.milliseconds(300)
        let text =
            "#!/bin/sh\ntrap '' TERM\n(trap '' TERM; exec -a \(mark) tail -f /dev/null) &\necho $! >\(mark)\ntail -f /dev/null\n"
        #expect(try Self.failure(text.replacing("#!/bin/sh", with: "#!/bin/bash"), within: limit) == .timedOut(limit))
        let child = try #require(pid_t(try String(contentsOfFile: mark, encoding: .utf8).prefix { $0 != "\n" }))
        unlink(mark)
        #expect(Wait.until { Self.hasEnded(child) })
    }

    /// Whether the process is gone, or waits for its new parent to notice.
    private static func hasEnded(_ process: pid_t) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
        return status.contains(") Z ")
    }

    @Test func `a child that stays behind holds nothing up, and ends`() throws {
        let mark = "/tmp/helper-\(UUID().uuidString)"
        let path = try Self.script("#!/bin/sh\ntail -f /dev/null &\necho $! >\(mark)\necho done\n")
        defer { unlink(path) }
        #expect(try Self.run([path]) == "done\n")
        let child = try #require(pid_t(try String(contentsOfFile: mark, encoding: .utf8).prefix { $0 != "\n" }))
        unlink(mark)
        #expect(Wait.until { Self.hasEnded(child) })
    }

    @Test func `a program that prints without end is ended, whatever it prints to`() throws {
        #expect(try Self.failure("#!/bin/sh\nexec yes\n") == .tooMuch(64 << 10))
        #expect(try Self.failure("#!/bin/sh\nyes | head -c 1000000 >&2; exit 1\n") == .failed(status: 1, "y"))
    }

    @Test func `output up to the limit is whole`() throws {
        let count = 64 << 10
        #expect(try Self.run(["head", "-c", "\(count)", "/dev/zero"]).utf8.count == count)
        #expect(throws: HelperProgram.Failure.tooMuch(count)) {
            try Self.run(["head", "-c", "\(count + 1)", "/dev/zero"])
        }
    }

    @Test func `a file that is no program, or that others can write, is not started`() throws {
        #expect(try Self.failure("echo no shell reads this\n") == .notAProgram)
        let open = try Self.script("#!/bin/sh\necho x\n", mode: 0o722)
        defer { unlink(open) }
        #expect(throws: HelperProgram.Failure.writable(0o722)) { try Self.run([open]) }
        chmod(open, 0o600)
        #expect(throws: HelperProgram.Failure.self) {
            try HelperProgram([open], environment: []).run(input: [], within: .init(time: .seconds(1)))
        }
        #expect(throws: HelperProgram.Failure.notFound("no-such-helper")) { try Self.run(["no-such-helper"]) }
        #expect(throws: HelperProgram.Failure.notFound("./cat")) { try Self.run(["./cat"]) }
        #expect(throws: HelperProgram.Failure.notAProgram) { try Self.run(["/usr/bin"]) }
        if geteuid() == 0 {
            let foreign = try Self.script("#!/bin/sh\necho x\n", mode: 0o755)
            defer { unlink(foreign) }
            chown(foreign, 65_534, 65_534)
            #expect(throws: HelperProgram.Failure.foreignOwner(65_534)) { try Self.run([foreign]) }
        }
    }

    @Test func `a thousand runs leave no process and no descriptor`() throws {
        let own = getpid()
        // Other tests of this process have children and descriptors of their own: a helper's are known by their kind.
        let before = try Self.descriptors()
        for _ in 0..<1000 { _ = try Self.run(["true"]) }
        let left = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
            guard let status = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8) else { return false }
            return status.contains("(true)") && status.contains(") Z \(own) ")
        }
        #expect(left.isEmpty)
        for (kind, count) in try Self.descriptors() { #expect(count < before[kind, default: 0] + 500, "\(kind)") }
    }

    /// The number of this process's descriptors of each kind that a run opens.
    private static func descriptors() throws -> [String: Int] {
        let targets = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { number in
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
        }
        let kinds = ["memfd:input", "pipe:", "pidfd"]
        return Dictionary(uniqueKeysWithValues: kinds.map { kind in (kind, targets.count { $0.contains(kind) }) })
    }
}
