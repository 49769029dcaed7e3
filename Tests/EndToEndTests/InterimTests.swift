import Foundation
import Testing

/// 1xx responses and `Expect` (RFC 9110 sections 10.1.1 and 15.2).
struct InterimTests {
    private func head(_ origin: RecordingOrigin, version: String = "1.1", _ fields: String...) -> String {
        let lines = ["POST \(origin.url()) HTTP/\(version)", "Host: 127.0.0.1:\(origin.port)"] + fields
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    @Test func `100 Continue goes through before the content is sent`() throws {
        let origin = try RecordingOrigin { connection in
            guard let request = try connection.requestHead() else { return }
            try connection.wire.send("HTTP/1.1 100 Continue\r\n\r\n")
            try connection.reply(body: try connection.wire.readContent(of: request).text)
        }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send(head(origin, "Expect: 100-continue", "Content-Length: 7"))
            #expect(try wire.readHead()?.status == 100)
            try wire.send("content")
            let answered = try wire.readResponse()
            #expect(answered.status == 200)
            #expect(answered.text == "content")
            #expect(origin.messages.first?["Expect"]?.lowercased() == "100-continue")
        }
    }

    @Test func `a final response instead of 100 reaches the client, which keeps its content`() throws {
        let origin = try RecordingOrigin { connection in
            _ = try connection.requestHead()
            try connection.reply("413 Content Too Large", ["Connection: close"], "no")
        }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send(head(origin, "Expect: 100-continue", "Content-Length: 7000000"))
            #expect(try wire.readResponse().status == 413)
        }
    }

    @Test func `an expectation that nobody knows is refused with 417`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            let answered = try proxy.exchange(head(origin, "Expect: miracles", "Content-Length: 0"))
            #expect(answered.status == 417)
        }
    }

    @Test func `early hints reach an HTTP/1.1 client and not an HTTP/1.0 client`() throws {
        let origin = try RecordingOrigin.answering { _, connection in
            try connection.wire.send("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n")
            try connection.reply(body: "ok")
        }
        try AttacheProcess.running { proxy throws in
            for (version, expected) in [("1.1", [103, 200]), ("1.0", [200])] {
                let wire = try proxy.connect()
                try wire.send(head(origin, version: version, "Content-Length: 0"))
                for status in expected { #expect(try wire.readResponse().status == status) }
            }
        }
    }

    @Test func `a challenge after 100 Continue is answered`() throws {
        let sentry = DigestGuard()
        let origin = try RecordingOrigin { connection in
            while let request = try connection.requestHead() {
                if request["Expect"] != nil { try connection.wire.send("HTTP/1.1 100 Continue\r\n\r\n") }
                let whole = try connection.wire.readContent(of: request)
                switch try sentry.judge(whole) {
                case .challenged(let value): try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(value)"])
                case .accepted: try connection.reply(body: whole.text)
                }
            }
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            let wire = try proxy.connect()
            try wire.send(head(origin, "Expect: 100-continue", "Content-Length: 7"))
            #expect(try wire.readHead()?.status == 100)
            try wire.send("content")
            var answered = try wire.readResponse()
            while answered.status == 100 { answered = try wire.readResponse() }
            #expect(answered.status == 200)
            #expect(answered.text == "content")
        }
    }

    @Test(arguments: [true, false])
    func `100 Continue that comes late does not stop the content`(isChallengeable: Bool) throws {
        let (started, continued) = (Gate(), Gate())
        let origin = try RecordingOrigin { connection in
            guard let request = try connection.requestHead() else { return }
            var content = try connection.wire.read(3)
            started.open()
            try connection.wire.send("HTTP/1.1 100 Continue\r\n\r\n")
            continued.open()
            content += try connection.wire.read(try #require(request["Content-Length"].flatMap { Int($0) }) - 3)
            try connection.reply(body: String(decoding: content, as: UTF8.self))
        }
        let body = { (proxy: AttacheProcess) throws in
            let wire = try proxy.connect()
            try wire.send(head(origin, "Expect: 100-continue", "Content-Length: 9") + "con")
            #expect(started.wait() && continued.wait())
            for piece in ["te", "nt", "ed"] {
                usleep(100_000)
                try wire.send(piece)
            }
            #expect(try wire.readResponse().text == "contented")
        }
        if isChallengeable {
            try AttacheProcess.answering(origin.port) { try body($0) }
        } else {
            try AttacheProcess.running("", body)
        }
    }
}
