import Foundation
import TestSupport

/// A server of gRPC, by Python, with all kinds of calls. It takes the logins that a file lists.
final class GRPCServer {
    let port: String
    /// The environment in which `python3` finds gRPC.
    let environment: [String: String]
    private let server: Subprocess
    private let logins: String

    private static let script = """
        import grpc, os, sys, threading
        from concurrent import futures
        key, chain, logins = sys.argv[1:]
        def check(context):
            sent = dict(context.invocation_metadata()).get('authorization')
            if sent not in open(logins).read().splitlines():
                os.write(1, b'refused\\n' if sent else b'bare\\n')
                context.abort(grpc.StatusCode.UNAUTHENTICATED, 'no token')
            os.write(1, b'accepted\\n')
        def unary(request, context):
            check(context)
            if request == b'slow':
                over = threading.Event()
                context.add_callback(over.set)
                if over.wait(60): os.write(1, b'over\\n')
            if request == b'late':
                context.send_initial_metadata((('x-early', 'here'),))
                context.abort(grpc.StatusCode.UNAUTHENTICATED, 'too late')
            if request == b'fail': context.abort(grpc.StatusCode.FAILED_PRECONDITION, 'as asked')
            if request == b'forbid': context.abort(grpc.StatusCode.PERMISSION_DENIED, 'not you')
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
            os.write(1, b'%d\\n' % server.add_secure_port('127.0.0.1:0', credentials))
        else:
            os.write(1, b'%d\\n' % server.add_insecure_port('127.0.0.1:0'))
        server.start()
        server.wait_for_termination()
        """

    /// - Parameters:
    ///   - token: the one that it takes, or another login with its scheme.
    ///   - isSecure: whether it speaks TLS; if not, HTTP/2 with prior knowledge.
    init(accepting token: String, isSecure: Bool = true) throws {
        environment = try PythonPackages.grpcEnvironment()
        let identity = try ServerIdentity(Hierarchy.shared().issuing.issue(CertificateTerms(host: HTTP2Origin.host)))
        let files = isSecure ? [identity.leaf.key, identity.chain] : ["", ""]
        let folder = Scratch.folder("grpc")
        logins = folder + "/logins"
        try Scratch.write(Self.script, to: folder + "/server.py")
        try Scratch.write(Self.login(token), to: logins)
        let server = try Subprocess(
            "python3", [folder + "/server.py"] + files + [logins], environment: environment, directory: folder)
        guard Wait.until(seconds: 60, { server.output.hasSuffix("\n") }),
            let port = server.output.split(separator: "\n").first
        else { throw Spawn.Failure(description: server.errorOutput) }
        (self.server, self.port) = (server, String(port))
    }

    var authority: String { "\(HTTP2Origin.host):\(port)" }

    /// Takes that token from now on, and no other.
    func accept(_ token: String) throws { try Scratch.write(Self.login(token), to: logins) }

    private static func login(_ token: String) -> String { token.contains(" ") ? token : "Bearer \(token)" }

    /// The verdicts on the calls so far, in their order: `accepted`, `refused`, or `bare` for a call without a token. The end
    /// of a slow call, by its client or its deadline, is `over`.
    var verdicts: [String] { server.output.split(separator: "\n").dropFirst().map(String.init) }

    func count(of verdict: String) -> Int { verdicts.count { $0 == verdict } }
}
