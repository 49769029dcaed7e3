import Foundation
import TestSupport
import Testing

/// Calls of gRPC through an intercepted tunnel: real clients and a real server.
struct GRPCTests {
    private static let client = """
        import grpc, queue, sys, threading, time
        target, authority, token = sys.argv[1:]
        own = [('authorization', 'Bearer ' + token)] if token else None
        if authority:
            channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(open(authority, 'rb').read()))
        else:
            channel = grpc.insecure_channel(target)
        unary = channel.unary_unary('/test/Unary')
        answer, call = unary.with_call(b'hello', timeout=30, metadata=own)
        print(answer.decode(), dict(call.trailing_metadata()).get('x-trailer'))
        print(unary(b'x' * 3000000, timeout=30, metadata=own).decode())
        print([m.decode() for m in channel.unary_stream('/test/Many')(b'5', timeout=30, metadata=own)])
        print(sum(1 for m in channel.unary_stream('/test/Many')(b'3000', timeout=30, metadata=own)))
        print(channel.stream_unary('/test/Sum')((b'%d' % n for n in range(1000)), timeout=30, metadata=own).decode())
        # Each message waits for the answer to the one before.
        sent, answers = queue.Queue(), []
        talk = channel.stream_stream('/test/Talk')(iter(sent.get, None), timeout=30, metadata=own)
        for n in range(20):
            sent.put(b'%d' % n)
            answers.append(next(talk).decode())
        sent.put(None)
        print(answers[-1], len(answers), list(talk))
        for text, limit in [(b'fail', 30), (b'slow', 1)]:
            try:
                unary(text, timeout=limit, metadata=own)
            except grpc.RpcError as error:
                print(error.code().name, error.details() if text == b'fail' else '')
        call = channel.stream_stream('/test/Talk')(iter(queue.Queue().get, None), metadata=own)
        threading.Timer(0.5, call.cancel).start()
        try:
            next(call)
        except grpc.RpcError as error:
            print(error.code().name)
        calls = [unary.future(b'%d' % n, timeout=30, metadata=own) for n in range(200)]
        print(sum(1 for n, c in enumerate(calls) if c.result().decode() == str(n)[::-1]))
        """

    /// Runs a proxy with a rule that sends the credential `api` with each call.
    private func calling(
        _ rules: String, files: [String: String], _ body: (AttacheProcess) throws -> Void
    ) throws {
        let rule = """
            challenge "calls" { host \(HTTP2Origin.host); secure yes; method bearer; preempt always; use api }

            """
        let setting = AttacheProcess.Setting(threads: 1, files: files)
        try AttacheProcess.visitingZoo(rules + "\n" + rule, setting: setting, body)
    }

    private static let file = "credential api { token file @/token }\n"

    /// A token that no other test has.
    private static func freshToken() -> String { "grpc-token-\(UUID().uuidString)" }

    private func python(_ script: String, _ server: GRPCServer, through proxy: AttacheProcess) throws -> Finished {
        let proxied = server.environment.merging(["https_proxy": proxy.address, "GRPC_VERBOSITY": "ERROR"]) { $1 }
        return try Finished.run(
            "python3", ["-c", script, server.authority, try proxy.exportedAuthority()], environment: proxied,
            seconds: 120)
    }

    /// A way to the server: by TLS, or by HTTP/2 with prior knowledge in a tunnel to a name or an address.
    enum Way: CaseIterable {
        case secure, clear, address

        var host: String { self == .address ? "127.0.0.1" : HTTP2Origin.host }
        var route: String { self == .secure ? "" : "route \(host) { intercept }" }
    }

