import Foundation
import Synchronization
import Testing

/// Parents that speak SOCKS.
struct SOCKSParentTests {
    @Test func `requests and tunnels go through SOCKS 5 with a password`() throws {
        let (apache, socks) = (try ApacheServer.shared(), try SOCKSServer.shared())
        let rules = """
            credential corp { user \(Account.user); password file @/password }
            parent corp { socks5 \(socks.address) }
            challenge "socks" { proxy yes; protocol socks; use corp }
            route 127.0.0.1 { via corp }
            """
        try AttacheProcess.running(rules) { proxy throws in
            for _ in 1...2 { #expect(try proxy.get(apache.url("/open/")).status == 200) }
            let secure = try proxy.get("https://127.0.0.1:\(apache.securePorts.three)/open/", "-k")
            #expect(secure.status == 200, "\(secure)")
            let records = try proxy.records(atLeast: 3)
            #expect(records.allSatisfy { $0["parent"] == "corp \(socks.address)" })
            #expect(records.first?["parent_credential"] == "corp")
            #expect(records.first?["rule"] == "socks")
        }
    }

    @Test func `a SOCKS server that no rule answers is named to the client`() throws {
        let (apache, socks) = (try ApacheServer.shared(), try SOCKSServer.shared())
        let rules = "parent corp { socks5 \(socks.address) }\nroute 127.0.0.1 { via corp }"
        try AttacheProcess.running(rules) { proxy throws in
            let fetched = try proxy.get(apache.url("/open/"))
            #expect(fetched.status == 502)
            #expect(fetched.text.contains("the parent corp (\(socks.address)) wants a credential"), "\(fetched)")
        }
    }

    @Test func `a password that a SOCKS server refuses is sent once`() throws {
        let sent = Mutex(0)
        let socks = try RecordingOrigin { connection in
            let greeting = try connection.wire.read(2)
            let methods = try connection.wire.read(Int(greeting[1]))
            guard methods.contains(2) else { return try connection.wire.send([5, 0xFF]) }
            try connection.wire.send([5, 2])
            let user = try connection.wire.read(2)
            _ = try connection.wire.read(Int(user[1]))
            _ = try connection.wire.read(Int(try connection.wire.read(1)[0]))
            sent.withLock { $0 += 1 }
            try connection.wire.send([1, 1])
        }
        let rules = """
            credential corp { user \(Account.user); password file @/password }
            parent corp { socks5 127.0.0.1:\(socks.port) }
            challenge { proxy yes; use corp }
            route * { via corp }
            """
        let setting = AttacheProcess.Setting(files: ["password": Account.wrongPassword])
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let statuses = try Parallel.fetch(40, "http://origin.example/", through: proxy)
            #expect(statuses == Array(repeating: 502, count: 40))
            #expect(sent.withLock { $0 } == 1)
            #expect(proxy.awaitErrorOutput("credential corp was refused by 127.0.0.1:\(socks.port)"))
        }
    }

    @Test func `SOCKS 4a gets the host's name, which is not looked up here`() throws {
        let apache = try ApacheServer.shared()
        let socks = try SOCKS4Server()
        let rules = "parent corp { socks4a \(socks.address) }\nroute * { via corp }"
        try AttacheProcess.running(rules) { proxy throws in
            #expect(try proxy.get("http://nowhere.invalid:\(apache.port)/open/").status == 200)
            #expect(try proxy.get(apache.url("/open/")).status == 200)
            #expect(socks.asked.sorted() == ["127.0.0.1 \(apache.port)", "nowhere.invalid \(apache.port)"])
            let refused = try proxy.get("http://nowhere.invalid:\(FreePort.take())/")
            #expect(refused.status == 502)
            #expect(refused.text.contains("it answered 91"), "\(refused)")
        }
    }
}
