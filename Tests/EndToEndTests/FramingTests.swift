import Testing

/// The beginning and end of content, for clients and origins of either minor version.
struct FramingTests {
    private func head(_ origin: RecordingOrigin, _ path: String = "/", method: String = "GET", version: String = "1.1")
        -> String
    {
        "\(method) \(origin.url(path)) HTTP/\(version)\r\nHost: 127.0.0.1:\(origin.port)\r\n"
    }

    private static let chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
        + "4;name=\"va;lue\"\r\nWiki\r\n006\r\npedia \r\nC\r\nin \r\nchunks.\r\n0\r\nX-Sum: 1\r\n\r\n"

    @Test func `chunks become a stream that ends with the connection for an HTTP/1.0 client`() throws {
        let origin = try RecordingOrigin.answering { _, connection in try connection.wire.send(Self.chunked) }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send(head(origin, version: "1.0") + "\r\n")
            let answered = try wire.readResponse()
            #expect(answered["Transfer-Encoding"] == nil)
            #expect(answered.text == "Wikipedia in \r\nchunks.")
            #expect(try wire.isEnded())
        }
    }

    @Test func `chunks with extensions and trailers reach an HTTP/1.1 client, and the connection goes on`() throws {
        let origin = try RecordingOrigin.answering { _, connection in try connection.wire.send(Self.chunked) }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            for _ in 1...3 {
                try wire.send(head(origin) + "\r\n")
                let answered = try wire.readResponse()
                #expect(answered.isChunked)
                #expect(answered.text == "Wikipedia in \r\nchunks.")
            }
            #expect(origin.connections == 1)
        }
    }

    @Test func `a chunked request reaches the origin whole`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send(head(origin, method: "POST") + "Transfer-Encoding: chunked\r\n\r\n")
            for piece in ["4;x=y\r\nWi", "ki\r\n5\r\npedia", "\r\n0\r\n", "\r\n"] { try wire.send(piece) }
            #expect(try wire.readResponse().status == 200)
            #expect(origin.messages.first?.text == "Wikipedia")
        }
    }

    @Test func `HEAD, 204 and 304 have no content, whatever their fields say`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            let status = ["/head": "200 OK", "/none": "204 No Content", "/same": "304 Not Modified"][request.target]
            guard let status else { return try connection.reply(body: "next") }
            let length = request.target == "/none" ? "" : "Content-Length: 5000\r\n"
            try connection.wire.send("HTTP/1.1 \(status)\r\nETag: \"e\"\r\n\(length)\r\n")
        }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            for (method, path, status) in [("HEAD", "/head", 200), ("GET", "/none", 204), ("GET", "/same", 304)] {
                try wire.send(head(origin, path, method: method) + "\r\n" + head(origin, "/next") + "\r\n")
                let answered = try wire.readResponse(to: method)
                #expect(answered.status == status)
                #expect(answered["ETag"] == "\"e\"")
                if path != "/none" { #expect(answered["Content-Length"] == "5000") }
                #expect(try wire.readResponse().text == "next")
            }
        }
    }

    @Test func `a response to HEAD that asks for Digest is answered with HEAD`() throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        try AttacheProcess.answering(apache.port) { proxy throws in
            #expect(try proxy.get(apache.url("/steady/?\(mark)"), "-I").status == 200)
            #expect(apache.entries(marked: mark, atLeast: 2).map(\.method) == ["HEAD", "HEAD"])
        }
    }

    @Test(arguments: ["1.0", "1.1"])
    func `a response without a length is delivered up to the end of the connection`(version: String) throws {
        let origin = try RecordingOrigin { connection in
            _ = try connection.request()
            try connection.wire.send("HTTP/1.0 200 OK\r\n\r\nfirst ")
            try connection.wire.send("last")
        }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send(head(origin, version: version) + "\r\n")
            #expect(try wire.readResponse().text == "first last")
        }
    }

    @Test func `a response that is cut short is not made to look whole`() throws {
        let heads = ["Content-Length: 100\r\n\r\nonly this", "Transfer-Encoding: chunked\r\n\r\n20\r\nonly this"]
        for rest in heads {
            let origin = try RecordingOrigin { connection in
                _ = try connection.request()
                try connection.wire.send("HTTP/1.1 200 OK\r\n\(rest)")
            }
            try AttacheProcess.running { proxy throws in
                let answered = try proxy.get(origin.url())
                #expect([18, 52, 56].contains(answered.run.status) || answered.status == 502, "\(answered)")
            }
        }
    }

    @Test func `pipelined requests through a challenge are answered in order`() throws {
        let apache = try ApacheServer.shared()
        try AttacheProcess.answering(apache.port) { proxy throws in
            let wire = try proxy.connect()
            let host = "Host: 127.0.0.1:\(apache.port)"
            let names = ["basic", "steady", "open", "steady", "basic", "multi", "open", "steady"]
            try wire.send(names.map { "GET \(apache.url("/\($0)/")) HTTP/1.1\r\n\(host)\r\n\r\n" }.joined())
            for name in names { #expect(try wire.readResponse().text == "this is \(name)\n") }
        }
    }

    @Test func `a request that comes byte by byte is understood`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            for byte in (head(origin, method: "POST") + "Content-Length: 4\r\n\r\nbody").utf8 { try wire.send([byte]) }
            #expect(try wire.readResponse().status == 200)
            #expect(origin.messages.first?.text == "body")
        }
    }

    @Test(arguments: ["CHUNKED", ",chunked", "chunked, ,", "\r\nTransfer-Encoding: chunked"])
    func `chunked goes to the client as one word, however the origin spells it`(spelling: String) throws {
        let origin = try RecordingOrigin.answering { _, connection in
            try connection.wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: \(spelling)\r\n\r\n4\r\nWiki\r\n0\r\n\r\n")
        }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            for _ in 1...2 {
                try wire.send(head(origin) + "\r\n")
                let answered = try wire.readResponse()
                #expect(answered.values("Transfer-Encoding") == ["chunked"])
                #expect(answered.text == "Wiki")
            }
            #expect(origin.connections == (spelling == "CHUNKED" ? 1 : 2), "odd spellings end the connection's use")
        }
    }

    @Test func `chunked goes to the origin as one word`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send(head(origin, method: "POST") + "Transfer-Encoding: \t ChunKed \r\n\r\n4\r\nWiki\r\n0\r\n\r\n")
            #expect(try wire.readResponse().status == 200)
            let sent = try #require(origin.messages.first)
            #expect(sent.values("Transfer-Encoding") == ["chunked"])
            #expect(sent.text == "Wiki")
        }
    }

    /// Responses of outdated servers that curl and squid accept; the client gets `X: y z` and `Wiki`.
    static let oldServers = [
        "HTTP/1.1 200 OK\nX: y z\nContent-Length: 4\n\nWiki",
        "HTTP/1.1 200 OK\r\nX : y z\r\nContent-Length : 4\r\n\r\nWiki",
        "HTTP/1.1 200 OK\r\nX: y\r\n\tz\r\nContent-Length:\r\n 4\r\n\r\nWiki",
        "HTTP/1.1 200 OK\r\nX: y z\r\nContent-Length: 4, 4\r\n\r\nWiki",
        "HTTP/1.1 200 OK\r\nX: y z\r\nTransfer-Encoding: chunked\r\n\r\n4  \r\nWiki\r\n0 \r\n\r\n",
        "HTTP/1.1 200 OK\nX: y z\nTransfer-Encoding: chunked\n\n4\nWiki\n0\n\n",
        "HTTP/1.1 200 OK\r\nX: y z\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nWiki\r\n0\r\nY : 1\r\nZ: 1\r\n 2\r\n\r\n",
        "HTTP/1.1 103 Early\nLink: x\n\nHTTP/1.1 200 OK\r\nX: y z\r\nContent-Length: 4\r\n\r\nWiki",
        "HTTP/1.1 100 Go\nLink : x\n\nHTTP/1.1 200 OK\r\nX: y z\r\nContent-Length: 4\r\n\r\nWiki",
    ]

    @Test(arguments: oldServers, ["1.0", "1.1"])
    func `a response of an old server is written anew, and its connection is not used again`(
        response: String, version: String
    ) throws {
        let origin = try RecordingOrigin.answering { _, connection in try connection.wire.send(response) }
        try AttacheProcess.running { proxy throws in
            for _ in 1...2 {
                let wire = try proxy.connect()
                try wire.send(head(origin, version: version) + "\r\n")
                var answered = try wire.readResponse()
                if answered.status == 103 { answered = try wire.readResponse() }
                #expect(answered.status == 200)
                #expect(answered["X"] == "y z")
                #expect(answered.text == "Wiki")
                #expect(!answered.head.replacing("\r\n", with: "").contains("\n"))
            }
            #expect(origin.connections == 2)
        }
    }

    @Test func `identity is no transfer coding of an old server's response`() throws {
        let origin = try RecordingOrigin { connection in
            _ = try connection.request()
            try connection.wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nWiki")
        }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send(head(origin) + "\r\n")
            let answered = try wire.readResponse()
            #expect(answered.values("Transfer-Encoding") == ["chunked"])
            #expect(answered.text == "Wiki")
        }
    }

    @Test func `identity beside a length is passed on as the length, and the connection is not used again`() throws {
        let origin = try RecordingOrigin { connection in
            _ = try connection.request()
            let stray = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"
            try connection.wire.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 4\r\n\r\nWiki" + stray)
        }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            for _ in 1...2 {
                try wire.send(head(origin) + "\r\n")
                let answered = try wire.readResponse()
                #expect(answered.status == 200)
                #expect(answered.values("Transfer-Encoding") == [])
                #expect(answered.text == "Wiki")
            }
            #expect(origin.connections == 2)
        }
    }

    @Test(arguments: ["\r\n", "\n"])
    func `a folded challenge is answered`(lineEnd: String) throws {
        let sentry = DigestGuard()
        let origin = try RecordingOrigin.answering { request, connection in
            switch try sentry.judge(request) {
            case .challenged(let value):
                let folded = value.replacing(", ", with: ",\(lineEnd)\t  ")
                let lines = ["HTTP/1.1 401 Unauthorized", "WWW-Authenticate : \(folded)", "Content-Length: 0", "", ""]
                try connection.wire.send(lines.joined(separator: lineEnd))
            case .accepted: try connection.reply(body: "in")
            }
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            #expect(try proxy.get(origin.url("/caf\u{e9}")).text == "in")
            #expect(origin.messages.last?.target == "/caf%C3%A9", "the answer covers the target that was sent")
        }
    }
}
