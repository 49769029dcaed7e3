import Foundation
import Testing

/// The main job: a tool that cannot authenticate gets 200, the password stands only in the rule file's secret.
struct ChallengeTests {
    @Test(arguments: ["basic", "digest", "steady", "multi"])
    func `Apache answers 401 directly and 200 through the proxy`(name: String) throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        #expect(try Curl.fetch(apache.url("/\(name)/?\(mark)")).status == 401)
        try AttacheProcess.answering(apache.port) { proxy throws in
            let answered = try proxy.get(apache.url("/\(name)/?\(mark)"))
            #expect(answered.status == 200, "\(answered)")
            #expect(answered.text == "this is \(name)\n")
            #expect(answered["WWW-Authenticate"] == nil)
            let entries = apache.entries(marked: mark, atLeast: 3)
            #expect(entries.map(\.status) == [401, 401, 200])
            #expect(entries.last?.user == Account.user)
            let record = try #require(try proxy.records().first)
            #expect(record.status == 200)
            #expect(record["credential"] == "web")
            #expect(record["scheme"]?.lowercased() == (name == "basic" ? "basic" : "digest"))
            #expect(record["rule"] != nil)
        }
    }

    @Test(arguments: ["md5", "sha256", "both", "userhash"])
    func `lighttpd answers 401 directly and 200 through the proxy`(name: String) throws {
        let lighttpd = try LighttpdServer.shared()
        let url = lighttpd.url("/\(name)/")
        #expect(try Curl.fetch(url).status == 401)
        try AttacheProcess.answering(lighttpd.port) { proxy throws in
            for _ in 1...3 {
                let answered = try proxy.get(url)
                #expect(answered.status == 200, "\(answered)")
                #expect(answered.text == "this is \(name)\n")
            }
        }
    }

    @Test func `challenges of one line and of several are all read`() throws {
        let expected = "Basic " + Data("\(Account.user):\(Account.password)".utf8).base64EncodedString()
        let origin = try RecordingOrigin.answering { request, connection in
            if request["Authorization"] == expected { return try connection.reply(body: "ok") }
            let lines = [
                "Negotiate", #"Nonsense a="b, Basic realm=c", token68ish=x , NTLM"#,
                #"Bearer realm="r", Basic realm="in \"line\"""#,
            ]
            try connection.reply("401 Unauthorized", lines.map { "WWW-Authenticate: \($0)" })
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            let answered = try proxy.get(origin.url())
            #expect(answered.status == 200, "\(answered)")
        }
    }

    @Test func `a credential in the URL answers what it can answer`() throws {
        let expected = "Basic " + Data("\(Account.user):pass".utf8).base64EncodedString()
        let origin = try RecordingOrigin.answering { request, connection in
            if request["Authorization"] == expected { return try connection.reply(body: "ok") }
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Bearer, Basic realm=\"r\""])
        }
        try AttacheProcess.running { proxy throws in
            let authority = "127.0.0.1:\(origin.port)"
            let answered = try proxy.exchange(
                "GET http://\(Account.user):pass@\(authority)/ HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
            #expect(answered.text == "ok", "\(answered)")
        }
    }

    @Test func `a stale nonce is renewed without a failure`() throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        try AttacheProcess.answering(apache.port, modifiers: "attempts 1") { proxy throws in
            #expect(try proxy.get(apache.url("/digest/?\(mark)-1")).status == 200)
            #expect(try apache.awaitStaleness(of: "/digest/?\(mark)-1", markedBy: mark + "-1"))
            let late = try proxy.get(apache.url("/digest/?\(mark)-2"))
            #expect(late.status == 200, "\(late)")
            let second = apache.entries(marked: mark + "-2", atLeast: 2)
            #expect(second.map(\.status) == [401, 200])
            #expect(second.first?.authorization != nil, "the second request was not answered pre-emptively")
            // Within the two seconds that a nonce is good for, which a busy machine may need for more than one request.
            let isUsed = try (3...9).contains { number throws in
                let fetched = try proxy.get(apache.url("/digest/?\(mark)-\(number)"))
                #expect(fetched.status == 200)
                return apache.entries(marked: "\(mark)-\(number)").map(\.status) == [200]
            }
            #expect(isUsed, "the new nonce was not used again")
            #expect(try proxy.records(atLeast: 3).allSatisfy { $0["credential"] == "web" && $0.status == 200 })
        }
    }

    @Test func `a known space is answered before it asks`() throws {
        let apache = try ApacheServer.shared()
        for name in ["basic", "steady"] {
            let mark = ApacheServer.mark()
            try AttacheProcess.answering(apache.port) { proxy throws in
                for number in 1...4 { #expect(try proxy.get(apache.url("/\(name)/?\(mark)-\(number)")).status == 200) }
                #expect(apache.entries(marked: mark, atLeast: 5).map(\.status) == [401, 200, 200, 200, 200])
            }
        }
    }

    @Test func `Digest's domain extends what is answered before it asks`() throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        try AttacheProcess.answering(apache.port) { proxy throws in
            #expect(try proxy.get(apache.url("/domain/?\(mark)")).status == 200)
            #expect(try proxy.get(apache.url("/domain-too/?\(mark)")).status == 200)
            #expect(apache.entries(marked: mark, atLeast: 3).map(\.status) == [401, 200, 200])
        }
    }

    @Test func `a password is not sent outside the space that asked`() throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        try AttacheProcess.answering(apache.port) { proxy throws in
            #expect(try proxy.get(apache.url("/basic/?\(mark)")).status == 200)
            #expect(try proxy.get(apache.url("/open/?\(mark)")).status == 200)
            #expect(apache.entries(marked: mark, atLeast: 3).last?.authorization == nil)
        }
    }

    @Test func `user name and password may be UTF-8 and hold colons`() throws {
        let apache = try ApacheServer.shared()
        let accounts = [(Account.unicodeUser, Account.unicodePassword), (Account.colonUser, Account.colonPassword)]
        for (user, password) in accounts {
            let rules = """
                credential web { user \(user); password file @/password }
                challenge { host 127.0.0.1; method basic; use web }
                """
            try AttacheProcess.running(rules, setting: .init(files: ["password": password])) { proxy throws in
                #expect(try proxy.get(apache.url("/basic/")).status == 200)
            }
        }
    }

    @Test func `a password may stand in the environment`() throws {
        let apache = try ApacheServer.shared()
        let rules = """
            credential web { user \(Account.user); password env SECRET_OF_TEST }
            challenge { host 127.0.0.1; use web }
            """
        let setting = AttacheProcess.Setting(environment: ["SECRET_OF_TEST": Account.password])
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            #expect(try proxy.get(apache.url("/basic/")).status == 200)
        }
    }

    @Test func `credentials in the request's URL answer by default`() throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        try AttacheProcess.running { proxy throws in
            let authority = "\(Account.user):\(Account.password.replacing("/", with: "%2F"))@127.0.0.1:\(apache.port)"
            let target = "http://\(authority)/steady/?\(mark)"
            let answered = try proxy.exchange("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(apache.port)\r\n\r\n")
            #expect(answered.status == 200, "\(answered)")
            #expect(apache.entries(marked: mark, atLeast: 2).allSatisfy { !$0.target.contains("@") })
            #expect(!proxy.accessLog.contains("Winter"))
        }
    }

    @Test func `a path that a server may resolve elsewhere is asked for by a challenge`() throws {
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        let rules =
            "credential web { user \(Account.user); password file @/password }\n"
            + "challenge { host 127.0.0.1; use web }"
        try AttacheProcess.running(rules) { proxy throws in
            for _ in 1...2 { #expect(try proxy.get(origin.url("/secure/x")).status == 200) }
            #expect(sentry.unanswered == 1)
            let paths = [
                "/secure/a%2f..%2f..%2fpub", "/secure/%252e%252e/pub", "/secure/%c0%ae%c0%ae/pub",
                "/secure/a%5c..%5cpub",
            ]
            for (index, path) in paths.enumerated() {
                #expect(try proxy.get(origin.url(path), "--path-as-is").status == 200)
                #expect(sentry.unanswered == 2 + index, "\(path)")
            }
            #expect(try proxy.get(origin.url("/secure/y")).status == 200)
            #expect(sentry.unanswered == 1 + paths.count)
        }
    }

    @Test func `a credential that cannot be read is one sentence, and the operator is told where it is`() throws {
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        let rules = """
            credential ci { user u; password file @/nothing }
            challenge "ci" { host 127.0.0.1; use ci }
            """
        try AttacheProcess.running(rules) { proxy throws in
            let refused = try proxy.get(origin.url())
            #expect(refused.status == 502)
            let sentence = "the origin asks for a login, but credential ci of rule "
            #expect(refused.text.hasPrefix(sentence), "\(refused)")
            #expect(refused.text.hasSuffix(" cannot be read; the proxy's log says why\n"), "\(refused)")
            #expect(proxy.awaitErrorOutput("/nothing"))
        }
    }
}
