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

    @Test func `content that cannot be sent again leaves the 401 with its reason`() throws {
        let origin = try RecordingOrigin.guarded(by: DigestGuard())
        try AttacheProcess.answering(origin.port, rules: Self.smallLimits) { proxy throws in
            let file = try Payload.file(bytes: 200_000)
            let sent = try proxy.get(origin.url(), "--data-binary", "@" + file, "-H", "Expect:")
            #expect(sent.status == 401, "\(sent)")
            #expect(sent["Proxy-Status"]?.isEmpty == false)
            #expect(sent["WWW-Authenticate"] != nil)
            #expect(origin.messages.first?.body.count == 200_000)
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
}
