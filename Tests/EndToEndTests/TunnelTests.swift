import Testing

/// CONNECT and Upgrade: bytes both ways, each direction ended by itself (RFC 9110 sections 9.3.6 and 7.8).
struct TunnelTests {
    /// Sends back what it reads and, when the client has finished, a farewell.
    private static func echo() throws -> RecordingOrigin {
        try RecordingOrigin { connection in
            try connection.wire.send("hello ")
            let received = try connection.wire.readToEnd()
            try connection.wire.send(received + Array(" bye".utf8))
        }
    }

    @Test func `a tunnel carries both directions, and its halves end by themselves`() throws {
        let origin = try Self.echo()
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            let answered = try wire.readResponse(to: "CONNECT")
            #expect(answered.status == 200)
            #expect(answered["Content-Length"] == nil)
            #expect(answered["Transfer-Encoding"] == nil)
            #expect(answered["Connection"]?.lowercased().contains("close") != true)
            #expect(try wire.read(6) == Array("hello ".utf8))
            try wire.send("\u{0}\u{1}binary\r\n\r\n")
            wire.finishSending()
            #expect(try wire.readToEnd() == Array("\u{0}\u{1}binary\r\n\r\n bye".utf8))
        }
    }

    @Test func `the origin may finish first`() throws {
        let gate = Gate()
        let origin = try RecordingOrigin { connection in
            try connection.wire.send("all")
            connection.wire.finishSending()
            if try connection.wire.readToEnd() == Array("late".utf8) { gate.open() }
        }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            #expect(try wire.readResponse(to: "CONNECT").status == 200)
            #expect(try wire.readToEnd() == Array("all".utf8))
            try wire.send("late")
            wire.finishSending()
            #expect(gate.wait(), "what the client sent after the origin's end was lost")
        }
    }

    @Test func `HTTP/1.0 without Host opens a tunnel, and bytes sent at once are not lost`() throws {
        let origin = try Self.echo()
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.0\r\n\r\nat once")
            #expect(try wire.readResponse(to: "CONNECT").status == 200)
            wire.finishSending()
            #expect(try wire.readToEnd() == Array("hello at once bye".utf8))
        }
    }

    @Test func `20 MiB pass a tunnel unchanged`() throws {
        let content = Scratch.bytes(try Payload.file(bytes: 20 << 20))
        let origin = try RecordingOrigin { connection in
            try connection.wire.send(try connection.wire.read(content.count))
        }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            #expect(try wire.readResponse(to: "CONNECT").status == 200)
            try wire.send(content)
            #expect(try wire.readToEnd() == content)
        }
    }

    @Test func `a tunnel's record names its target`() throws {
        let origin = try Self.echo()
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            _ = try wire.readResponse(to: "CONNECT")
            wire.finishSending()
            _ = try wire.readToEnd()
            let record = try #require(try proxy.records().first)
            #expect(record["method"] == "CONNECT")
            #expect(record["target"] == "127.0.0.1:\(origin.port)")
            #expect(record.status == 200)
        }
    }

    @Test func `a tunnel that cannot be opened is refused, and the connection is usable or closed`() throws {
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            let authority = "127.0.0.1:\(FreePort.take())"
            try wire.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
            let answered = try wire.readResponse(to: "CONNECT")
            #expect(answered.status == 502)
            #expect(answered["Proxy-Status"]?.contains("connection_refused") == true)
        }
    }

    @Test(arguments: ["CONNECT 127.0.0.1", "CONNECT http://127.0.0.1:80/", "CONNECT 127.0.0.1:0", "CONNECT :80"])
    func `CONNECT needs host and port`(start: String) throws {
        try AttacheProcess.running { proxy throws in
            #expect(try proxy.exchange("\(start) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").status == 400)
        }
    }

    @Test func `an upgraded connection that breaks is no orderly end`() throws {
        let origin = try RecordingOrigin { connection in
            _ = try connection.request()
            try connection.wire.send(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
            _ = try connection.wire.read(1)
            connection.wire.abort()
        }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            let fields = "Host: 127.0.0.1:\(origin.port)\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
            try wire.send("GET \(origin.url()) HTTP/1.1\r\n\(fields)")
            #expect(try wire.readResponse().status == 101)
            try wire.send("x")
            _ = try wire.readToEnd()
            #expect(try proxy.records().first?["error"] == "connection_terminated")
        }
    }

    @Test func `Upgrade goes through, and 101 opens both directions`() throws {
        let origin = try RecordingOrigin { connection in
            guard let request = try connection.request(), request["Upgrade"] == "websocket" else { return }
            try connection.wire.send(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst ")
            let received = try connection.wire.readToEnd()
            try connection.wire.send(received + Array(" last".utf8))
        }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send(
                """
                GET \(origin.url("/socket")) HTTP/1.1\r
                Host: 127.0.0.1:\(origin.port)\r
                Connection: keep-alive, Upgrade\r
                Upgrade: websocket\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                \r

                """)
            let answered = try wire.readResponse()
            #expect(answered.status == 101)
            #expect(answered["Upgrade"] == "websocket")
            #expect(answered["Connection"]?.lowercased().contains("upgrade") == true)
            #expect(origin.messages.first?["Connection"]?.lowercased().contains("upgrade") == true)
            #expect(try wire.read(6) == Array("first ".utf8))
            try wire.send("middle")
            wire.finishSending()
            #expect(try wire.readToEnd() == Array("middle last".utf8))
        }
    }

    @Test func `an Upgrade that meets a challenge is answered first`() throws {
        let expected = "Basic dXNlcjo="
        let origin = try RecordingOrigin { connection in
            while let request = try connection.request() {
                guard request["Authorization"]?.hasPrefix(expected.prefix(10)) == true else {
                    try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"socket\""], "who?")
                    continue
                }
                try connection.wire.send(
                    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nopen")
                return
            }
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            let wire = try proxy.connect()
            let fields = "Host: 127.0.0.1:\(origin.port)\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
            try wire.send("GET \(origin.url()) HTTP/1.1\r\n" + fields)
            #expect(try wire.readResponse().status == 101)
            #expect(try wire.readToEnd() == Array("open".utf8))
        }
    }

    @Test func `an origin that does not switch answers as usual`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            let fields = "Host: 127.0.0.1:\(origin.port)\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
            for _ in 1...2 {
                try wire.send("GET \(origin.url()) HTTP/1.1\r\n" + fields)
                #expect(try wire.readResponse().text == "ok")
            }
        }
    }
}
