import Foundation
import Testing

/// The log of a proxy that a person runs at a terminal.
struct ConsoleLogTests {
    private static let rules = "listen 127.0.0.1:0\nclients { allow 127.0.0.0/8 }\n"

    /// Has a proxy on a terminal refuse a request.
    /// - Returns: the lines about the start, the request and the end.
    private func session(_ rules: String, _ variables: [String] = []) throws -> [String] {
        let folder = try Folder([:])
        let path = folder.url.appending(path: "proxy.conf").path
        let state = folder.url.appending(path: "state").path
        try "\(rules)state \"\(state)\"\n".write(toFile: path, atomically: false, encoding: .utf8)
        let session = try TerminalSession(
            ["run", "--config", path], variables: variables + ["TERM=xterm", "NO_COLOR="])
        let started = try #require(session.line(with: "listening on 127.0.0.1:"))
        let port = try #require(started.firstMatch(of: #/listening on 127\.0\.0\.1:(\d+)/#)?.output.1)
        let answer = try AttacheProgram.run(
            "curl -q -s -o /dev/null -w '%{http_code}' -x http://127.0.0.1:\(port) http://127.0.0.1:1/x", in: folder)
        #expect(answer.output == "403", "\(answer)")
        let request = try #require(session.line(with: "GET"))
        session.interrupt()
        let stopped = try #require(session.line(with: "stopped"))
        #expect(session.finish().status == 0)
        return [started, request, stopped]
    }

    @Test func `where the rule file says nothing of a log, a terminal shows it in colours, and nothing twice`() throws {
        let lines = try session(Self.rules)
        let time = #/\u{1b}\[2m\d\d:\d\d:\d\dZ\u{1b}\[0m /#
        for line in lines { #expect(line.prefixMatch(of: time) != nil, "\(line.debugDescription)") }
        #expect(lines[0].replacing(time, with: "").hasPrefix("listening on 127.0.0.1:"))
        #expect(
            lines[1].replacing(time, with: "").wholeMatch(
                of: #/\u{1b}\[33m403\u{1b}\[0m GET http:\/\/127\.0\.0\.1:1\/x \d+ ms \u{1b}\[33m\w+\u{1b}\[0m: .*/#)
                != nil,
            "\(lines[1].debugDescription)")
        #expect(lines[2].replacing(time, with: "") == "stopped")
    }

    @Test(arguments: ["NO_COLOR=1", "TERM=dumb"])
    func `who wants no colours gets none`(variable: String) throws {
        for line in try session(Self.rules, [variable]) {
            #expect(!line.contains("\u{1b}") && line.prefixMatch(of: #/\d\d:\d\d:\d\dZ /#) != nil, "\(line)")
        }
    }

    @Test func `a log that is said to be JSON is JSON on a terminal, too`() throws {
        let lines = try session(Self.rules + "log json stdout\n")
        #expect(lines[0].hasPrefix(#"{"time":""#) && lines[0].contains(#""event":"proxy.started""#), "\(lines[0])")
        #expect(lines[1].contains(#""method":"GET""#))
    }
}
