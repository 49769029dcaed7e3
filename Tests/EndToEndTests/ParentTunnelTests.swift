import Foundation
import Testing

/// CONNECT at a parent proxy: for tunnels that are relayed unseen, and for all that goes to an origin by TLS.
struct ParentTunnelTests {
    private static func rules(_ squid: SquidServer, parent: String? = nil) -> String {
        """
        credential corp { user \(Account.user); password file @/password }
        parent corp { \(parent ?? "http \(squid.address)") }
        challenge "parent" { proxy yes; use corp }
        challenge "origin" { proxy no; host *.example.test; use corp }
        route 127.0.0.1 { via corp }
        route *.example.test { upgrade; intercept; via corp }
        """
    }

    @Test(arguments: SquidServer.Demand.passwords)
    func `a tunnel through the parent carries both directions, from the first byte`(
        demand: SquidServer.Demand
    ) throws {
        let squid = try SquidServer.shared(demand)
        let origin = try RecordingOrigin { connection in
            try connection.wire.send("hello ")
            let received = try connection.wire.read(12)
            try connection.wire.send(received + Array(" bye".utf8))
        }
        try AttacheProcess.running(Self.rules(squid)) { proxy throws in
            for _ in 1...2 {
                let wire = try proxy.connect()
                try wire.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
                #expect(try wire.readResponse(to: "CONNECT").status == 200)
                #expect(try wire.read(6) == Array("hello ".utf8))
                try wire.send("\u{0}\u{1}binary\r\n\r\n")
                #expect(try wire.readToEnd() == Array("\u{0}\u{1}binary\r\n\r\n bye".utf8))
            }
            let records = try proxy.records(atLeast: 2)
            #expect(records.allSatisfy { $0["parent"] == "corp \(squid.address)" })
            if demand != .nothing { #expect(records.allSatisfy { $0["parent_credential"] == "corp" }) }
        }
    }

    @Test(arguments: SquidServer.Demand.passwords)
    func `TLS goes through the parent to the origin, whose own challenge is answered inside`(
        demand: SquidServer.Demand
    ) throws {
        let (apache, squid) = (try ApacheServer.shared(), try SquidServer.shared(demand))
        let authority = "\(ApacheServer.secureHost):\(apache.securePorts.three)"
        try AttacheProcess.visitingZoo(Self.rules(squid)) { proxy throws in
            var opened = 0
            for entrance in Entrance.allCases {
                for _ in 1...2 {
                    let mark = ApacheServer.mark()
                    let fetched = try proxy.visit(authority, "/basic/?\(mark)", by: entrance)
                    #expect(fetched.status == 200, "\(entrance) \(fetched)")
                    let record = try #require(try proxy.record(marked: mark))
                    #expect(record["parent"] == "corp \(squid.address)")
                    #expect(record["tls"] == "1.3")
                    #expect(record["scheme"] == "basic")
                    if record["upstream"] == "opened" { opened += 1 }
                }
            }
            // One tunnel serves all that may share it, whichever way they came.
            #expect((1...3).contains(opened), "\(opened) tunnels")
        }
    }

    @Test(arguments: [SquidServer.Demand.basic, .ntlm])
    func `a parent that is spoken to by TLS is trusted as an origin is, and TLS goes through it`(
        demand: SquidServer.Demand
    ) throws {
        let (apache, squid) = (try ApacheServer.shared(), try SquidServer.shared(demand))
        let front = try TLSTerminator(to: squid.port)
        let authority = "\(ApacheServer.secureHost):\(apache.securePorts.three)"
        let rules = Self.rules(squid, parent: "https \(front.authority)")
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            for entrance in Entrance.allCases {
                let fetched = try proxy.visit(authority, "/basic/", by: entrance)
                #expect(fetched.status == 200, "\(entrance) \(fetched)")
            }
            for _ in 1...2 { #expect(try proxy.get(apache.url("/open/")).status == 200) }
        }
        let setting = AttacheProcess.Setting(environment: ["CARES_HOSTS": HostsFile.path])
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let fetched = try proxy.get(apache.url("/open/"))
            #expect(fetched.status == 502)
            #expect(fetched.text.contains("the parent corp (\(front.authority)) cannot be used"), "\(fetched)")
        }
    }

    @Test func `a 407 inside a tunnel is the origin's, and gets no credential`() throws {
        let squid = try SquidServer.shared(.nothing)
        let origin = try RecordingOrigin.answering { _, connection in
            try connection.reply("407 Proxy Authentication Required", ["Proxy-Authenticate: Basic realm=\"trap\""])
        }
        let front = try TLSTerminator(to: origin.port)
        try AttacheProcess.visitingZoo(Self.rules(squid)) { proxy throws in
            #expect(try proxy.visit(front.authority, "/", by: .clear).status == 407)
            #expect(origin.messages.count == 1)
            #expect(origin.messages.allSatisfy { $0["Proxy-Authorization"] == nil })
        }
    }

    @Test func `a parent's response in the place of a tunnel is not taken for the origin's`() throws {
        let parent = try RecordingOrigin.answering { _, connection in
            try connection.reply("403 Forbidden", ["Set-Cookie: stolen=1"], "not for you")
        }
        let rules = "parent corp { http 127.0.0.1:\(parent.port) }\nroute * { via corp }"
        try AttacheProcess.running(rules) { proxy throws in
            let wire = try proxy.connect()
            try wire.send("CONNECT origin.example:443 HTTP/1.1\r\nHost: origin.example:443\r\n\r\n")
            let answer = try wire.readResponse(to: "GET")
            #expect(answer.status == 502)
            #expect(answer["Set-Cookie"] == nil)
            #expect(answer["Proxy-Status"]?.contains("received-status=403") == true)
            #expect(String(decoding: answer.body, as: UTF8.self).contains("the parent corp (127.0.0.1:\(parent.port))"))
        }
    }

    @Test func `an address that egress denies is not reached through a parent either`() throws {
        let parent = try RecordingOrigin.answering()
        let rules = "parent corp { http 127.0.0.1:\(parent.port) }\nroute * { via corp }"
        try AttacheProcess.running(rules) { proxy throws in
            #expect(try proxy.get("http://169.254.169.254/").status == 403)
            let wire = try proxy.connect()
            try wire.send("CONNECT 169.254.169.254:443 HTTP/1.1\r\nHost: 169.254.169.254:443\r\n\r\n")
            #expect(try wire.readResponse(to: "GET").status == 403)
            #expect(parent.messages.isEmpty)
        }
    }
}
