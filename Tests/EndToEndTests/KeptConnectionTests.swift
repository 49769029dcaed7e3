import Foundation
import Testing

/// Data left on a connection, or by a client, reaches no other client.
struct KeptConnectionTests {
    private let oneLoop = AttacheProcess.Setting(threads: 1)

    private func get(_ origin: RecordingOrigin, _ path: String = "/", _ fields: String...) -> String {
        let lines = ["GET \(origin.url(path)) HTTP/1.1", "Host: 127.0.0.1:\(origin.port)"] + fields
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    @Test func `half a request of one client is not the beginning of another's`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: oneLoop) { proxy throws in
            let first = try proxy.connect()
            try first.send(get(origin, "/first") + "GET \(origin.url("/left")) HTTP/1.1\r\nX-Left: behind\r\n")
            first.finishSending()
            #expect(try first.readResponse().status == 200)
            #expect(try first.isEnded())
            let second = try proxy.connect()
            try second.send(get(origin, "/a-much-longer-path-for-the-second-client", "Connection: close"))
            #expect(try second.readResponse().status == 200)
            #expect(origin.messages.map(\.target) == ["/first", "/a-much-longer-path-for-the-second-client"])
            #expect(origin.messages.allSatisfy { $0["X-Left"] == nil })
        }
    }

    @Test func `pipelined requests that fill every buffer are all answered`() throws {
        let origin = try RecordingOrigin.answering { request, connection in try connection.reply(body: request.target) }
        try AttacheProcess.running(setting: oneLoop) { proxy throws in
            let wire = try proxy.connect()
            let paths = (0..<400).map { "/\($0)/\(String(repeating: "x", count: 97))" }
            try wire.send(paths.map { get(origin, $0) }.joined())
            for path in paths { #expect(try wire.readResponse().text == path) }
        }
    }

    @Test(arguments: [true, false])
    func `a connection that is owed content serves no other request`(isResent: Bool) throws {
        let (sentry, gate) = (DigestGuard(), Gate())
        defer { gate.open() }
        let origin = try RecordingOrigin { connection in
            connection.wire.holdLittle()
            while let request = try connection.requestHead() {
                guard request.method == "POST" else {
                    try connection.reply(body: request.target)
                    continue
                }
                switch try sentry.judge(request) {
                case .challenged(let value):
                    if request["Expect"] != nil { try connection.wire.send("HTTP/1.1 100 Continue\r\n\r\n") }
                    _ = try connection.wire.readContent(of: request)
                    try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(value)"])
                case .accepted:
                    // The content is not read: what follows on this connection would be taken for it.
                    try connection.reply("403 Forbidden", [], "no")
                    gate.wait()
                    return
                }
            }
        }
        // Over the memory limit the answer is tried with Expect; below, the content follows at once.
        let limits = "limits { replay-memory \(isResent ? "8m" : "1k"); replay-disk 64m }"
        let setting = AttacheProcess.Setting(threads: 1)
        try AttacheProcess.answering(origin.port, rules: limits, setting: setting) { proxy throws in
            let wire = try proxy.connect()
            // More than the sockets between the two hold: the sender's at most 4 MiB (`tcp_wmem`).
            let content = String(repeating: "c", count: 6_000_000)
            let fields = "Host: 127.0.0.1:\(origin.port)\r\nContent-Length: \(content.utf8.count)\r\n\r\n"
            try wire.send("POST \(origin.url("/upload")) HTTP/1.1\r\n\(fields)\(content)")
            #expect(try wire.readResponse().status == 403)
            let next = try proxy.get(origin.url("/next"))
            #expect(next.text == "/next", "\(next) \(proxy.accessLog)")
        }
    }

    @Test(arguments: [1 << 10, 17 << 10, 64 << 10, 300 << 10, 1 << 20])
    func `a response of any size leaves its connection for the next request`(size: Int) throws {
        let content = String(repeating: "c", count: size)
        let origin = try RecordingOrigin.answering { try $1.reply(body: content) }
        try AttacheProcess.running(setting: oneLoop) { proxy throws in
            let wire = try proxy.connect()
            for _ in 1...10 {
                try wire.send(get(origin))
                #expect(try wire.readResponse().body.count == size)
            }
            #expect(origin.connections == 1)
        }
    }

    @Test func `bytes behind a large response condemn its connection`() throws {
        let content = String(repeating: "c", count: 64 << 10)
        let forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
        let origin = try RecordingOrigin.answering { request, connection in
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(content.utf8.count)\r\n\r\n"
            try connection.wire.send(head + content + (request.target == "/first" ? forged : ""))
        }
        try AttacheProcess.running(setting: oneLoop) { proxy throws in
            let wire = try proxy.connect()
            for path in ["/first", "/second"] {
                try wire.send(get(origin, path))
                #expect(try wire.readResponse().text == content)
            }
            #expect(origin.connections == 2)
        }
    }

    @Test func `a connection that ends with its challenge costs a new one, not the request`() throws {
        let sentry = DigestGuard()
        let origin = try RecordingOrigin { connection in
            guard let request = try connection.request() else { return }
            switch try sentry.judge(request) {
            case .challenged(let value): try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(value)"])
            case .accepted: try connection.reply(body: request.text)
            }
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            for _ in 1...5 { #expect(try proxy.get(origin.url()).status == 200) }
        }
    }

    @Test func `a request line of HEAD leaves no trace in the refusal of the next`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: oneLoop) { proxy throws in
            let wire = try proxy.connect()
            try wire.send(get(origin).replacing("GET", with: "HEAD"))
            #expect(try wire.readResponse(to: "HEAD").status == 200)
            try wire.send("BAD\r\n\r\n")
            let refused = try wire.readResponse()
            #expect(refused.status == 400)
            #expect(!refused.body.isEmpty)
        }
    }
}