    /// The client has the token itself where no rule may send it unasked: without TLS, to another machine.
    @Test(arguments: Way.allCases)
    func `a client that knows no token calls a server that wants one`(way: Way) throws {
        let token = Self.freshToken()
        let server = try GRPCServer(accepting: token, isSecure: way == .secure)
        let rules = """
            credential api { token file @/token }
            challenge {
                host \(way.host); secure \(way == .secure ? "yes" : "no"); method bearer; use api
                \(way == .clear ? "" : "preempt always")
            }
            \(way.route)

            """
        let setting = AttacheProcess.Setting(threads: 1, files: ["token": token + "\n"])
        try AttacheProcess.visitingZoo(rules, setting: setting) { proxy throws in
            let proxied = server.environment.merging([
                "https_proxy": proxy.address, "GRPC_VERBOSITY": "ERROR",
            ]) { $1 }
            let authority = way == .secure ? try proxy.exportedAuthority() : ""
            let run = try Finished.run(
                "python3",
                ["-c", Self.client, "\(way.host):\(server.port)", authority, way == .clear ? token : ""],
                environment: proxied, seconds: 120)
            let expected = """
                olleh here
                3000000
                ['0', '1', '2', '3', '4']
                3000
                499500
                re: 19 20 []
                FAILED_PRECONDITION as asked
                DEADLINE_EXCEEDED\(" ")
                CANCELLED
                200

                """
            #expect(run.output == expected, "\(run)\n\(proxy.errorOutput)\n\(proxy.accessLogLines.suffix(5))")
            #expect(try (1...2).contains(proxy.metric("attache_upstream_http2_connections_total")))
            #expect(Wait.until { proxy.accessLog.contains(#""upstream_http":"2""#) }, "\(proxy.accessLog)")
        }
    }

    /// The client sends the token itself.
    @Test func `a route without HTTP 2 does not look into calls in clear`() throws {
        let server = try GRPCServer(accepting: "token", isSecure: false)
        let call = """
            import grpc, sys
            call = grpc.insecure_channel(sys.argv[1]).unary_unary('/test/Unary')
            print(call(b'hello', timeout=30, metadata=[('authorization', 'Bearer token')]).decode())
            """
        let route = "route \(HTTP2Origin.host) { intercept; http2 no }\n"
        try AttacheProcess.visitingZoo(route) { proxy throws in
            let proxied = server.environment.merging(["https_proxy": proxy.address, "GRPC_VERBOSITY": "ERROR"]) { $1 }
            let run = try Finished.run("python3", ["-c", call, server.authority], environment: proxied, seconds: 120)
            #expect(run.output == "olleh\n", "\(run)")
            #expect(Wait.until { proxy.accessLog.contains(#""tunnel":"opaque""#) }, "\(proxy.accessLog)")
            #expect(try proxy.metric("attache_http2_streams_total") == 0)
        }
    }

    // MARK: - Clients in five languages

    /// All kinds of calls, and the beginnings of the answers.
    private static let calls = [
        ("ab", "OK ba"), ("trailer:hello", "OK olleh here"), ("large:3000000", "OK 3000000"),
        ("many:3000", "OK 3000 2999"), ("sum:1000", "OK 499500"), ("talk:20", "OK 20 re: m19"),
        ("fail", "9 as asked"), ("forbid", "7 not you"), ("within:slow", "4 "), ("cancel:1", "1 "), ("cd", "OK dc"),
    ]

