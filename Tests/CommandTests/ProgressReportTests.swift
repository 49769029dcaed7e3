import Foundation
import TestSupport
import Testing

/// The commands that may take a while: their line on a terminal, and their end before all is done.
struct ProgressReportTests {
    private static let terminal = ["TERM=xterm"]
    private static let erasure = "\r\u{1B}[K"

    private func prepared(_ count: Int) throws -> Folder {
        let lines = (0..<count).map { "machine host-\($0) login user-\($0) password secret-\($0)\n" }
        let folder = try Folder(["netrc": lines.joined(), "password": "x\n"])
        for name in ["from", "to"] {
            let path = folder.url.path
            try Data("store sqlite \(path)/\(name).db { key file \(path)/key }\n".utf8).write(
                to: folder.url.appending(path: "\(name).conf"))
        }
        let made = try AttacheProgram.run(
            """
            umask 077; echo \(String(repeating: "1", count: 64)) > key; chmod 600 password
            attache credential set http://h/ first --realm r --password-file password --config to.conf
            """, in: folder)
        try #require(made.status == 0, "\(made)")
        return folder
    }

    private func users(of name: String, in folder: Folder) throws -> Int {
        let list = try AttacheProgram.run("attache credential list --config \(name).conf", in: folder)
        #expect(list.status == 0, "\(list)")
        return list.output.split(separator: "\n").count
    }

