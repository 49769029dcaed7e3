import Foundation
import Synchronization
import TestSupport
import Testing

/// Origins that answer before they have the whole request, and go on reading it, or do not.
struct EarlyResponseTests {
    /// A wait that never ends in a test that passes ends soon in one that fails.
    private static let waits = "timeouts { idle 5s; response 5s }"

    private func head(_ origin: RecordingOrigin, _ path: String, _ fields: String...) -> String {
        let lines = ["POST \(origin.url(path)) HTTP/1.1", "Host: 127.0.0.1:\(origin.port)"] + fields
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// Says each piece of the content back as it comes, behind a head that promises all of it.
    private static func echo(_ request: Message, to wire: Wire) throws {
        let length = try #require(request["Content-Length"].flatMap { Int($0) })
        try wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n")
        var rest = length
        while rest > 0 {
            let piece = try wire.read(min(rest, 64 << 10))
            try wire.send(piece)
            rest -= piece.count
        }
    }

    /// Text in which no two places look the same, and the file that has it.
    private static func content(bytes: Int) throws -> (text: String, file: String) {
        var text = ""
        for number in 0..<bytes where text.utf8.count < bytes { text += "\(number) " }
        let path = Scratch.folder("echo") + "/text"
        try Scratch.write(text, to: path)
        return (text, path)
    }

    private static func echoing() throws -> RecordingOrigin {
        try RecordingOrigin { connection in
            while let request = try connection.requestHead() { try echo(request, to: connection.wire) }
        }
    }

    @Test(arguments: [9_000, 300_000, 5_000_000])
    func `an echo goes both ways at once`(bytes: Int) throws {
        let origin = try Self.echoing()
        try AttacheProcess.running(Self.waits, setting: .init(threads: 1)) { proxy throws in
            let (text, file) = try Self.content(bytes: bytes)
            for _ in 1...2 {
                let sent = try proxy.get(origin.url(), "--data-binary", "@" + file, "-H", "Expect:")
                #expect(sent.text == text, "\(proxy.accessLog)")
            }
            #expect(origin.connections == 1)
        }
    }

    @Test(arguments: ["Content-Length: 9", "Transfer-Encoding: chunked"])
    func `a client that waits for each word of an echo gets it`(framing: String) throws {
        let words = framing.hasPrefix("T") ? ["3\r\none\r\n", "3\r\ntwo\r\n", "0\r\n\r\n"] : ["one", "two", "end"]
        let origin = try RecordingOrigin { connection in
            _ = try connection.requestHead()
            try connection.wire.send("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n")
            for word in words { try connection.wire.send(try connection.wire.read(word.utf8.count)) }
        }
        try AttacheProcess.running(Self.waits) { proxy throws in
            let wire = try proxy.connect()
            try wire.send(head(origin, "/", framing))
            #expect(try wire.readHead()?.status == 200)
            for word in words {
                try wire.send(word)
                #expect(String(decoding: try wire.read(word.utf8.count), as: UTF8.self) == word)
            }
        }
    }

    @Test func `an echo behind a challenge goes both ways, with the copy on disk`() throws {
        let sentry = DigestGuard()
        let origin = try RecordingOrigin { connection in
            while let request = try connection.requestHead() {
                switch try sentry.judge(request) {
                case .challenged(let value):
                    _ = try connection.wire.readContent(of: request)
                    try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(value)"])
                case .accepted: try Self.echo(request, to: connection.wire)
                }
            }
        }
        try AttacheProcess.answering(origin.port, rules: Self.waits) { proxy throws in
            let (text, file) = try Self.content(bytes: 3_000_000)
            for _ in 1...2 {
                let sent = try proxy.get(origin.url(), "--data-binary", "@" + file, "-H", "Expect:")
                #expect(sent.text == text, "\(proxy.accessLog)")
            }
        }
    }

    @Test(arguments: ["200 OK", "302 Found"])
    func `content arrives whole though the response was over before it`(status: String) throws {
        let origin = try RecordingOrigin { connection in
            while let request = try connection.requestHead() {
                try connection.reply(status, [], "early")
                connection.record(content: try connection.wire.readContent(of: request))
            }
        }
        try AttacheProcess.running(Self.waits) { proxy throws in
            let wire = try proxy.connect()
            for _ in 1...2 {
                try wire.send(head(origin, "/", "Content-Length: 200000") + "first")
                let answered = try wire.readResponse()
                #expect(answered.text == "early")
                #expect(answered["Connection"] == nil)
                try wire.send(String(repeating: "x", count: 199_995))
            }
            #expect(Wait.until { origin.contents.count == 2 }, "\(proxy.accessLog)")
            #expect(origin.contents.allSatisfy { $0.body.count == 200_000 })
            #expect(origin.connections == 1)
        }
    }

    @Test(arguments: [true, false])
    func `a refusal before the content reaches the client, whether its origin resets or waits`(resets: Bool) throws {
        let origin = try RecordingOrigin { connection in
            _ = try connection.requestHead()
            _ = try connection.wire.read(100_000)
            try connection.reply("413 Content Too Large", [], "no")
            if resets {
                connection.wire.abort()
            } else {
                _ = try connection.wire.readToEnd()
            }
        }
        try AttacheProcess.running(Self.waits) { proxy throws in
            let file = try Payload.file(bytes: 30_000_000)
            let sent = try proxy.get(origin.url(), "--data-binary", "@" + file, "-H", "Expect:")
            #expect([413, resets ? 502 : 413].contains(sent.status), "\(proxy.accessLog)")
        }
    }

    @Test func `a refusal reaches a client that sends on before it reads`() throws {
        let origin = try RecordingOrigin { connection in
            _ = try connection.requestHead()
            try connection.reply("413 Content Too Large", ["Connection: close"], "no")
            connection.wire.finishSending()
            _ = try connection.wire.readToEnd()
        }
        try AttacheProcess.running(Self.waits) { proxy throws in
            let wire = try proxy.connect()
            try wire.send(head(origin, "/", "Content-Length: 3000000") + String(repeating: "x", count: 2_000_000))
            #expect(try wire.readResponse().status == 413)
        }
    }

    @Test(arguments: ["1.0", "1.1"])
    func `a client that never ends its content has the whole answer before the end`(version: String) throws {
        let origin = try RecordingOrigin { connection in
            _ = try connection.requestHead()
            try connection.reply(body: String(repeating: "answer", count: 10_000))
            _ = try connection.wire.readToEnd()
        }
        try AttacheProcess.running("timeouts { idle 1s; response 5s }") { proxy throws in
            let wire = try proxy.connect()
            let sent = head(origin, "/", "Content-Length: 100") + "some"
            try wire.send(sent.replacing("HTTP/1.1", with: "HTTP/\(version)"))
            #expect(try wire.readResponse().body.count == 60_000)
            #expect(try wire.isEnded())
            #expect(try proxy.records().first?.status == 200)
            #expect(try proxy.records().first?["error"] == nil)
        }
    }

    @Test func `a client that stops under a response is told from an origin that does`() throws {
        let origin = try RecordingOrigin { connection in
            _ = try connection.requestHead()
            try connection.wire.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
            try connection.wire.send(try connection.wire.read(4))
        }
        try AttacheProcess.running("timeouts { idle 1s; response 5s }") { proxy throws in
            let wire = try proxy.connect()
            try wire.send(head(origin, "/", "Content-Length: 4") + "so")
            #expect(try wire.readHead()?.status == 200)
            #expect(try wire.isEnded())
            let record = try #require(try proxy.records().first)
            #expect(record["error"] == "http_request_error")
            #expect(record["details"]?.contains("client") == true)
        }
    }

    // MARK: - Expect

    @Test func `an origin that answers 200 to the proxy's own Expect gets the content`() throws {
        let sentry = DigestGuard()
        let origin = try RecordingOrigin { connection in
            while let request = try connection.requestHead() {
                switch try sentry.judge(request) {
                case .challenged(let value):
                    if request.method == "POST" { _ = try connection.wire.readContent(of: request) }
                    try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(value)"])
                case .accepted:
                    if request.method == "GET" {
                        try connection.reply(body: "ok")
                    } else {
                        try Self.echo(request, to: connection.wire)
                    }
                }
            }
        }
        try AttacheProcess.answering(origin.port, rules: Self.waits) { proxy throws in
            #expect(try proxy.get(origin.url()).text == "ok")
            let (text, file) = try Self.content(bytes: 200_000)
            let sent = try proxy.get(origin.url(), "--data-binary", "@" + file, "-H", "Expect:")
            #expect(sent.text == text, "\(proxy.accessLog)")
            #expect(origin.messages.last?["Expect"] == "100-continue")
        }
    }

    @Test func `an origin that ignores Expect is asked once, and again when nothing can be kept`() throws {
        let origin = try RecordingOrigin.guarded(by: DigestGuard())
        let rules = "limits { replay-memory 1k; replay-disk 300k }"
        try AttacheProcess.answering(origin.port, rules: rules, setting: .init(threads: 1)) { proxy throws in
            #expect(try proxy.get(origin.url()).text == "ok")
            for bytes in [200_000, 200_000, 200_000, 400_000] {
                let file = try Payload.file(bytes: bytes)
                let sent = try proxy.get(origin.url(), "--data-binary", "@" + file, "-H", "Expect:")
                #expect(sent.status == 200, "\(sent)")
            }
            let uploads = origin.messages.filter { $0.method == "POST" }
            #expect(uploads.map { $0["Expect"] } == ["100-continue", nil, nil, "100-continue"])
        }
    }

    @Test func `an origin that says 100 after all is asked again`() throws {
        let sentry = DigestGuard()
        let asked = Mutex(0)
        let origin = try RecordingOrigin { connection in
            while let request = try connection.requestHead() {
                // The server does not answer the `Expect` of the first request.
                let isTold =
                    request["Expect"] != nil
                    && asked.withLock { count in
                        count += 1
                        return count > 1
                    }
                if isTold { try connection.wire.send("HTTP/1.1 100 Continue\r\n\r\n") }
                switch try sentry.judge(try connection.wire.readContent(of: request)) {
                case .challenged(let value): try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(value)"])
                case .accepted: try connection.reply(body: "ok")
                }
            }
        }
        let rules = "limits { replay-memory 1k; replay-disk 300k }"
        try AttacheProcess.answering(origin.port, rules: rules, setting: .init(threads: 1)) { proxy throws in
            #expect(try proxy.get(origin.url()).text == "ok")
            for bytes in [200_000, 200_000, 400_000, 200_000] {
                let file = try Payload.file(bytes: bytes)
                #expect(try proxy.get(origin.url(), "--data-binary", "@" + file, "-H", "Expect:").text == "ok")
            }
            let uploads = origin.messages.filter { $0.method == "POST" }
            #expect(uploads.map { $0["Expect"] } == ["100-continue", nil, "100-continue", "100-continue"])
        }
    }
}
