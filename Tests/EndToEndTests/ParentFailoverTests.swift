import Foundation
import TestSupport
import Testing

/// Several ways to an origin: the first that works is taken.
struct ParentFailoverTests {
    @Test func `a parent that is down is passed over, and taken again when it is back`() throws {
        let apache = try ApacheServer.shared()
        let second = try SquidServer.shared(.basic)
        let dead = FreePort.take()
        let rules = """
            credential corp { user \(Account.user); password file @/password }
            parent corp { http 127.0.0.1:\(dead) \(second.address) }
            challenge { proxy yes; use corp }
            route * { via corp }
            """
        try AttacheProcess.running(rules, setting: .init(threads: 1)) { proxy throws in
            for _ in 1...3 { #expect(try proxy.get(apache.url("/open/")).status == 200) }
            #expect(try proxy.records(atLeast: 3).allSatisfy { $0["parent"] == "corp \(second.address)" })
            let secure = try proxy.get("https://127.0.0.1:\(apache.securePorts.three)/open/", "-k")
            #expect(secure.status == 200)
            let first = try RecordingOrigin(on: dead) { connection in
                while try connection.request() != nil { try connection.reply(body: "the first") }
            }
            let isBack = try Wait.until { try proxy.get(apache.url("/open/")).text == "the first" }
            #expect(isBack)
            #expect(!first.messages.isEmpty)
        }
    }

    @Test func `a route may end directly, and a parent leaves what it excepts alone`() throws {
        let apache = try ApacheServer.shared()
        let dead = FreePort.take()
        let parent = try RecordingOrigin.answering()
        let rules = """
            parent dead { http 127.0.0.1:\(dead) }
            parent corp { http 127.0.0.1:\(parent.port); except 127.0.0.0/8 *.local }
            route 127.0.0.1 { via dead direct }
            route * { via corp }
            """
        try AttacheProcess.running(rules) { proxy throws in
            #expect(try proxy.get(apache.url("/open/")).status == 200)
            #expect(try proxy.records().first?["parent"] == nil)
            #expect(try proxy.get("http://origin.example/").text == "ok")
        }
        let excepting = "parent corp { http 127.0.0.1:\(parent.port); except 127.0.0.0/8 }\nroute * { via corp }"
        try AttacheProcess.running(excepting) { proxy throws in
            #expect(try proxy.get(apache.url("/open/")).status == 200)
            #expect(try proxy.get("http://origin.example/").text == "ok")
            #expect(parent.messages.count == 2)
        }
    }

    @Test(arguments: ["http", "socks5", "socks4a"])
    func `a parent's failure for one host is not held against it for others`(scheme: String) throws {
        let script = { @Sendable (connection: RecordingOrigin.Connection, name: String) throws -> Void in
            let host: String
            let opened: [UInt8]
            switch scheme {
            case "http":
                host = String(try connection.requestHead()?.target.split(separator: ":").first ?? "")
                opened = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
            case "socks5":
                _ = try connection.wire.read(3)
                try connection.wire.send([5, 0])
                let length = Int(try connection.wire.read(5)[4])
                host = String(decoding: try connection.wire.read(length), as: UTF8.self)
                _ = try connection.wire.read(2)
                opened = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]
            default:
                _ = try connection.wire.read(9)
                var name: [UInt8] = []
                while let byte = try connection.wire.read(1).first, byte != 0 { name.append(byte) }
                host = String(decoding: name, as: UTF8.self)
                opened = [0, 90, 0, 0, 0, 0, 0, 0]
            }
            // As ssh does where the other side cannot be reached.
            if host == "bad.example", name == "one" { return }
            try connection.wire.send(opened + Array(name.utf8))
        }
        let first = try RecordingOrigin { try script($0, "one") }
        let second = try RecordingOrigin { try script($0, "two") }
        let rules = "parent corp { \(scheme) 127.0.0.1:\(first.port) 127.0.0.1:\(second.port) }\nroute * { via corp }"
        try AttacheProcess.running(rules, setting: .init(threads: 1)) { proxy throws in
            for (host, name) in [("bad.example", "two"), ("good.example", "one")] {
                let wire = try proxy.connect()
                try wire.send("CONNECT \(host):443 HTTP/1.1\r\nHost: \(host):443\r\n\r\n")
                #expect(try wire.readHead()?.status == 200)
                #expect(try wire.read(3) == Array(name.utf8), "\(host)")
            }
        }
    }
}
