import Foundation
import Testing

/// Parents with unusual behaviour that RFCs allow, or with behaviour that no RFC allows.
struct ParentOddityTests {
    /// Opens tunnels through a parent that answers each as its host's name says.
    private func tunnelling(
        _ parent: RecordingOrigin, rules: String = "", _ body: (AttacheProcess) throws -> Void
    ) throws {
        let rules = "parent corp { http 127.0.0.1:\(parent.port) }\nroute * { via corp }\n\(rules)"
        try AttacheProcess.running(rules, setting: .init(threads: 1), body)
    }

    private func connect(_ host: String, _ proxy: AttacheProcess, fields: String = "") throws -> (Wire, Message?) {
        let wire = try proxy.connect()
        try wire.send("CONNECT \(host):443 HTTP/1.1\r\nHost: \(host):443\r\n\(fields)\r\n")
        return (wire, try wire.readHead())
    }

    private static let openings = [
        "length.example": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
        "chunked.example": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "both.example": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n",
        "interim.example":
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "old.example": "HTTP/1.0 200 Connection established\r\nConnection: close\r\n\r\n",
        "created.example": "HTTP/1.1 201 Created\r\n\r\n",
    ]

    @Test func `a tunnel is open behind the head of any 2xx, and what comes with it is the origin's`() throws {
        let parent = try RecordingOrigin { connection in
            guard let request = try connection.requestHead() else { return }
            let host = String(request.target.dropLast(4))
            // In one write, so that the origin's bytes come with the head.
            try connection.wire.send((Self.openings[host] ?? "") + "hello")
            try connection.wire.send(try connection.wire.read(3))
        }
        try tunnelling(parent) { proxy throws in
            for host in Self.openings.keys {
                let (wire, answer) = try connect(host, proxy)
                #expect(answer?.startLine == "HTTP/1.1 200 Connection established", "\(host)")
                #expect(answer?["Content-Length"] == nil && answer?["Transfer-Encoding"] == nil)
                #expect(try wire.read(5) == Array("hello".utf8), "\(host)")
                try wire.send("abc")
                #expect(try wire.read(3) == Array("abc".utf8), "\(host)")
            }
        }
    }

    private static let refusals = [
        "upgrade.example": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        "redirect.example": "HTTP/1.1 302 Found\r\nLocation: http://captive.example/\r\nContent-Length: 0\r\n\r\n",
        "huge.example": "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 300_000))\r\n\r\n",
        "ssh.example": "SSH-2.0-OpenSSH_9.2\r\n",
        "half.example": "HTTP/1.1 200",
        "silent.example": "",
        "origin.example": "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"o\"\r\nContent-Length: 0\r\n\r\n",
    ]

    @Test func `a response other than 2xx opens no tunnel, and the client learns its sender`() throws {
        let parent = try RecordingOrigin { connection in
            guard let request = try connection.requestHead() else { return }
            try connection.wire.send((Self.refusals[String(request.target.dropLast(4))] ?? ""))
        }
        let rules = "credential own { user \(Account.user); password file @/password }\nchallenge { proxy no; use own }"
        try tunnelling(parent, rules: rules) { proxy throws in
            for host in Self.refusals.keys {
                let wire = try proxy.connect()
                try wire.send("CONNECT \(host):443 HTTP/1.1\r\nHost: \(host):443\r\n\r\n")
                let answer = try wire.readResponse(to: "GET")
                #expect(answer.status == 502, "\(host)")
                let text = String(decoding: answer.body, as: UTF8.self)
                #expect(text.contains("the parent corp (127.0.0.1:\(parent.port))"), "\(host): \(text)")
                #expect(answer["Location"] == nil && answer["WWW-Authenticate"] == nil)
            }
            #expect(parent.messages.allSatisfy { $0["Authorization"] == nil && $0["Proxy-Authorization"] == nil })
        }
    }

    private static let demands = [
        "closes.example": "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 4\r\n\r\nmore",
        "says.example": "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nConnection: close\r\n\r\nmore",
        "old.example": "HTTP/1.0 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\n\r\nmore",
        "chunked.example":
            "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nmore\r\n0\r\n\r\n",
    ]

    private static let answer = "Basic " + Data("\(Account.user):\(Account.password)".utf8).base64EncodedString()

    @Test func `a parent that closes behind its challenge is asked again on a new connection`() throws {
        for (host, demand) in Self.demands {
            let parent = try RecordingOrigin { connection in
                guard let request = try connection.requestHead() else { return }
                guard request["Proxy-Authorization"] == Self.answer else { return try connection.wire.send(demand) }
                try connection.wire.send("HTTP/1.1 200 OK\r\n\r\nhello")
            }
            let rules = """
                credential corp { user \(Account.user); password file @/password }
                challenge { proxy yes; use corp }
                """
            try tunnelling(parent, rules: rules) { proxy throws in
                let (wire, answer) = try connect(host, proxy, fields: "Authorization: Basic b3duOm93bg==\r\n")
                #expect(answer?.status == 200, "\(host)")
                #expect(try wire.read(5) == Array("hello".utf8), "\(host)")
                #expect(parent.messages.count == 2)
                // The client's credential for the origin does not reach the parent.
                #expect(parent.messages.allSatisfy { $0["Authorization"] == nil })
            }
        }
    }

    @Test func `proxies that are each other's parents open no tunnels in a circle`() throws {
        let parent = try RecordingOrigin { connection in
            guard try connection.requestHead() != nil else { return }
            try connection.wire.send("HTTP/1.1 200 OK\r\n\r\n")
        }
        try tunnelling(parent) { proxy throws in
            _ = try connect("origin.example", proxy, fields: "Via: 1.1 other, 1.0 one (x)\r\n")
            let request = try #require(parent.messages.first)
            let lines = request.values("Via")
            #expect(lines.count == 2 && lines.first == "1.1 other, 1.0 one (x)")
            let own = try #require(lines.last)
            #expect(own.hasPrefix("1.1 attache-"))
            let (_, answer) = try connect("origin.example", proxy, fields: "Via: 1.1 other, \(own)\r\n")
            #expect(answer?.status == 502)
            #expect(answer?["Proxy-Status"]?.contains("proxy_loop_detected") == true)
            #expect(parent.messages.count == 1)
        }
    }

    @Test func `an upload that a parent breaks off is not begun again at another`() throws {
        let second = try RecordingOrigin.answering()
        let first = try RecordingOrigin { connection in
            _ = try connection.requestHead()
            _ = try connection.wire.read(50_000)
        }
        let rules = "parent corp { http 127.0.0.1:\(first.port) 127.0.0.1:\(second.port) }\nroute * { via corp }"
        let file = try Payload.file(bytes: 200 << 10)
        try AttacheProcess.running(rules) { proxy throws in
            for method in ["PUT", "POST"] {
                let sent = try proxy.get("http://origin.example/", "-X", method, "-T", file, "-H", "Expect:")
                #expect(sent.status == 502, "\(method) \(sent)")
            }
            #expect(second.messages.isEmpty)
        }
    }
}
