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
            #expect(fetched.text.contains("the parent corp (\(socks.address)) asks for a login"), "\(fetched)")
        }
    }

    @Test func `behind a refused password the next one is shown, and operators see both in the lists`() throws {
        let (apache, socks) = (try ApacheServer.shared(), try SOCKSServer.shared())
        let rules = """
            credential bad { user \(Account.user); password file @/wrong }
            credential good { user \(Account.user); password file @/password }
            parent corp { socks5 \(socks.address) }
            challenge "socks" { proxy yes; protocol socks; use bad good }
            route 127.0.0.1 { via corp }
            """
        let setting = AttacheProcess.Setting(
            files: ["wrong": Account.wrongPassword, "password": Account.password])
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let fetched = try proxy.get(apache.url("/open/"))
            #expect(fetched.status == 200, "\(fetched) \(proxy.errorOutput)")
            #expect(try proxy.records(atLeast: 1).first?["parent_credential"] == "good")
            let list = { (arguments: [String]) in
                try Finished.run(AttacheBinary.path, arguments, directory: proxy.folder, seconds: 30).output
            }
            let challenges = try list(["challenges"])
            #expect(challenges.contains("socks5://\(socks.address)"), "\(challenges)")
            #expect(challenges.contains("username/password"), "\(challenges)")
            let credentials = try list(["credential", "list"])
            #expect(credentials.contains("proxy socks://\(socks.address)"), "\(credentials)")
            let learned = try list(["learn"])
            #expect(learned.contains("port \(socks.port)"), "\(learned)")
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

    @Test func `a password that is taken no more is sent twice, by all threads together`() throws {
        let sent = Mutex(0)
        let isGood = Mutex(true)
        let socks = try RecordingOrigin { connection in
            let greeting = try connection.wire.read(2)
            _ = try connection.wire.read(Int(greeting[1]))
            guard greeting[1] == 2 else { return try connection.wire.send([5, 0xFF]) }
            try connection.wire.send([5, 2])
            let user = try connection.wire.read(2)
            _ = try connection.wire.read(Int(user[1]))
            _ = try connection.wire.read(Int(try connection.wire.read(1)[0]))
            guard isGood.withLock({ $0 }) else {
                sent.withLock { $0 += 1 }
                return try connection.wire.send([1, 1])
            }
            try connection.wire.send([1, 0])
            let length = Int(try connection.wire.read(5)[4])
            _ = try connection.wire.read(length + 2)
            try connection.wire.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
            guard try connection.wire.readRequest() != nil else { return }
            try connection.reply("200 OK", ["Connection: close"], "ok")
        }
        let rules = """
            credential corp { user \(Account.user); password file @/password }
            parent corp { socks5 127.0.0.1:\(socks.port) }
            challenge { proxy yes; use corp }
            route * { via corp }
            """
        try AttacheProcess.running(rules, setting: .init(threads: 4)) { proxy throws in
            let url = "http://origin.example/"
            #expect(try Parallel.fetch(100, url, through: proxy) == Array(repeating: 200, count: 100))
            isGood.withLock { $0 = false }
            for _ in 1...30 { #expect(try proxy.get(url).status == 502) }
            #expect(sent.withLock { $0 } == 2)
        }
    }

    private static let replies: [String: [UInt8]] = [
        "address.example": [5, 0, 0, 1, 127, 0, 0, 1, 0, 80],
        "name.example": [5, 0, 0, 3, 255] + Array(repeating: 0x61, count: 255) + [0, 80],
        "noname.example": [5, 0, 0, 3, 0, 0, 80],
    ]
    private static let lies: [String: [UInt8]] = [
        "short.example": [5, 0, 0, 3, 255, 0x61, 0, 80], "type.example": [5, 0, 0, 9, 0, 0, 0, 0, 0, 0],
        "version.example": [4, 90, 0, 0, 0, 0, 0, 0], "http.example": Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8),
        "silent.example": [],
    ]

    @Test func `a reply is read as it comes, a byte at a time, and one that is none opens nothing`() throws {
        let socks = try RecordingOrigin { connection in
            let greeting = try connection.wire.read(2)
            _ = try connection.wire.read(Int(greeting[1]))
            for byte: UInt8 in [5, 0] { try connection.wire.send([byte]) }
            let length = try connection.wire.read(5)[4]
            let host = String(decoding: try connection.wire.read(Int(length)), as: UTF8.self)
            _ = try connection.wire.read(2)
            if let lie = Self.lies[host] { return try connection.wire.send(lie) }
            for byte in Self.replies[host, default: []] { try connection.wire.send([byte]) }
            try connection.wire.send("hello")
            try connection.wire.send(try connection.wire.read(3))
        }
        let rules = "parent corp { socks5 127.0.0.1:\(socks.port) }\nroute * { via corp }"
        try AttacheProcess.running(rules) { proxy throws in
            for host in Self.replies.keys {
                let wire = try proxy.connect()
                try wire.send("CONNECT \(host):22 HTTP/1.1\r\nHost: \(host):22\r\n\r\n")
                #expect(try wire.readHead()?.status == 200, "\(host)")
                #expect(try wire.read(5) == Array("hello".utf8), "\(host)")
                try wire.send("abc")
                #expect(try wire.read(3) == Array("abc".utf8), "\(host)")
            }
            for host in Self.lies.keys {
                let refused = try proxy.get("http://\(host)/")
                #expect(refused.status == 502, "\(host)")
                #expect(refused.text.contains("the parent corp (127.0.0.1:\(socks.port))"), "\(host) \(refused)")
            }
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
