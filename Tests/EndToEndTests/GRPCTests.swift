import Foundation
import TestSupport
import Testing

/// Calls of gRPC through an intercepted tunnel: a real client and a real server.
struct GRPCTests {
    /// A server with all kinds of calls, which wants a token. It prints its port.
    private static let server = """
        import grpc, sys, threading
        from concurrent import futures
        key, chain, token = sys.argv[1:]
        def check(context):
            sent = dict(context.invocation_metadata()).get('authorization')
            if sent != 'Bearer ' + token:
                context.abort(grpc.StatusCode.UNAUTHENTICATED, 'no token')
        def unary(request, context):
            check(context)
            if request == b'slow': threading.Event().wait(5)
            if request == b'fail': context.abort(grpc.StatusCode.FAILED_PRECONDITION, 'as asked')
            context.set_trailing_metadata((('x-trailer', 'here'),))
            return request[::-1] if len(request) < 100 else str(len(request)).encode()
        def many(request, context):
            check(context)
            for n in range(int(request)):
                yield b'%d' % n
        def sum_up(requests, context):
            check(context)
            return b'%d' % sum(int(r) for r in requests)
        def talk(requests, context):
            check(context)
            for request in requests:
                yield b're: ' + request
        class Calls(grpc.GenericRpcHandler):
            def service(self, details):
                return {
                    '/test/Unary': grpc.unary_unary_rpc_method_handler(unary),
                    '/test/Many': grpc.unary_stream_rpc_method_handler(many),
                    '/test/Sum': grpc.stream_unary_rpc_method_handler(sum_up),
                    '/test/Talk': grpc.stream_stream_rpc_method_handler(talk),
                }.get(details.method)
        server = grpc.server(futures.ThreadPoolExecutor(32))
        server.add_generic_rpc_handlers((Calls(),))
        credentials = grpc.ssl_server_credentials([(open(key, 'rb').read(), open(chain, 'rb').read())])
        print(server.add_secure_port('127.0.0.1:0', credentials), flush=True)
        server.start()
        server.wait_for_termination()
        """

    private static let client = """
        import grpc, queue, sys, threading, time
        target, authority = sys.argv[1:]
        channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(open(authority, 'rb').read()))
        unary = channel.unary_unary('/test/Unary')
        answer, call = unary.with_call(b'hello', timeout=30)
        print(answer.decode(), dict(call.trailing_metadata()).get('x-trailer'))
        print(unary(b'x' * 3000000, timeout=30).decode())
        print([m.decode() for m in channel.unary_stream('/test/Many')(b'5', timeout=30)])
        print(sum(1 for m in channel.unary_stream('/test/Many')(b'3000', timeout=30)))
        print(channel.stream_unary('/test/Sum')((b'%d' % n for n in range(1000)), timeout=30).decode())
        # Each message waits for the answer to the one before.
        sent, answers = queue.Queue(), []
        talk = channel.stream_stream('/test/Talk')(iter(sent.get, None), timeout=30)
        for n in range(20):
            sent.put(b'%d' % n)
            answers.append(next(talk).decode())
        sent.put(None)
        print(answers[-1], len(answers), list(talk))
        for text, limit in [(b'fail', 30), (b'slow', 1)]:
            try:
                unary(text, timeout=limit)
            except grpc.RpcError as error:
                print(error.code().name, error.details() if text == b'fail' else '')
        call = channel.stream_stream('/test/Talk')(iter(queue.Queue().get, None))
        threading.Timer(0.5, call.cancel).start()
        try:
            next(call)
        except grpc.RpcError as error:
            print(error.code().name)
        calls = [unary.future(b'%d' % n, timeout=30) for n in range(200)]
        print(sum(1 for n, c in enumerate(calls) if c.result().decode() == str(n)[::-1]))
        """

    @Test func `a client that knows no token calls a server that wants one`() throws {
        let environment = try PythonPackages.grpcEnvironment()
        let identity = try ServerIdentity(Hierarchy.shared().issuing.issue(CertificateTerms(host: HTTP2Origin.host)))
        let folder = Scratch.folder("grpc")
        try Scratch.write(Self.server, to: folder + "/server.py")
        let token = "grpc-token-\(UUID().uuidString)"
        let server = try Subprocess(
            "python3", [folder + "/server.py", identity.leaf.key, identity.chain, token], environment: environment,
            directory: folder)
        #expect(Wait.until(seconds: 60) { server.output.hasSuffix("\n") }, "\(server.errorOutput)")
        let port = server.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let rules = """
            credential api { token file @/token }
            challenge { host \(HTTP2Origin.host); secure yes; method bearer; preempt always; use api }

            """
        let setting = AttacheProcess.Setting(threads: 1, files: ["token": token + "\n"])
        try AttacheProcess.visitingZoo(rules, setting: setting) { proxy throws in
            let proxied = environment.merging([
                "https_proxy": proxy.address, "GRPC_VERBOSITY": "ERROR",
            ]) { $1 }
            let run = try Finished.run(
                "python3", ["-c", Self.client, "\(HTTP2Origin.host):\(port)", try proxy.exportedAuthority()],
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
            #expect(try proxy.metric("attache_upstream_http2_connections_total") <= 2)
        }
    }
    // MARK: - The proxy's own refusals

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
            try client.send(Frame.headers(5, SmugglingCase.head(authority)))
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
