import Foundation
import TestSupport
import Testing

/// Tunnels that are looked into: HTTP in clear becomes requests of their own, other protocols pass unseen.
struct InterceptedTunnelTests {
    static let rules = "route * { intercept }"

    /// A connection through the proxy, with its tunnel open.
    static func tunnel(to port: UInt16, through proxy: AttacheProcess) throws -> Wire {
        let wire = try proxy.connect()
        try wire.send("CONNECT 127.0.0.1:\(port) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
        #expect(try wire.readResponse(to: "CONNECT").status == 200)
        return wire
    }

    @Test func `a challenge in a tunnel is answered`() throws {
        let apache = try ApacheServer.shared()
        try AttacheProcess.answering(apache.port, rules: Self.rules) { proxy throws in
            let answered = try proxy.get(apache.url("/basic/"), "--proxytunnel")
            #expect(answered.status == 200)
            #expect(answered.text == "this is basic\n")
            let records = try proxy.records(atLeast: 2)
            #expect(records.map { $0["method"] } == ["CONNECT", "GET"])
            #expect(records.first?["target"] == "127.0.0.1:\(apache.port)")
            #expect(records.first?["tunnel"] == "http")
            #expect(records.last?["target"] == apache.url("/basic/"))
            #expect(records.last?["scheme"] == "basic")
        }
    }

    @Test func `requests in a tunnel share its connection and the origin's`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(Self.rules) { proxy throws in
            let wire = try Self.tunnel(to: origin.port, through: proxy)
            for path in ["/a", "/b", "/c"] {
                try wire.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
                #expect(try wire.readResponse().status == 200)
            }
            #expect(origin.connections == 1)
            #expect(origin.messages.map(\.target) == ["/a", "/b", "/c"])
            #expect(origin.messages.allSatisfy { $0["Via"] != nil })
        }
    }

    @Test func `the proxy's credentials and challenges do not cross a tunnel`() throws {
        let origin = try RecordingOrigin.answering { _, connection in
            try connection.reply("407 Proxy Authentication Required", ["Proxy-Authenticate: Basic realm=\"x\""], "no")
        }
        try AttacheProcess.answering(origin.port, rules: Self.rules) { proxy throws in
            let wire = try Self.tunnel(to: origin.port, through: proxy)
            try wire.send(
                "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\nProxy-Authorization: Basic eDp5\r\n\r\n")
            let answered = try wire.readResponse()
            #expect(answered.status == 407)
            #expect(answered["Proxy-Authenticate"] == nil)
            #expect(origin.messages.count == 1)
            #expect(origin.messages.first?["Proxy-Authorization"] == nil)
            #expect(origin.messages.first?["Authorization"] == nil)
        }
    }

    @Test func `a WebSocket opens in a tunnel`() throws {
        let origin = try RecordingOrigin { connection in
            guard let request = try connection.request(), request["Upgrade"] == "websocket" else { return }
            try connection.wire.send(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst ")
            try connection.wire.send(try connection.wire.readToEnd() + Array(" last".utf8))
        }
        try AttacheProcess.running(Self.rules) { proxy throws in
            let wire = try Self.tunnel(to: origin.port, through: proxy)
            let fields = "Host: 127.0.0.1:\(origin.port)\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
            try wire.send("GET /socket HTTP/1.1\r\n\(fields)")
            #expect(try wire.readResponse().status == 101)
            try wire.send("middle")
            wire.finishSending()
            #expect(try wire.readToEnd() == Array("first middle last".utf8))
        }
    }

    @Test(arguments: ["SSH-2.0-client \r\n", "\u{0}\u{1}\u{2}", "PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n"])
    func `another protocol passes unseen`(greeting: String) throws {
        let origin = try RecordingOrigin { connection in
            try connection.wire.send(try connection.wire.readToEnd() + Array(" bye".utf8))
        }
        try AttacheProcess.running(Self.rules) { proxy throws in
            let wire = try Self.tunnel(to: origin.port, through: proxy)
            try wire.send(greeting)
            wire.finishSending()
            #expect(try wire.readToEnd() == Array(greeting.utf8) + Array(" bye".utf8))
            #expect(try proxy.records().first?["tunnel"] == "opaque")
        }
    }

    @Test func `a server that speaks first is heard`() throws {
        let origin = try RecordingOrigin { connection in
            try connection.wire.send("220 mail.example\r\n")
            try connection.wire.send(try connection.wire.readToEnd())
        }
        try AttacheProcess.running(Self.rules) { proxy throws in
            let wire = try Self.tunnel(to: origin.port, through: proxy)
            #expect(try wire.read(18) == Array("220 mail.example\r\n".utf8))
            try wire.send("EHLO client\r\n")
            wire.finishSending()
            #expect(try wire.readToEnd() == Array("EHLO client\r\n".utf8))
        }
    }

    @Test func `a client that opens its tunnel ahead of time is looked into when it speaks`() throws {
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        try AttacheProcess.answering(origin.port, rules: Self.rules) { proxy throws in
            let wire = try Self.tunnel(to: origin.port, through: proxy)
            // The proxy has waited for the client, and calls the server, which may be the one that speaks first.
            #expect(Wait.until { origin.connections == 1 })
            try wire.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            #expect(try wire.readResponse().status == 200)
        }
    }

    @Test func `a client that says nothing and leaves does no harm`() throws {
        let isLeft = Gate()
        let origin = try RecordingOrigin { connection in
            if connection.number > 1 {
                _ = try connection.request()
                return try connection.reply(body: "ok")
            }
            if try connection.wire.readToEnd().isEmpty { isLeft.open() }
        }
        try AttacheProcess.running(Self.rules) { proxy throws in
            try Self.tunnel(to: origin.port, through: proxy).close()
            // The server learns of it, and nothing of the client or its tunnel is left.
            #expect(isLeft.wait())
            let record = try #require(try proxy.records().first)
            #expect(record["tunnel"] == "opaque")
            #expect(record.status == 200)
            #expect(record["error"] == nil && record["details"] == nil, "\(proxy.accessLog)")
            #expect(Wait.until { (try? proxy.metric("attache_clients_open")) == 0 })
            #expect(try proxy.metric("attache_tunnels_open") == 0)
            // The next client's tunnel is served.
            let wire = try Self.tunnel(to: origin.port, through: proxy)
            try wire.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            #expect(try wire.readResponse().text == "ok")
            #expect(origin.connections == 2)
        }
    }

    @Test func `bytes that come right behind the CONNECT are not lost`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(Self.rules) { proxy throws in
            let wire = try proxy.connect()
            let place = "127.0.0.1:\(origin.port)"
            try wire.send("CONNECT \(place) HTTP/1.1\r\nHost: \(place)\r\n\r\nGET / HTTP/1.1\r\nHost: \(place)\r\n\r\n")
            #expect(try wire.readResponse(to: "CONNECT").status == 200)
            #expect(try wire.readResponse().status == 200)
        }
    }
}