    private func makeAllCalls(
        _ client: GRPCClient, _ authority: String, of server: GRPCServer, through proxy: AttacheProcess
    ) throws {
        let lines = try client.call(authority, through: proxy, Self.calls.map(\.0))
        #expect(
            lines.count == Self.calls.count && zip(lines, Self.calls).allSatisfy { $0.hasPrefix($1.1) },
            "\(lines)\n\(proxy.errorOutput)\n\(proxy.accessLogLines.suffix(3))")
        #expect(Wait.until { server.count(of: "over") == 1 })
        #expect(try proxy.metric("attache_http2_floods_total") == 0)
    }

    @Test(arguments: GRPCClient.allCases.filter(\.isInstalled))
    func `every kind of call gets the token that the client does not know`(client: GRPCClient) throws {
        let token = Self.freshToken()
        let server = try GRPCServer(accepting: token)
        try calling(Self.file, files: ["token": token + "\n"]) { proxy throws in
            try makeAllCalls(client, server.authority, of: server, through: proxy)
            #expect(server.verdicts.allSatisfy { $0 == "accepted" || $0 == "over" }, "\(server.verdicts)")
        }
    }

    /// nginx asks by 401 before it passes a call on. The server wants the same login.
    @Test(arguments: GRPCClient.allCases.filter(\.isInstalled))
    func `every kind of call passes a balancer that wants a password`(client: GRPCClient) throws {
        let login = Data("\(Account.user):\(Account.password)".utf8).base64EncodedString()
        let server = try GRPCServer(accepting: "Basic \(login)", isSecure: false)
        let balancer = try HTTP2Origin(
            .nginx,
            directives: """
                client_max_body_size 0;
                location /test/ {
                    auth_basic calls;
                    auth_basic_user_file users;
                    grpc_pass grpc://127.0.0.1:\(server.port);
                }
                """)
        let rules = """
            credential web { user \(Account.user); password file @/password }
            challenge { host \(HTTP2Origin.host); secure yes; use web }
            """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            try makeAllCalls(client, "\(HTTP2Origin.host):\(balancer.port)", of: server, through: proxy)
            // Only the first call is asked.
            #expect(try proxy.metric("attache_phase_duration_seconds_count{phase=\"challenge\"}") == 1)
        }
    }

    // MARK: - A token that the server refuses

    /// Runs a proxy that fetches tokens, and a server that takes the first of them.
    private func fetching(_ body: (AttacheProcess, GRPCServer, TokenServer) throws -> Void) throws {
        let tokens = try TokenServer()
        let server = try GRPCServer(accepting: TokenServer.stem + "1")
        let rules = """
            credential api { oauth2 \(tokens.url); client-id c; client-secret file @/secret }
            route 127.0.0.1:\(tokens.endpoint.port) { tunnel }
            """
        try calling(rules, files: ["secret": "s3cret"]) { proxy throws in try body(proxy, server, tokens) }
    }

    @Test(arguments: GRPCClient.allCases.filter(\.isInstalled))
    func `a token that has expired costs one more call, and no client sees it`(client: GRPCClient) throws {
        try fetching { proxy, server, tokens throws in
            #expect(try client.call(server.authority, through: proxy, ["ab", "cd"]) == ["OK ba", "OK dc"])
            try server.accept(TokenServer.stem + "2")
            #expect(try client.call(server.authority, through: proxy, ["ef", "gh"]) == ["OK fe", "OK hg"])
            #expect(server.verdicts == ["accepted", "accepted", "refused", "accepted", "accepted"])
            #expect(tokens.issued == 2)
            #expect(Wait.until { proxy.accessLogLines.count { $0.contains(#""status":200"#) } >= 4 })
        }
    }

    @Test func `a hundred calls at once meet an expired token, and each is answered`() throws {
        let many = """
            import grpc, sys
            target, authority = sys.argv[1:]
            channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(open(authority, 'rb').read()))
            calls = [channel.unary_unary('/test/Unary').future(b'%d' % n, timeout=60) for n in range(100)]
            print(sum(1 for n, c in enumerate(calls) if c.result().decode() == str(n)[::-1]))
            # The server has taken a part of these messages when it refuses them.
            print(channel.stream_unary('/test/Sum')((b'%d' % n for n in range(100)), timeout=60).decode())
            """
        try fetching { proxy, server, tokens throws in
            #expect(try python(many, server, through: proxy).output == "100\n4950\n")
            try server.accept(TokenServer.stem + "2")
            let run = try python(many, server, through: proxy)
            #expect(run.output == "100\n4950\n", "\(run)\n\(proxy.errorOutput)\n\(proxy.accessLogLines.suffix(3))")
            #expect(tokens.issued == 2)
            #expect(server.count(of: "accepted") == 202)
        }
    }

    @Test func `a call with more content than is kept gets the refusal, and the next one a new token`() throws {
        let large = """
            import grpc, sys
            target, authority = sys.argv[1:]
            channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(open(authority, 'rb').read()))
            unary = channel.unary_unary('/test/Unary')
            for length in (3000000, 3000000):
                try:
                    print('OK', unary(b'x' * length, timeout=60).decode())
                except grpc.RpcError as error:
                    print(error.code().name, error.details(), dict(error.trailing_metadata()).get('proxy-status'))
            """
        try fetching { proxy, server, _ throws in
            #expect(try python(large, server, through: proxy).output == "OK 3000000\nOK 3000000\n")
            try server.accept(TokenServer.stem + "2")
            let lines = try python(large, server, through: proxy).output.split(separator: "\n")
            #expect(lines.count == 2 && lines[1] == "OK 3000000", "\(lines)")
            #expect(lines[0].hasPrefix("UNAUTHENTICATED no token "), "\(lines)")
            #expect(lines[0].contains("larger than this proxy keeps"), "\(lines)")
        }
    }

    @Test func `a wrong token is counted as after a 401, and the client gets the server's refusal`() throws {
        let server = try GRPCServer(accepting: Self.freshToken())
        try calling(Self.file, files: ["token": Self.freshToken() + "\n"]) { proxy throws in
            let texts = (1...20).map { "\($0)" }
            let lines = try GRPCClient.python.call(server.authority, through: proxy, texts)
            #expect(lines == [String](repeating: "16 no token", count: 20))
            // A version that was never accepted is sent twice.
            #expect((1...2).contains(server.count(of: "refused")), "\(server.verdicts)")
            #expect(server.verdicts.count == 20)
            let list = try Finished.run(
                AttacheBinary.path, ["credential", "list", "--config", "proxy.conf"], directory: proxy.folder,
                seconds: 20)
            #expect(list.output.contains("api") && list.output.contains("refused"), "\(list)")
        }
    }

    @Test func `a refusal for another reason, or behind the first fields, costs nothing`() throws {
        let token = Self.freshToken()
        let server = try GRPCServer(accepting: token)
        try calling(Self.file, files: ["token": token + "\n"]) { proxy throws in
            let lines = try GRPCClient.python.call(server.authority, through: proxy, ["forbid", "fail", "late", "ab"])
            #expect(lines == ["7 not you", "9 as asked", "16 too late", "OK ba"])
            #expect(server.verdicts == [String](repeating: "accepted", count: 4))
        }
    }

    // MARK: - A server that resets the call

    @Test(arguments: GRPCClient.allCases.filter(\.isInstalled))
    func `a client makes the same of a reset as without the proxy`(client: GRPCClient) throws {
        let origin = try HTTP2Origin(.node)
        let token = Self.freshToken()
        try calling(Self.file, files: ["token": token + "\n"]) { proxy throws in
            let codes = [8, 2, 1, 11, 12]
            let texts = codes.flatMap { ["\($0)", "head \($0)"] }
            let lines = try client.call("\(HTTP2Origin.host):\(origin.port)", through: proxy, texts)
            // CANCELLED, INTERNAL, INTERNAL, RESOURCE_EXHAUSTED and PERMISSION_DENIED.
            let expected = ["1", "13", "13", "8", "7"].flatMap { [$0, $0] }
            #expect(lines.map { String($0.prefix { $0 != " " }) } == expected, "\(lines)")
            #expect(origin.count(of: "/test/Unary") == texts.count)
            let errors = { proxy.accessLogLines.count { $0.contains("HTTP/2 error ") } }
            #expect(Wait.until { errors() == texts.count }, "\(proxy.accessLog)")
        }
    }

    // MARK: - The proxy's own refusals

    @Test(arguments: GRPCClient.allCases.filter(\.isInstalled))
    func `a client reads why the proxy refuses its call`(client: GRPCClient) throws {
        let server = try GRPCServer(accepting: Self.freshToken())
        let rules = Self.file + "challenge \"no more\" { host \(HTTP2Origin.host); failures 1..; cancel }"
        try calling(rules, files: ["token": Self.freshToken() + "\n"]) { proxy throws in
            let lines = try client.call(server.authority, through: proxy, ["ab"])
            let line = try #require(lines.first)
            #expect(line.hasPrefix("16 the origin asks for a login, but rule"), "\(line)")
            #expect(line.contains(#""no more""#))
            // The log has what happened.
            #expect(
                Wait.until { proxy.accessLogLines.contains { $0.contains(#""status":502"#) } }, "\(proxy.accessLog)")

            let nowhere = "\(HTTP2Origin.host):\(FreePort.take())"
            let failed = try client.call(nowhere, through: proxy, ["ab"])
            #expect(failed.first?.hasPrefix("14 ") == true, "\(failed)")
        }
    }

    /// The source of a call's token, which gives none.
    enum Source: CaseIterable {
        /// An endpoint at whose port nothing listens.
        case deadEndpoint
        case brokenEndpoint
        case refusingEndpoint
        /// A helper at whose socket nothing listens.
        case deadSocket
        case slowProgram
        case emptyProgram

        /// Whether the same call may succeed later.
        var isTransient: Bool { self != .refusingEndpoint && self != .emptyProgram }

        /// The directives of the credential, and the port of the endpoint.
        func directives(_ tokens: TokenServer) throws -> (line: String, port: UInt16) {
            func grant(_ url: String) -> String { "oauth2 \(url); client-id c; client-secret file @/secret" }
            switch self {
            case .deadEndpoint:
                let port = FreePort.take()
                return (grant("http://127.0.0.1:\(port)/token"), port)
            case .brokenEndpoint: tokens.change { $0.answer = ("503 Service Unavailable", "") }
            case .refusingEndpoint: tokens.change { $0.answer = ("401 Unauthorized", "{\"error\":\"invalid_client\"}") }
            case .deadSocket: return ("helper plain unix:\(Scratch.folder("helper"))/none.sock", tokens.endpoint.port)
            case .slowProgram:
                return ("helper plain \(try HelperScript("tail -f /dev/null").path)", tokens.endpoint.port)
            case .emptyProgram: return ("helper plain \(try HelperScript("exit 1").path)", tokens.endpoint.port)
            }
            return (grant(tokens.url), tokens.endpoint.port)
        }
    }

    /// Clients may repeat a call that is UNAVAILABLE.
    @Test(arguments: Source.allCases)
    func `a token that cannot be had now is no refusal of the client`(source: Source) throws {
        let server = try GRPCServer(accepting: Self.freshToken())
        let tokens = try TokenServer()
        let (line, port) = try source.directives(tokens)
        let rules = """
            credential api { \(line) }
            timeouts { helper 1s }
            route 127.0.0.1:\(port) { tunnel }
            """
        try calling(rules, files: ["secret": "s3cret"]) { proxy throws in
            for client in GRPCClient.allCases.filter(\.isInstalled) {
                let lines = try client.call(server.authority, through: proxy, ["ab"])
                // UNAVAILABLE or UNAUTHENTICATED.
                let code = source.isTransient ? "14 " : "16 "
                #expect(lines.count == 1 && lines[0].hasPrefix(code), "\(lines)")
                #expect(lines[0].contains("api") || source == .emptyProgram, "\(lines)")
            }
            #expect(server.count(of: "bare") == server.verdicts.count)
            #expect(tokens.issued == 0)
        }
    }

    private static func head(_ authority: String, _ more: FieldList = []) -> FieldList {
        [(":method", "POST"), (":scheme", "http"), (":authority", authority), (":path", "/test/Unary")]
            + [("content-type", "application/grpc"), ("te", "trailers")] + more
    }

    /// The fields of the response on the stream, which must be its one frame.
    private static func refusal(on stream: UInt32, of client: FrameClient) throws -> [String] {
        #expect(try client.answer(on: stream) == .response(status: 200, text: ""))
        let frames = client.frames.filter { $0.stream == stream && $0.type < 2 }
        #expect(frames.count == 1 && frames[0].endsStream)
        return frames.first?.fields ?? []
    }

    @Test func `refusals at a listener are those of calls for calls alone`() throws {
        let origin = try RecordingOrigin.answering()
        let users = Scratch.folder("users") + "/users"
        try Scratch.write(try UsersLines.of("alice"), to: users, mode: 0o600)
        let clients = "allow 127.0.0.0/8; authenticate basic; users file \(users)"
        let authority = "127.0.0.1:\(origin.port)"
        try AttacheProcess.speakingHTTP2(clients: clients) { proxy, dialer throws in
            let client = try FrameClient(by: dialer)
            // The login of the client.
            try client.send(
                Frame.headers(1, Self.head(authority), ends: false) + Frame.data(1, "\0\0\0\0\0", ends: true))
            let fields = try Self.refusal(on: 1, of: client)
            #expect(
                fields.contains("grpc-status: 16") && fields.contains("content-type: application/grpc"), "\(fields)")
            #expect(fields.contains { $0.hasPrefix("grpc-message: ") && !$0.contains("\n") })
            #expect(fields.contains { $0.hasPrefix("proxy-status: ") })
            // Neither a tunnel nor a plain request is a call.
            try client.send(Frame.headers(3, [(":method", "CONNECT"), (":authority", authority)], ends: false))
            #expect(try client.answer(on: 3).status == 407)
            let plain = SmugglingCase.Origin(scheme: "http", authority: authority)
            try client.send(Frame.headers(5, plain.head()))
            #expect(try client.answer(on: 5).status == 407)
            // A request with too many fields.
            let many = (0..<200).map { ("x-\($0)", "y") }
            try client.send(Frame.headers(7, Self.head(authority, many)))
            #expect(try Self.refusal(on: 7, of: client).contains("grpc-status: 8"))
            #expect(
                Wait.until { proxy.accessLogLines.contains { $0.contains(#""status":431"#) } }, "\(proxy.accessLog)")
            #expect(proxy.accessLogLines.count { $0.contains(#""status":407"#) } == 3)
        }
    }

    @Test func `a destination that the rules forbid is a permission that is denied`() throws {
        try AttacheProcess.speakingHTTP2("route blocked.example { deny }\n") { proxy, dialer throws in
            let client = try FrameClient(by: dialer)
            try client.send(Frame.headers(1, Self.head("blocked.example")))
            let fields = try Self.refusal(on: 1, of: client)
            #expect(fields.contains("grpc-status: 7"), "\(fields)")
            #expect(
                Wait.until { proxy.accessLogLines.contains { $0.contains(#""status":403"#) } }, "\(proxy.accessLog)")
        }
    }

    // MARK: - The deadline of the client

    @Test func `a call whose server says nothing is answered at its deadline`() throws {
        let gate = Gate()
        let origin = try RecordingOrigin.answering { _, connection in
            gate.wait()
            try connection.reply(body: "late")
        }
        defer { gate.open() }
        try AttacheProcess.speakingHTTP2 { proxy, dialer throws in
            let client = try FrameClient(by: dialer)
            try client.send(Frame.headers(1, Self.head("127.0.0.1:\(origin.port)", [("grpc-timeout", "200m")])))
            let fields = try Self.refusal(on: 1, of: client)
            #expect(fields.contains("grpc-status: 4"), "\(fields)")
            #expect(
                Wait.until { proxy.accessLogLines.contains { $0.contains(#""status":504"#) } }, "\(proxy.accessLog)")
        }
    }

    @Test func `no question to an operator outlasts the deadline of a call`() throws {
        let origin = try RecordingOrigin.answering { _, connection in
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"x\""])
        }
        try AttacheProcess.speakingHTTP2("challenge { host 127.0.0.1; ask }\n") { proxy, dialer throws in
            let client = try FrameClient(by: dialer)
            try client.send(Frame.headers(1, Self.head("127.0.0.1:\(origin.port)", [("grpc-timeout", "300000u")])))
            let fields = try Self.refusal(on: 1, of: client)
            #expect(fields.contains("grpc-status: 4"), "\(fields)")
            // It was asked, and the client without a deadline still waits.
            #expect(origin.messages.count == 1)
            try client.send(Frame.headers(3, Self.head("127.0.0.1:\(origin.port)")))
            #expect(Wait.until { origin.messages.count == 2 })
            try client.send(Frame.reset(3))
            #expect(Wait.until { proxy.accessLogLines.count == 2 }, "\(proxy.accessLog)")
            #expect(proxy.accessLogLines.first?.contains(#""status":504"#) == true)
        }
    }
}
