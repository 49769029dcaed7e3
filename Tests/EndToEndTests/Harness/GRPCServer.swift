import Foundation
import TestSupport

/// A server of gRPC, by Python, with all kinds of calls. It takes the tokens that a file lists.
final class GRPCServer {
    let port: String
    /// The environment in which `python3` finds gRPC.
    let environment: [String: String]
    private let server: Subprocess
    private let tokens: String

    private static let script = """
        import grpc, os, sys, threading
        from concurrent import futures
        key, chain, tokens = sys.argv[1:]
        def check(context):
            sent = dict(context.invocation_metadata()).get('authorization')
            if sent not in ['Bearer ' + token for token in open(tokens).read().split()]:
                os.write(1, b'refused\\n' if sent else b'bare\\n')
                context.abort(grpc.StatusCode.UNAUTHENTICATED, 'no token')
            os.write(1, b'accepted\\n')
        def unary(request, context):
            check(context)
            if request == b'slow': threading.Event().wait(5)
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

    /// - Parameter isSecure: whether it speaks TLS; if not, HTTP/2 with prior knowledge.
    init(accepting token: String, isSecure: Bool = true) throws {
        environment = try PythonPackages.grpcEnvironment()
        let identity = try ServerIdentity(Hierarchy.shared().issuing.issue(CertificateTerms(host: HTTP2Origin.host)))
        let files = isSecure ? [identity.leaf.key, identity.chain] : ["", ""]
        let folder = Scratch.folder("grpc")
        tokens = folder + "/tokens"
        try Scratch.write(Self.script, to: folder + "/server.py")
        try Scratch.write(token, to: tokens)
        let server = try Subprocess(
            "python3", [folder + "/server.py"] + files + [tokens], environment: environment, directory: folder)
        guard Wait.until(seconds: 60, { server.output.hasSuffix("\n") }),
            let port = server.output.split(separator: "\n").first
        else { throw Spawn.Failure(description: server.errorOutput) }
        (self.server, self.port) = (server, String(port))
    }

    var authority: String { "\(HTTP2Origin.host):\(port)" }

    /// Takes that token from now on, and no other.
    func accept(_ token: String) throws { try Scratch.write(token, to: tokens) }

    /// The verdicts on the calls so far, in their order: `accepted`, `refused`, or `bare` for a call without a token.
    var verdicts: [String] { server.output.split(separator: "\n").dropFirst().map(String.init) }

    func count(of verdict: String) -> Int { verdicts.count { $0 == verdict } }
}

/// Clients of gRPC in two languages, which have nothing in common. Each makes unary calls with the texts of its command line,
/// and prints the answers or codes.
enum GRPCClient: CaseIterable {
    case python, go

    private static let sources = "/usr/share/gocode/src/google.golang.org/grpc"

    var isInstalled: Bool {
        switch self {
        case .python: true
        case .go: access(Self.sources, R_OK) == 0 && (try? Spawn.executable("go")) != nil
        }
    }

    /// The code as the client prints it, for example `PermissionDenied`.
    func name(of code: String) -> String {
        switch self {
        case .python: code
        case .go: code.split(separator: "_").map(\.capitalized).joined()
        }
    }

    /// Calls the server through the proxy.
    func call(_ authority: String, through proxy: AttacheProcess, _ texts: [String]) throws -> [String] {
        let words = [authority, try proxy.exportedAuthority()] + texts
        let (name, arguments) =
            self == .python ? ("python3", ["-c", Self.pythonScript] + words) : (try Self.program.get(), words)
        let environment = try PythonPackages.grpcEnvironment().merging([
            "https_proxy": proxy.address, "GRPC_VERBOSITY": "ERROR",
        ]) { $1 }
        let run = try Finished.run(name, arguments, environment: environment, seconds: 120)
        guard run.succeeded else { throw Spawn.Failure(description: run.description) }
        return run.output.split(separator: "\n").map(String.init)
    }

    private static let pythonScript = """
        import grpc, sys
        credentials = grpc.ssl_channel_credentials(open(sys.argv[2], 'rb').read())
        call = grpc.secure_channel(sys.argv[1], credentials).unary_unary('/test/Unary')
        for text in sys.argv[3:]:
            try:
                print('OK', call(text.encode(), timeout=60).decode())
            except grpc.RpcError as error:
                print(error.code().name, error.details())
        """

    /// The program in Go, built once for a run from the packages of the distribution.
    private static let program = Result { () throws -> String in
        let folder = Scratch.folder("grpc-go")
        try Scratch.write(goSource, to: folder + "/main.go")
        let run = try Finished.run(
            "go", ["build", "-o", "client", "main.go"],
            environment: [
                "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": folder + "/cache", "GOFLAGS": "",
            ], directory: folder, seconds: 600)
        guard run.succeeded else { throw Spawn.Failure(description: run.description) }
        return folder + "/client"
    }

    private static let goSource = """
        package main

        import (
        	"context"
        	"crypto/tls"
        	"crypto/x509"
        	"fmt"
        	"os"
        	"time"

        	"google.golang.org/grpc"
        	"google.golang.org/grpc/credentials"
        	"google.golang.org/grpc/status"
        )

        type raw struct{}

        func (raw) Marshal(v interface{}) ([]byte, error) { return *(v.(*[]byte)), nil }
        func (raw) Unmarshal(data []byte, v interface{}) error {
        	*(v.(*[]byte)) = append([]byte{}, data...)
        	return nil
        }
        func (raw) Name() string { return "raw" }

        func main() {
        	authority, err := os.ReadFile(os.Args[2])
        	if err != nil {
        		panic(err)
        	}
        	roots := x509.NewCertPool()
        	roots.AppendCertsFromPEM(authority)
        	secure := grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: roots}))
        	connection, err := grpc.Dial(os.Args[1], secure)
        	if err != nil {
        		panic(err)
        	}
        	for _, text := range os.Args[3:] {
        		limit, cancel := context.WithTimeout(context.Background(), time.Minute)
        		request, answer := []byte(text), []byte{}
        		err := connection.Invoke(limit, "/test/Unary", &request, &answer, grpc.ForceCodec(raw{}))
        		cancel()
        		if err == nil {
        			fmt.Println("OK", string(answer))
        		} else {
        			fmt.Println(status.Code(err), status.Convert(err).Message())
        		}
        	}
        }
        """
}
