import Foundation
import TestSupport
import Testing

/// Requests through a parent proxy: a real squid.
struct ParentTests {
    /// Runs a proxy that goes through this squid and answers it with the account.
    private func answering(
        _ squid: SquidServer, user: String = Account.user, password: String = Account.password, rules: String = "",
        _ body: (AttacheProcess) throws -> Void
    ) throws {
        let text = """
            credential corp { user \(user); password file @/password }
            parent corp { http \(squid.address) }
            challenge "parent" { proxy yes; port \(squid.port); use corp }
            route 127.0.0.1 { via corp }
            \(rules)
            """
        try AttacheProcess.running(text, setting: .init(files: ["password": password + "\n"]), body)
    }

    @Test func `a request goes through the parent in absolute-form, on a kept connection`() throws {
        let (apache, squid) = (try ApacheServer.shared(), try SquidServer.shared(.nothing))
        let mark = ApacheServer.mark()
        let rules = "parent corp { http \(squid.address) }\nroute 127.0.0.1 { via corp }"
        try AttacheProcess.running(rules, setting: .init(threads: 1)) { proxy throws in
            for _ in 1...3 { #expect(try proxy.get(apache.url("/open/?\(mark)")).status == 200) }
            let entries = squid.entries(marked: mark, atLeast: 3)
            #expect(entries.map(\.target) == Array(repeating: apache.url("/open/?\(mark)"), count: 3))
            #expect(Set(entries.map(\.connection)).count == 1)
            #expect(try proxy.records(atLeast: 3).allSatisfy { $0["parent"] == "corp \(squid.address)" })
        }
    }

    @Test(arguments: [SquidServer.Demand.basic, .digest, .ntlm, .all])
    func `a parent that wants a credential gets one, and is not asked again`(demand: SquidServer.Demand) throws {
        let (apache, squid) = (try ApacheServer.shared(), try SquidServer.shared(demand))
        let mark = ApacheServer.mark()
        try answering(squid) { proxy throws in
            let urls = (1...3).map { apache.url("/open/?\(mark)-\($0)") }
            let run = try Finished.run(
                "curl",
                ["-q", "-sS", "-x", proxy.address, "-w", "%{http_code}\n"]
                    + urls.flatMap { ["-o", "/dev/null", $0] })
            #expect(run.output == "200\n200\n200\n", "\(run)")
            let isBound = demand == .ntlm || demand == .all
            let statuses = squid.entries(marked: mark, atLeast: isBound ? 5 : 4).map(\.status)
            #expect(statuses == [407] + (isBound ? [407] : []) + [200, 200, 200])
            let record = try #require(try proxy.records(atLeast: 3).first)
            let expected = isBound ? "ntlm" : demand.rawValue
            #expect(record["parent_scheme"] == expected)
            #expect(record["parent_credential"] == "corp")
            #expect(record["rule"] == "parent")
            if demand == .digest {
                // RFC 7616 section 3.4: the URI is the request target as the proxy reads it.
                let known = squid.entries(marked: mark, atLeast: 4).filter { $0.status == 200 }
                #expect(known.allSatisfy { $0.authorization?.contains("uri=%22\($0.target)%22") == true }, "\(known)")
            }
            // Nothing of it reaches the origin.
            #expect(apache.entries(marked: mark).allSatisfy { $0.authorization == nil })
        }
    }

    @Test(arguments: ["basic", "steady"])
    func `the parent and the origin behind it are answered, each with its own`(path: String) throws {
        let apache = try ApacheServer.shared()
        for demand in SquidServer.Demand.passwords {
            let squid = try SquidServer.shared(demand)
            let rules = "challenge { host 127.0.0.1; port \(apache.port); proxy no; use corp }"
            try answering(squid, rules: rules) { proxy throws in
                for _ in 1...2 { #expect(try proxy.get(apache.url("/\(path)/")).status == 200, "\(demand)") }
            }
        }
    }

    @Test func `a parent that no rule answers is named to the client, which does not see the challenge`() throws {
        let (apache, squid) = (try ApacheServer.shared(), try SquidServer.shared(.basic))
        let rules = "parent corp { http \(squid.address) }\nroute 127.0.0.1 { via corp }"
        try AttacheProcess.running(rules) { proxy throws in
            let fetched = try proxy.get(apache.url("/open/"))
            #expect(fetched.status == 502)
            #expect(fetched["Proxy-Authenticate"] == nil)
            #expect(fetched["Proxy-Status"]?.contains("received-status=407") == true, "\(fetched)")
            #expect(fetched.text.contains("the parent corp (\(squid.address)) asks for a login"))
            #expect(fetched.text.contains("proxy yes; host 127.0.0.1; port \(squid.port)"))
        }
    }

    @Test func `a nonce that the parent takes no more is replaced, and the password is not to blame`() throws {
        let (apache, squid) = (try ApacheServer.shared(), try SquidServer.shared(.digest))
        let mark = ApacheServer.mark()
        try answering(squid) { proxy throws in
            let url = apache.url("/open/?\(mark)")
            #expect(try proxy.get(url).status == 200)
            // An attacker who overheard the answer sends it again: squid accepts it, but its nonce no longer.
            let encoded = squid.entries(marked: mark, atLeast: 2).last?.authorization
            let answer = try #require(encoded?.removingPercentEncoding)
            _ = try Curl.fetch(url, ["-x", "http://\(squid.address)", "-H", "Proxy-Authorization: \(answer)"])
            #expect(try proxy.get(url).status == 200)
            #expect(squid.entries(marked: mark, atLeast: 5).map(\.status) == [407, 200, 200, 407, 200])
            #expect(!proxy.errorOutput.contains("was refused"))
        }
    }

    @Test func `HTTP in clear in a tunnel that is looked into becomes requests to the parent`() throws {
        let (apache, squid) = (try ApacheServer.shared(), try SquidServer.shared(.basic))
        let mark = ApacheServer.mark()
        let rules = """
            credential corp { user \(Account.user); password file @/password }
            parent corp { http \(squid.address) }
            challenge { proxy yes; use corp }
            route * { intercept; via corp }
            """
        try AttacheProcess.running(rules) { proxy throws in
            let fetched = try proxy.get(apache.url("/open/?\(mark)"), "-p")
            #expect(fetched.status == 200)
            #expect(squid.entries(marked: mark, atLeast: 2).map(\.target).last == apache.url("/open/?\(mark)"))
        }
    }

    @Test func `a request that changes its protocol goes through a tunnel`() throws {
        let squid = try SquidServer.shared(.basic)
        let origin = try RecordingOrigin { connection in
            _ = try connection.requestHead()
            try connection.wire.send(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello")
            try connection.wire.send(try connection.wire.read(3))
        }
        try answering(squid) { proxy throws in
            let wire = try proxy.connect()
            let place = "127.0.0.1:\(origin.port)"
            try wire.send(
                "GET http://\(place)/ HTTP/1.1\r\nHost: \(place)\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
            #expect(try wire.readHead()?.status == 101)
            #expect(try wire.read(5) == Array("hello".utf8))
            try wire.send("abc")
            #expect(try wire.read(3) == Array("abc".utf8))
            #expect(squid.entries(marked: place, atLeast: 2).allSatisfy { $0.method == "CONNECT" })
        }
    }

    @Test func `a wrong password reaches the parent once`() throws {
        for demand in [SquidServer.Demand.basic, .digest] {
            let (apache, squid) = (try ApacheServer.shared(), try SquidServer.shared(demand))
            let mark = ApacheServer.mark()
            // Squid has one verdict for a user at a time: another connection's right password could pass for this one.
            try answering(squid, user: Account.loneUser, password: Account.wrongPassword) { proxy throws in
                let run = try Parallel.fetch(40, apache.url("/open/?\(mark)"), through: proxy)
                #expect(run == Array(repeating: 502, count: 40))
                let sent = squid.entries(marked: mark, atLeast: 41).filter { $0.authorization != nil }
                #expect(sent.count == 1, "\(demand): the wrong password was sent \(sent.count) times")
                #expect(proxy.awaitErrorOutput("credential corp was refused by 127.0.0.1:\(squid.port)"))
                try proxy.replace("password", with: Account.password + "\n")
                let isUnparked = try Wait.until { try proxy.get(apache.url("/open/")).status == 200 }
                #expect(isUnparked)
            }
        }
    }
}
