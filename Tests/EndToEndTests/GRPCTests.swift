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
        if key:
            credentials = grpc.ssl_server_credentials([(open(key, 'rb').read(), open(chain, 'rb').read())])
            print(server.add_secure_port('127.0.0.1:0', credentials), flush=True)
        else:
            print(server.add_insecure_port('127.0.0.1:0'), flush=True)
        server.start()
        server.wait_for_termination()
        """

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

    /// A way to the server: by TLS, or by HTTP/2 with prior knowledge in a tunnel to a name or an address.
    enum Way: CaseIterable {
        case secure, clear, address

        var host: String { self == .address ? "127.0.0.1" : HTTP2Origin.host }
        var route: String { self == .secure ? "" : "route \(host) { intercept }" }
    }

    /// The client has the token itself where no rule may send it unasked: without TLS, to another machine.
    @Test(arguments: Way.allCases)
    func `a client that knows no token calls a server that wants one`(way: Way) throws {
        let environment = try PythonPackages.grpcEnvironment()
        let identity = try ServerIdentity(Hierarchy.shared().issuing.issue(CertificateTerms(host: HTTP2Origin.host)))
        let folder = Scratch.folder("grpc")
        try Scratch.write(Self.server, to: folder + "/server.py")
        let token = "grpc-token-\(UUID().uuidString)"
        let files = way == .secure ? [identity.leaf.key, identity.chain] : ["", ""]
        let server = try Subprocess(
            "python3", [folder + "/server.py"] + files + [token], environment: environment, directory: folder)
        #expect(Wait.until(seconds: 60) { server.output.hasSuffix("\n") }, "\(server.errorOutput)")
        let port = server.output.trimmingCharacters(in: .whitespacesAndNewlines)
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
            let proxied = environment.merging([
                "https_proxy": proxy.address, "GRPC_VERBOSITY": "ERROR",
            ]) { $1 }
            let authority = way == .secure ? try proxy.exportedAuthority() : ""
            let run = try Finished.run(
                "python3", ["-c", Self.client, "\(way.host):\(port)", authority, way == .clear ? token : ""],
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
        let environment = try PythonPackages.grpcEnvironment()
        let folder = Scratch.folder("grpc")
        try Scratch.write(Self.server, to: folder + "/server.py")
        let server = try Subprocess(
            "python3", [folder + "/server.py", "", "", "token"], environment: environment, directory: folder)
        #expect(Wait.until(seconds: 60) { server.output.hasSuffix("\n") }, "\(server.errorOutput)")
        let port = server.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let call = """
            import grpc, sys
            call = grpc.insecure_channel(sys.argv[1]).unary_unary('/test/Unary')
            print(call(b'hello', timeout=30, metadata=[('authorization', 'Bearer token')]).decode())
            """
        let route = "route \(HTTP2Origin.host) { intercept; http2 no }\n"
        try AttacheProcess.visitingZoo(route) { proxy throws in
            let proxied = environment.merging(["https_proxy": proxy.address, "GRPC_VERBOSITY": "ERROR"]) { $1 }
            let run = try Finished.run(
                "python3", ["-c", call, "\(HTTP2Origin.host):\(port)"], environment: proxied, seconds: 120)
            #expect(run.output == "olleh\n", "\(run)")
            #expect(Wait.until { proxy.accessLog.contains(#""tunnel":"opaque""#) }, "\(proxy.accessLog)")
            #expect(try proxy.metric("attache_http2_streams_total") == 0)
        }
    }
}
