import Foundation
import TestSupport
import Testing

/// The formats of other programs, beside what those programs write of the same requests.
struct LogFormatTests {
    private static func lines(of path: String, containing mark: String, atLeast count: Int) -> [String] {
        var found: [String] = []
        _ = Wait.until {
            found = Scratch.read(path).split(separator: "\n").map(String.init).filter { $0.contains(mark) }
            return found.count >= count
        }
        return found
    }

    private static func withoutTime(_ line: String) -> String {
        line.replacing(#/\[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\]/#, with: "[TIME]")
    }

    @Test func `combined is what Apache writes of the same requests`() throws {
        let apache = try ApacheServer.shared()
        let mark = UUID().uuidString
        let url = apache.url("/open/?\(mark)")
        let starts = [
            "GET \(url)&%22\"\\ HTTP/1.1", "HEAD \(url) HTTP/1.0", "GET \(apache.url("/none/?\(mark)")) HTTP/1.1",
        ]
        let fields = [
            "Referer: http://a/\"b\\c\r\nUser-Agent: \"q\"\té \u{9b}2J\u{202E}\r\n",
            "Referer: one\r\nReferer: two\r\nUser-Agent: \r\n", "",
        ]
        try AttacheProcess.running(setting: .init(log: "combined file @/access.log")) { proxy throws in
            for (start, fields) in zip(starts, fields) {
                let request = "\(start)\r\nHost: 127.0.0.1:\(apache.port)\r\n\(fields)Connection: close\r\n\r\n"
                let method = String(start.prefix { $0 != " " })
                let wire = try Wire(to: apache.port)
                try wire.send(request)
                _ = try wire.readResponse(to: method)
                _ = try proxy.exchange(request, method: method)
            }
            let ours = Self.lines(of: proxy.folder + "/access.log", containing: mark, atLeast: starts.count)
            // Apache has a second line of each, for the request that came through the proxy, with a path.
            let theirs = Self.lines(of: apache.folder + "/combined.log", containing: mark, atLeast: starts.count * 2)
                .filter { $0.contains("http://127.0.0.1:") }
            #expect(ours.count == starts.count)
            #expect(Set(ours.map(Self.withoutTime)) == Set(theirs.map(Self.withoutTime)))
            #expect(ours.allSatisfy { Self.withoutTime($0).contains("[TIME]") })
        }
    }

    @Test func `squid is what squid writes of the same requests`() throws {
        let squid = try SquidServer.shared(.nothing)
        let origin = try RecordingOrigin { connection throws in
            while let request = try connection.request() {
                let fields = request.startLine.contains("typed") ? ["Content-Type: text/html; charset=utf-8"] : []
                try connection.reply("200 OK", fields, "hello")
            }
        }
        let mark = UUID().uuidString
        let requests = ["GET \(origin.url("/typed/\"\\<>^`{|}?\(mark)"))", "HEAD \(origin.url("/plain?\(mark)"))"]
        try AttacheProcess.running(setting: .init(log: "squid file @/access.log")) { proxy throws in
            for port in [squid.port, proxy.port] {
                for request in requests {
                    let wire = try Wire(to: port)
                    try wire.send("\(request) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\nConnection: close\r\n\r\n")
                    _ = try wire.readResponse(to: String(request.prefix { $0 != " " }))
                }
                let wire = try Wire(to: port)
                try wire.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
                _ = try wire.readHead()
                try wire.send("GET /\(mark) HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try wire.readResponse()
                wire.close()
            }
            let place = "127.0.0.1:\(origin.port)"
            let ours = Self.lines(of: proxy.folder + "/access.log", containing: place, atLeast: 3).map(Fields.init)
            let theirs = Self.lines(of: squid.folder + "/native.log", containing: place, atLeast: 3).map(Fields.init)
            #expect(ours.count == 3)
            #expect(Set(ours.map(\.decided)) == Set(theirs.map(\.decided)))
            // What passed through the tunnel is the same; of other responses each writes its own head.
            let tunnels = [ours, theirs].map { $0.first { $0.decided.contains("CONNECT") }?.size }
            #expect(tunnels[0] == tunnels[1])
            #expect(ours.allSatisfy { $0.isTimed } && theirs.allSatisfy { $0.isTimed })
        }
    }

    /// A line of squid's.
    private struct Fields {
        let size: String
        /// All but times and sizes.
        let decided: [String]
        let isTimed: Bool

        init(_ line: String) {
            let fields = line.split(separator: " ").map(String.init)
            size = fields.count == 10 ? fields[4] : "?"
            decided = fields.count == 10 ? Array(fields[2...3] + fields[5...]) : [line]
            isTimed = line.prefixMatch(of: #/\d{10}\.\d{3} {1,6}\d+ /#) != nil
        }
    }
}
