import Foundation
import Synchronization
import TestSupport
import Testing

/// Parents that choose HTTP/2 in their TLS handshake: requests to servers without TLS, which a parent makes, are streams of the
/// connection that its tunnels use.
struct HTTP2RelayTests {
    private func connections(of proxy: AttacheProcess) throws -> Int {
        try proxy.metric("attache_upstream_http2_connections_total")
    }

    private func expectAll(
        _ count: Int, _ url: String, through proxy: AttacheProcess, location: SourceLocation = #_sourceLocation
    ) throws {
        let statuses = try Parallel.fetch(count, url, through: proxy)
        #expect(
            statuses.count == count && statuses.allSatisfy { $0 == 200 }, "\(statuses) \(proxy.accessLog)",
            sourceLocation: location)
    }

    /// Opens a tunnel to an origin on this machine.
    private func tunnel(to port: UInt16, through proxy: AttacheProcess) throws -> Wire {
        let wire = try proxy.connect()
        try wire.send("CONNECT 127.0.0.1:\(port) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
        #expect(try wire.readResponse(to: "CONNECT").status == 200)
        return wire
    }

    private func post(_ origin: RecordingOrigin, _ fields: [String], _ content: String, path: String = "/") -> String {
        let lines = ["POST \(origin.url(path)) HTTP/1.1", "Host: 127.0.0.1:\(origin.port)"] + fields + ["", content]
        return lines.joined(separator: "\r\n")
    }

    /// Runs a second proxy, with a listener with TLS, as the parent.
    private func hosting(
        _ clients: String, files: [String: String], listener: String = "", rules: String = "route * { tunnel }\n",
        _ body: (AttacheProcess, _ port: UInt16) throws -> Void
    ) throws {
        let port = FreePort.take()
        defer { FreePort.release(port) }
        let identity = try Hierarchy.shared().issuing.issue(CertificateTerms(host: HTTP2Origin.host))
        let own = ["proxy.pem": Scratch.read(try identity.chain()), "proxy.key": Scratch.read(identity.key)]
        var setting = AttacheProcess.Setting(threads: 1, files: own.merging(files) { $1 })
        setting.clients = "allow 127.0.0.0/8; \(clients)"
        let line = """
            listen 127.0.0.1:\(port) tls certificate @/proxy.pem key @/proxy.key \(listener)
            limits { streams 1000; exchanges 4000 }

            """
        try AttacheProcess.visitingZoo(line + rules, setting: setting) { try body($0, port) }
    }

    // MARK: - One connection

    @Test(.enabled(if: NodeParent.isInstalled))
    func `requests and tunnels share a connection, and the parent's 407 is answered on it`() throws {
        let parent = try NodeParent(.login)
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.passing(through: parent.port, rules: NodeParent.challenge) { proxy throws in
            let tunnel = try tunnel(to: origin.port, through: proxy)
            try expectAll(200, origin.url("/a?b"), through: proxy)
            #expect(parent.sessions == 1)
            #expect(parent.lines.count { $0 == "2.0 1 login GET http /a?b" } == 200, "\(parent.lines)")
            #expect(parent.lines.count { $0.contains("none") } == 1)
            #expect(try connections(of: proxy) == 1)
            let hosts = Set(origin.messages.map { $0["Host"] })
            #expect(hosts == ["127.0.0.1:\(origin.port)"])
            #expect(origin.messages.allSatisfy { $0["Proxy-Authorization"] == nil && $0["Authorization"] == nil })
            // The client spoke HTTP/1.1, and the parent HTTP/2.
            #expect(origin.messages.allSatisfy { $0["Via"]?.hasPrefix("1.1 attache-") == true })
            #expect(try proxy.get(origin.url())["Via"]?.hasPrefix("2 attache-") == true)
            tunnel.close()
        }
    }

    @Test(.enabled(if: NodeParent.isInstalled), arguments: ["no", "clients", "origins", "yes"])
    func `a route may say that parents are asked by HTTP 1.1`(word: String) throws {
        let parent = try NodeParent(.open)
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.passing(through: parent.port, words: "http2 \(word)") { proxy throws in
            for _ in 1...3 { #expect(try proxy.get(origin.url("/a")).status == 200) }
            let isOld = word == "no" || word == "clients"
            let line = isOld ? "1.1 0 none GET \(origin.url("/a"))" : "2.0 1 none GET http /a"
            #expect(parent.lines == [line, line, line])
            let version = isOld ? "1.1" : "2"
            #expect(try proxy.get(origin.url())["Via"]?.hasPrefix("\(version) attache-") == true)
        }
    }

    // MARK: - Messages

    @Test(.enabled(if: NodeParent.isInstalled))
    func `content, trailers and early hints pass`() throws {
        let parent = try NodeParent(.open)
        let content = String(repeating: "x", count: 300_000)
        let origin = try RecordingOrigin.answering { _, connection in
            try connection.wire.send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")
            let size = String(content.utf8.count, radix: 16)
            try connection.wire.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                    + "\(size)\r\n\(content)\r\n0\r\nX-Sum: theirs\r\n\r\n")
        }
        try AttacheProcess.passing(through: parent.port) { proxy throws in
            let wire = try proxy.connect()
            let chunk = "\(String(content.utf8.count, radix: 16))\r\n\(content)\r\n"
            try wire.send(
                post(
                    origin, ["TE: trailers", "Connection: TE", "Trailer: X-Mine", "Transfer-Encoding: chunked"],
                    chunk + "0\r\nX-Mine: ours\r\n\r\n"))
            let hints = try wire.readResponse(to: "POST")
            #expect(hints.status == 103 && hints["Link"] == "</a.css>", "\(hints)")
            let response = try wire.readResponse(to: "POST")
            #expect(response.status == 200 && response.text == content && response.trailers == ["x-sum: theirs"])
            #expect(origin.messages.first?.text == content)
            #expect(origin.messages.first?.trailers == ["x-mine: ours"], "\(origin.messages)")
            #expect(parent.lines == ["2.0 1 none POST http /"])
        }
    }

    @Test(.enabled(if: NodeParent.isInstalled))
    func `a client waits for 100 Continue of the origin`() throws {
        let parent = try NodeParent(.open)
        let gate = Gate()
        let origin = try RecordingOrigin { connection in
            guard let head = try connection.requestHead() else { return }
            gate.wait()
            try connection.wire.send("HTTP/1.1 100 Continue\r\n\r\n")
            connection.record(content: try connection.wire.readContent(of: head))
            try connection.reply(body: "ok")
        }
        try AttacheProcess.passing(through: parent.port) { proxy throws in
            let wire = try proxy.connect()
            try wire.send(post(origin, ["Content-Length: 5", "Expect: 100-continue"], ""))
            #expect(Wait.until { origin.messages.first?["Expect"] == "100-continue" })
            gate.open()
            #expect(try wire.readResponse(to: "POST").status == 100)
            try wire.send("hello")
            #expect(try wire.readResponse(to: "POST").text == "ok")
            #expect(origin.contents.map(\.text) == ["hello"])
            #expect(parent.lines == ["2.0 1 none POST http /"])
        }
    }

    @Test(.enabled(if: NodeParent.isInstalled))
    func `requests without content, and OPTIONS of a whole server, are as they were`() throws {
        let parent = try NodeParent(.open)
        let origin = try RecordingOrigin.answering { request, connection in
            if request.method == "HEAD" {
                try connection.wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
            } else {
                try connection.reply("204 No Content")
            }
        }
        try AttacheProcess.passing(through: parent.port) { proxy throws in
            let host = "127.0.0.1:\(origin.port)"
            let head = try proxy.exchange(
                "HEAD HTTP://\(host)?q HTTP/1.1\r\nHost: \(host)\r\n\r\n", method: "HEAD")
            #expect(head.status == 200 && head["Content-Length"] == "5", "\(head)")
            let options = try proxy.exchange(
                "OPTIONS http://\(host) HTTP/1.1\r\nHost: \(host)\r\n\r\n", method: "OPTIONS")
            #expect(options.status == 204)
            #expect(parent.lines == ["2.0 1 none HEAD http /?q", "2.0 1 none OPTIONS http *"])
            #expect(origin.messages.map(\.target) == ["/?q", "*"])
        }
    }

    // MARK: - Logins

    @Test(arguments: ["basic", "digest", "bearer"])
    func `a parent of our own carries the requests of many clients on one connection`(scheme: String) throws {
        let origin = try RecordingOrigin.answering()
        let token = Account.clientPassword
        let files = [
            "users": try scheme == "digest"
                ? UsersLines.digest(Account.user, realm: "up") : UsersLines.of(Account.user),
            "tokens": "runner:\(try Hash.hex("sha256", token))\n",
        ]
        let lists = scheme == "bearer" ? "tokens file @/tokens" : "users file @/users"
        try hosting("realm \"up\"; authenticate \(scheme); \(lists)", files: files) { parent, port throws in
            let credential =
                scheme == "bearer"
                ? "credential web { token file @/password }\n"
                : "credential web { user \(Account.user); password file @/password }\n"
            let rules = "\(credential)challenge { proxy yes; host \(HTTP2Origin.host); method \(scheme); use web }\n"
            try AttacheProcess.passing(through: port, rules: rules, password: token) { proxy throws in
                #expect(try proxy.get(origin.url()).status == 200, "\(proxy.accessLog)")
                try expectAll(200, origin.url(), through: proxy)
                #expect(try connections(of: proxy) == 1)
                #expect(try parent.metric("attache_http2_streams_total") == 202)
                let lines = try parent.records(atLeast: 202)
                #expect(lines.allSatisfy { $0["http"] == "2" })
                #expect(lines.count { $0["status"] == "407" } == 1, "\(parent.accessLog)")
                // Both proxies say truly how they were asked.
                let via = try #require(origin.messages.last?["Via"])
                #expect(via.hasPrefix("1.1 attache-") && via.contains(", 2 attache-"), "\(via)")
            }
        }
    }

    @Test(.enabled(if: NodeParent.isInstalled), arguments: [false, true])
    func `NTLM at the parent goes by HTTP 1.1`(isNamed: Bool) throws {
        let parent = try NodeParent(.ntlm)
        let origin = try RecordingOrigin.answering()
        let rule = "challenge { proxy yes; host \(HTTP2Origin.host); \(isNamed ? "method ntlm; " : "")use web }\n"
        try AttacheProcess.passing(through: parent.port, rules: NodeParent.account + rule) { proxy throws in
            #expect(try proxy.get(origin.url("/a")).status == 502)
            let old = ["none", "login"].map { "1.1 0 \($0) GET \(origin.url("/a"))" }
            let expected = isNamed ? old : ["2.0 1 none GET http /a"] + old.suffix(1)
            #expect(Array(parent.lines.prefix(expected.count)) == expected, "\(parent.lines)")
            #expect(parent.lines.count { $0.hasPrefix("2.0") } == (isNamed ? 0 : 1))
        }
    }

    /// The credential for the origin passes the parent. NTLM at the origin belongs to a connection.
    @Test(arguments: GuardedOrigin.Scheme.allCases)
    func `the origin behind the parent is answered with its own credential`(scheme: GuardedOrigin.Scheme) throws {
        let guarded = try GuardedOrigin(scheme)
        let files = ["users": try UsersLines.of(Account.user), "other": Account.clientPassword + "\n"]
        try hosting("authenticate basic; users file @/users", files: files) { parent, port throws in
            let rules = """
                credential up { user \(Account.user); password file @/other }
                credential web { user \(Account.user); password file @/password }
                challenge { proxy yes; host \(HTTP2Origin.host); use up }
                challenge { proxy no; host 127.0.0.1; use web }
                parent up { https \(HTTP2Origin.host):\(port) }
                route * { via up }

                """
            let setting = AttacheProcess.Setting(
                threads: 1, files: files.merging(["password": Account.password + "\n"]) { $1 })
            try AttacheProcess.visitingZoo(rules, setting: setting) { proxy throws in
                for _ in 1...5 {
                    #expect(try proxy.get(guarded.origin.url()).status == 200, "\(proxy.accessLog)\(proxy.errorOutput)")
                }
                #expect(try connections(of: proxy) == 1)
                let messages = guarded.origin.messages
                #expect(messages.contains { $0["Authorization"]?.lowercased().hasPrefix(scheme.rawValue) == true })
                #expect(messages.allSatisfy { $0["Proxy-Authorization"] == nil })
                // A CONNECT asks the parent about its password.
                let lines = try parent.records(atLeast: 6).filter { $0["status"] == "200" && $0["method"] == "GET" }
                #expect(Set(lines.map { $0["http"] }) == (scheme == .ntlm ? [nil] : ["2"]), "\(parent.accessLog)")
            }
        }
    }

    // MARK: - Again

    @Test(.enabled(if: NodeParent.isInstalled))
    func `a request that was refused unprocessed is sent again, with its content`() throws {
        let parent = try NodeParent(.refuse)
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.passing(through: parent.port) { proxy throws in
            for number in 1...3 {
                let response = try proxy.exchange(
                    post(origin, ["Content-Length: 5"], "hello", path: "/\(number)"), method: "POST")
                #expect(response.status == 200)
            }
            #expect(parent.lines.count == 6 && parent.lines.allSatisfy { $0.hasPrefix("2.0") }, "\(parent.lines)")
            #expect(origin.messages.map { "\($0.target) \($0.text)" } == ["/1 hello", "/2 hello", "/3 hello"])
        }
    }

    @Test(.enabled(if: NodeParent.isInstalled))
    func `a parent that wants HTTP 1.1 gets it, and is not asked again`() throws {
        let parent = try NodeParent(.old)
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.passing(through: parent.port) { proxy throws in
            for _ in 1...3 {
                #expect(try proxy.exchange(post(origin, ["Content-Length: 2"], "hi"), method: "POST").status == 200)
            }
            #expect(parent.lines.map { $0.prefix(3) } == ["2.0", "1.1", "1.1", "1.1"], "\(parent.lines)")
            #expect(origin.messages.map(\.text) == ["hi", "hi", "hi"])
        }
    }

    @Test(.enabled(if: NodeParent.isInstalled))
    func `a parent that closes its connections in order loses no request`() throws {
        let parent = try NodeParent(.rolling)
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.passing(through: parent.port) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            // More at once than a connection takes.
            let statuses = try Parallel(200, origin.url(), through: proxy, options: ["--parallel-max", "60"])
                .statuses()
            #expect(statuses.count == 200 && statuses.allSatisfy { $0 == 200 }, "\(statuses)")
            #expect(parent.sessions >= 5)
        }
    }

    // MARK: - Parents of other projects

    @Test(.enabled(if: HTTP2Relay.has("nghttpx")))
    func `three hundred requests at once share a connection with nghttpx`() throws {
        let arrived = Mutex(0)
        let origin = try RecordingOrigin.answering { request, connection in
            if request.target == "/held" {
                arrived.withLock { $0 += 1 }
                _ = Wait.until { arrived.withLock { $0 } == 300 }
            }
            try connection.reply(body: "ok")
        }
        try AttacheProcess.visitingZoo("route * { tunnel }\n") { behind throws in
            let nghttpx = try HTTP2Relay(.nghttpx(behind.port))
            try AttacheProcess.passing(through: nghttpx.port) { proxy throws in
                #expect(try proxy.get(origin.url()).text == "ok", "\(proxy.accessLog)\(nghttpx.errorOutput)")
                try expectAll(300, origin.url("/held"), through: proxy)
                #expect(arrived.withLock { $0 } == 300)
                #expect(try connections(of: proxy) == 1)
                #expect(try proxy.metric("attache_upstream_http2_streams_total") == 301)
            }
        }
    }

    @Test(.enabled(if: HTTP2Relay.has("python3")))
    func `tunnels and requests share a connection with Envoy`() throws {
        let guarded = try GuardedOrigin(.digest)
        let envoy = try HTTP2Relay(.envoy)
        let rules = "\(NodeParent.account)challenge { proxy no; host 127.0.0.1; use web }\n"
        try AttacheProcess.passing(through: envoy.port, rules: rules) { proxy throws in
            let tunnel = try tunnel(to: guarded.origin.port, through: proxy)
            #expect(try proxy.get(guarded.origin.url()).text == "ok", "\(proxy.accessLog)\(envoy.errorOutput)")
            try expectAll(200, guarded.origin.url("/a?b"), through: proxy)
            let sent = try proxy.exchange(
                post(guarded.origin, ["Transfer-Encoding: chunked"], "5\r\nhello\r\n0\r\n\r\n"), method: "POST")
            #expect(sent.text == "ok" && guarded.origin.messages.last?.text == "hello")
            try tunnel.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try tunnel.readResponse().status == 401)
            #expect(try connections(of: proxy) == 1)
            #expect(try proxy.metric("attache_upstream_http2_streams_total") == 204)
            #expect(guarded.wrong == 0)
            tunnel.close()
        }
    }

    /// NTLM belongs to a connection: after the challenge the proxy logs in by HTTP/1.1.
    @Test(arguments: [false, true])
    func `Apache wants a login for requests and tunnels`(isNTLM: Bool) throws {
        let apache = try HTTP2Relay(.apache(isNTLM: isNTLM))
        let origin = try RecordingOrigin.answering()
        let user = isNTLM ? "\"\(Account.domain)\\\\alice\"" : Account.user
        let password = isNTLM ? Account.ntlmPasswords["alice"] ?? "" : Account.password
        let rules = """
            credential web { user \(user); password file @/password }
            challenge { proxy yes; host \(HTTP2Origin.host); use web }

            """
        try AttacheProcess.passing(through: apache.port, rules: rules, password: password) { proxy throws in
            #expect(try proxy.get(origin.url()).text == "ok", "\(proxy.accessLog)\(proxy.errorOutput)")
            try expectAll(20, origin.url(), through: proxy)
            let tunnel = try tunnel(to: origin.port, through: proxy)
            try tunnel.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(try tunnel.readResponse().text == "ok")
            tunnel.close()
            let entries = apache.entries(atLeast: 23)
            #expect(entries.first == "HTTP/2.0 407")
            let version = isNTLM ? "HTTP/1.1" : "HTTP/2.0"
            #expect(entries.dropFirst().allSatisfy { $0.hasPrefix(version) }, "\(entries)")
            #expect(try connections(of: proxy) == 1)
            #expect(origin.messages.allSatisfy { $0["Proxy-Authorization"] == nil })
        }
    }

    // MARK: - Rotation

    /// Both tokens are valid for a while.
    @Test func `a token for the parent is replaced while requests run, and none fails`() throws {
        let origin = try RecordingOrigin.answering()
        let tokens = try [("first", Account.password), ("second", Account.nextPassword)]
            .map { "\($0):\(try Hash.hex("sha256", $1))\n" }.joined()
        try hosting("authenticate bearer; tokens file @/tokens", files: ["tokens": tokens]) { parent, port throws in
            let rules = """
                credential web { token file @/password }
                challenge { proxy yes; host \(HTTP2Origin.host); method bearer; use web }

                """
            try AttacheProcess.passing(through: port, rules: rules) { proxy throws in
                #expect(try proxy.get(origin.url()).status == 200, "\(proxy.accessLog)")
                let clients = Clients(8, [origin.url()], through: [proxy])
                #expect(clients.awaitAll(200))
                try proxy.replace("password", with: Account.nextPassword + "\n")
                #expect(Wait.until { parent.accessLog.contains(#""user":"second""#) })
                clients.mark()
                #expect(clients.awaitMarked(20)?.keys.sorted() == [200])
                #expect(clients.stop().keys.sorted() == [200], "\(proxy.accessLog)")
                #expect(try connections(of: proxy) == 1)
                #expect(parent.accessLog.contains(#""user":"first""#))
            }
        }
    }

    @Test func `a certificate for the parent is replaced while requests run, and none fails`() throws {
        let origin = try RecordingOrigin.answering()
        let root = try Hierarchy.shared().root.certificate
        try hosting("", files: [:], listener: "clients \(root) required") { parent, port throws in
            let (good, renewed) = try (ClientCertificate.good.get(), ClientCertificate.renewed.get())
            func both(_ identity: IssuedCertificate) throws -> String {
                try Scratch.read(identity.chain()) + Scratch.read(identity.key)
            }
            let rules = """
                credential device { certificate @/password; key @/password }
                challenge { proxy yes; host \(HTTP2Origin.host); method client-certificate; use device }

                """
            try AttacheProcess.passing(through: port, rules: rules, password: both(good)) { proxy throws in
                #expect(try proxy.get(origin.url()).status == 200, "\(proxy.accessLog)")
                let clients = Clients(8, [origin.url()], through: [proxy])
                #expect(clients.awaitAll(200), "\(proxy.accessLog)")
                try proxy.replace("password", with: both(renewed))
                #expect(Wait.until { parent.accessLog.contains(#""user":"client-renewed""#) }, "\(proxy.errorOutput)")
                clients.mark()
                #expect(clients.awaitMarked(20)?.keys.sorted() == [200])
                #expect(clients.stop().keys.sorted() == [200], "\(proxy.accessLog)")
                #expect(parent.accessLog.contains(#""user":"client-good""#))
                #expect(try connections(of: proxy) >= 2)
            }
        }
    }
}