    @Test func `on a terminal a line says how far an import and a copy are, and is gone at the end`() throws {
        // A fast machine must not be done before the line is due.
        let folder = try prepared(20_000)
        let path = folder.url.path
        let taking = try TerminalSession(
            ["credential", "import", path + "/netrc", "--config", path + "/from.conf"], variables: Self.terminal)
        #expect(taking.awaits("\(Self.erasure)keeping credentials: …"))
        #expect(taking.awaits(" of 20000 ("))
        #expect(taking.awaits(" %)"))
        let (text, status) = taking.finish()
        #expect(status == 0)
        let end = try #require(text.range(of: Self.erasure, options: .backwards)?.upperBound)
        #expect(text[end...].hasPrefix("kept 20000 credentials: 20000 new\r\n"), "\(text.debugDescription)")

        let copying = try TerminalSession(
            ["store", "migrate", path + "/from.conf", path + "/to.conf", "--replace"], variables: Self.terminal)
        #expect(copying.awaits("\(Self.erasure)copying rows: …"))
        let copied = copying.finish()
        #expect(copied.status == 0)
        #expect(
            copied.text.hasSuffix(
                "\(Self.erasure)copied and read back: 20000 credentials, 0 accounts, "
                    + "0 learned spaces, 0 tokens\r\n"), "\(copied.text.debugDescription)")
    }

    @Test(arguments: ["TERM=dumb", "TERM="])
    func `a terminal that cannot go back in its line gets no such line`(variable: String) throws {
        let folder = try prepared(5)
        let path = folder.url.path
        let session = try TerminalSession(
            ["credential", "import", path + "/netrc", "--config", path + "/from.conf"], variables: [variable])
        let (text, status) = session.finish()
        #expect(status == 0)
        #expect(text.hasPrefix("kept 5 credentials: 5 new\r\n"), "\(text.debugDescription)")
    }

    @Test func `a pipe gets no such line`() throws {
        let folder = try prepared(5)
        let run = try AttacheProgram.run(
            """
            export TERM=xterm
            attache credential import netrc --config from.conf
            attache store migrate from.conf to.conf --replace
            """, in: folder)
        #expect(run.status == 0)
        #expect(!(run.output + run.errorOutput).contains("\u{1B}"), "\(run)")
        #expect(!run.errorOutput.contains("keeping") && !run.errorOutput.contains("copying"), "\(run)")
        #expect(run.output.hasPrefix("kept 5 credentials: 5 new\ncopied and read back: 5 "), "\(run)")
    }

    /// Each waits for another process, which is about to write to the store.
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `an import that is stopped has kept nothing, and the same command does all of it`(signal: Int32) throws {
        let folder = try prepared(3)
        let path = folder.url.path
        let first = try AttacheProgram.run(
            "attache credential set http://h/ first --realm r --password-file password --config from.conf", in: folder)
        #expect(first.status == 0, "\(first)")
        let writer = try Writer(to: path + "/from.db")
        let session = try TerminalSession(
            ["credential", "import", path + "/netrc", "--config", path + "/from.conf"], variables: Self.terminal)
        #expect(session.awaits("keeping credentials: …"))
        session.send(signal)
        #expect(session.awaitsDelivery(of: signal))
        writer.end()
        let (text, status) = session.finish()
        #expect(status == 128 + signal)
        #expect(
            text.contains(
                "\(Self.erasure)attache: stopped: nothing of \(path)/netrc was stored; run the command again\r\n"),
            "\(text.debugDescription)")
        #expect(try users(of: "from", in: folder) == 1)
        let again = try AttacheProgram.run("attache credential import netrc --config from.conf", in: folder)
        #expect(again.output == "kept 3 credentials: 3 new\n", "\(again)")
        let more = try AttacheProgram.run("attache credential import netrc --config from.conf", in: folder)
        #expect(more.output == "kept 3 credentials: 3 as before\n", "\(more)")
        #expect(try users(of: "from", in: folder) == 4)
    }

    @Test func `a copy that is stopped leaves the destination as it was`() throws {
        let folder = try prepared(3)
        let path = folder.url.path
        let taken = try AttacheProgram.run("attache credential import netrc --config from.conf", in: folder)
        #expect(taken.status == 0, "\(taken)")
        let writer = try Writer(to: path + "/to.db")
        let arguments = ["store", "migrate", path + "/from.conf", path + "/to.conf", "--replace"]
        let session = try TerminalSession(arguments, variables: Self.terminal)
        #expect(session.awaits("copying rows: …"))
        session.send(SIGINT)
        #expect(session.awaitsDelivery(of: SIGINT))
        writer.end()
        let (text, status) = session.finish()
        #expect(status == 130)
        #expect(
            text.hasSuffix(
                "\(Self.erasure)attache: stopped: the destination is unchanged; run the command again\r\n"),
            "\(text.debugDescription)")
        #expect(try users(of: "to", in: folder) == 1)
        let again = try AttacheProgram.run("attache store migrate from.conf to.conf --replace", in: folder)
        #expect(again.output.hasPrefix("copied and read back: 3 credentials,"), "\(again)")
    }

    @Test func `a second signal ends the program at once`() throws {
        let folder = try prepared(3)
        let path = folder.url.path
        let writer = try Writer(to: path + "/to.db")
        defer { writer.end() }
        let session = try TerminalSession(
            ["credential", "import", path + "/netrc", "--config", path + "/to.conf"], variables: Self.terminal)
        #expect(session.awaits("keeping credentials: …"))
        session.send(SIGTERM)
        #expect(session.awaitsDelivery(of: SIGTERM))
        session.send(SIGTERM)
        let (text, status) = session.finish()
        #expect(status == 128 + SIGTERM)
        #expect(!text.contains("stopped"), "\(text.debugDescription)")
    }

    @Test func `a reading of a log that is stopped reports what it has read`() throws {
        let folder = try prepared(0)
        let path = folder.url.path
        try #require(mkfifo(path + "/log", 0o600) == 0)
        let session = try TerminalSession(
            ["replay", path + "/log", path + "/from.conf"], variables: Self.terminal)
        let log = open(path + "/log", O_WRONLY | O_CLOEXEC)
        defer { close(log) }
        let line = String(repeating: "{}\n", count: 700)
        #expect(write(log, line, line.utf8.count) == line.utf8.count)
        #expect(session.awaits("reading the log: 2 KiB"))
        session.interrupt()
        let (text, status) = session.finish()
        #expect(status == 130)
        #expect(
            text.hasSuffix(
                "\(Self.erasure)0 challenges; 0 would get another answer\r\n"
                    + "attache: stopped: the rest of the log was not read\r\n"), "\(text.debugDescription)")
    }
}

/// A process that writes to a store's file until it is stopped.
private final class Writer {
    private let process = ChildProcess()
    private let input = Pipe()

    init(to path: String) throws {
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/sqlite3")
        process.arguments = [path]
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        try input.fileHandleForWriting.write(contentsOf: Data("BEGIN IMMEDIATE;\n.print begun\n".utf8))
        let said = try output.fileHandleForReading.read(upToCount: 5)
        try #require(said == Data("begun".utf8))
    }

    func end() {
        // Not its end alone: a child of another test may have inherited the pipe.
        try? input.fileHandleForWriting.write(contentsOf: Data("ROLLBACK;\n.quit\n".utf8))
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
