import Foundation
import Testing

/// Content that meets a challenge arrives once and whole, or the client learns why not.
struct UploadTests {
    private static let smallLimits = "limits { replay-memory 1k; replay-disk 4k }"

    /// Uploads a file through a Digest challenge and expects one arrival.
    private func expectArrival(
        bytes: Int, _ options: [String], method: String = "POST", isChunked: Bool = false, rules: String = ""
    ) throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        let file = try Payload.file(bytes: bytes)
        let expected = "\(bytes) \(try Hash.sha256(ofFile: file))"
        try AttacheProcess.answering(apache.port, rules: rules) { proxy throws in
            // The second meets a space that is known.
            for pass in 1...2 {
                let url = apache.url("/steady/upload.cgi?\(mark)-\(pass)")
                let framing = isChunked ? ["-H", "Transfer-Encoding: chunked"] : []
                let content = ["-X", method, "-T", file, "-H", "Content-Type: application/octet-stream"]
                let sent = try Curl.fetch(url, ["-x", proxy.address] + content + framing + options)
                #expect(sent.status == 200, "\(sent)")
                #expect(sent.text == expected + "\n")
                #expect(try Payload.arrivals(at: apache, marked: "\(mark)-\(pass)") == [expected])
            }
            #expect(apache.entries(marked: mark + "-2").map(\.status) == [200])
        }
    }

    @Test func `1 MiB arrives once and whole`() throws {
        try expectArrival(bytes: 1 << 20, [])
    }

    @Test func `1 MiB without Expect arrives once and whole`() throws {
        try expectArrival(bytes: 1 << 20, ["-H", "Expect:"])
    }

    @Test func `1 MiB of unknown length arrives once and whole`() throws {
        try expectArrival(bytes: 1 << 20, ["-H", "Expect:"], isChunked: true)
    }

    @Test func `20 KiB that fit the replay memory arrive once and whole`() throws {
        try expectArrival(bytes: 20 << 10, ["-H", "Expect:"])
    }

    @Test func `a PUT arrives once and whole`() throws {
        try expectArrival(bytes: 300_000, [], method: "PUT")
    }

    @Test func `100 MiB are more than the replay limit and arrive once and whole`() throws {
        try expectArrival(bytes: 100 << 20, [])
    }

    @Test func `100 MiB of unknown length arrive once and whole`() throws {
        try expectArrival(bytes: 100 << 20, ["-H", "Expect:"], isChunked: true)
    }

    @Test func `100 MiB within a raised replay limit arrive once and whole`() throws {
        try expectArrival(bytes: 100 << 20, ["-H", "Expect:"], rules: "limits { replay-disk 128m }")
    }

    @Test func `content over the replay limit is offered with Expect, and sent when the answer is accepted`() throws {
        let sentry = DigestGuard()
        let origin = try RecordingOrigin { connection in
            while let request = try connection.requestHead() {
                switch try sentry.judge(request) {
                case .challenged(let value):
                    guard request["Expect"]?.lowercased() == "100-continue" else {
                        _ = try connection.wire.readContent(of: request)
                        try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(value)"])
                        continue
                    }
                    try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(value)", "Connection: close"])
                    return
                case .accepted:
                    if request["Expect"] != nil { try connection.wire.send("HTTP/1.1 100 Continue\r\n\r\n") }
                    let content = try connection.wire.readContent(of: request)
                    try connection.reply(body: "received \(content.body.count)")
                }
            }
        }
        try AttacheProcess.answering(origin.port, rules: Self.smallLimits) { proxy throws in
            let file = try Payload.file(bytes: 200_000)
            let sent = try proxy.get(origin.url(), "--data-binary", "@" + file, "-H", "Expect:")
            #expect(sent.text == "received 200000", "\(sent)")
            #expect(origin.messages.first?["Expect"]?.lowercased() == "100-continue")
            #expect(origin.messages.filter { $0["Authorization"] != nil }.count == 1)
        }
    }

    @Test func `a challenge before the content has been read does not hang the client`() throws {
        let sentry = DigestGuard()
        let origin = try RecordingOrigin { connection in
            guard let request = try connection.requestHead() else { return }
            switch try sentry.judge(request) {
            case .challenged(let value):
                try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(value)", "Connection: close"])
                // A reset would take the response with it (RFC 9112 section 9.6).
                connection.wire.finishSending()
                _ = try connection.wire.readToEnd()
            case .accepted:
                let content = try connection.wire.readContent(of: request)
                try connection.reply(body: "received \(content.body.count)")
            }
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            let file = try Payload.file(bytes: 3_000_000)
            let sent = try proxy.get(origin.url(), "--data-binary", "@" + file, "-H", "Expect:")
            #expect(sent.text == "received 3000000", "\(sent)")
        }
    }

    @Test(arguments: [true, false])
    func `an answer before the content is passed on while the client is silent`(isChallengeable: Bool) throws {
        let origin = try RecordingOrigin { connection in
            _ = try connection.requestHead()
            _ = try connection.wire.read(4)
            try connection.reply("413 Content Too Large", ["Connection: close"], "no")
            _ = try connection.wire.readToEnd()
        }
        let body = { (proxy: AttacheProcess) throws in
            let wire = try proxy.connect()
            let fields = "Host: 127.0.0.1:\(origin.port)\r\nContent-Length: 100\r\n\r\n"
            try wire.send("POST \(origin.url()) HTTP/1.1\r\n\(fields)some")
            #expect(try wire.readResponse().status == 413)
        }
        if isChallengeable {
            try AttacheProcess.answering(origin.port) { try body($0) }
        } else {
            try AttacheProcess.running("", body)
        }
    }

    /// A file of text, which the guard reads as such.
    private static func text(bytes: Int) throws -> String {
        let path = Scratch.folder("text") + "/text"
        try Scratch.write(String(repeating: "text", count: bytes / 4), to: path)
        return path
    }

    @Test(arguments: [true, false])
    func `content under auth-int arrives in a known space`(isChunked: Bool) throws {
        let origin = try RecordingOrigin.guarded(by: DigestGuard(.init(qop: "auth-int")))
        try AttacheProcess.answering(origin.port) { proxy throws in
            #expect(try proxy.get(origin.url()).text == "ok")
            let file = try Self.text(bytes: 200_000)
            let framing = isChunked ? ["-H", "Transfer-Encoding: chunked"] : []
            let options = ["-x", proxy.address, "-H", "Expect:", "--data-binary", "@" + file] + framing
            #expect(try Curl.fetch(origin.url(), options).text == "ok")
            #expect(origin.messages.last?.body.count == 200_000)
            #expect(origin.messages.count == 3)
        }
    }

    @Test(arguments: [(true, 413), (false, 401)])
    func `content under auth-int that cannot be kept is not cut`(isChunked: Bool, status: Int) throws {
        let origin = try RecordingOrigin.guarded(by: DigestGuard(.init(qop: "auth-int")))
        try AttacheProcess.answering(origin.port, rules: Self.smallLimits) { proxy throws in
            #expect(try proxy.get(origin.url()).text == "ok")
            let file = try Self.text(bytes: 200_000)
            let framing = isChunked ? ["-H", "Transfer-Encoding: chunked"] : []
            let options = ["-x", proxy.address, "-H", "Expect:", "--data-binary", "@" + file]
            let sent = try Curl.fetch(origin.url(), options + framing)
            #expect(sent.status == status, "\(sent)")
            #expect(sent["Proxy-Status"]?.isEmpty == false)
        }
    }
}
