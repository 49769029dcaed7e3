import Bytes
import IO
import Synchronization
import TLS
import TestSupport
import Testing
import Transport

/// Our server's side against `openssl s_client`.
@Suite(.timeLimit(.minutes(30))) struct ClientPeerTests {
    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `A client is served, by the name that it wants, and hears the end`(version: String) async throws {
        let server = try await EchoServer()
        let peer = try OpenSSLPeer(
            "s_client -connect 127.0.0.1:\(server.port) -servername server.example.test -alpn http/1.1,h2 \(version)"
                + " -ign_eof -CAfile server.pem -verify_return_error")
        try peer.console.waits(for: "Verify return code: 0 (ok)")
        peer.console.type("hello\n")
        let output = try peer.console.waits(for: "you said hello")
        #expect(output.contains("ALPN protocol: http/1.1"))
        #expect(output.contains("CN = server.example.test"))
        try peer.console.waits(for: "closed")
        #expect(!peer.console.output.contains("unexpected eof"))
        #expect(server.names == ["server.example.test"])
    }

    @Test(arguments: ["-tls1_2"])
    func `A client that comes back is known`(version: String) async throws {
        let server = try await EchoServer()
        let peer = try OpenSSLPeer("s_client -connect 127.0.0.1:\(server.port) \(version) -reconnect -ign_eof")
        try peer.console.waits(for: "Reused, TLSv1.2", count: 5)
        #expect(server.names.count == 1)
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `A client may show a certificate, which is judged`(version: String) async throws {
        let issuer = try #require(identity(TestPEM.client)?.leaf.subject)
        let server = try await EchoServer(
            .requested(issuers: [issuer]) { $0.leaf.description == "CN=client.example.test" })
        let known = try OpenSSLPeer(
            "s_client -connect 127.0.0.1:\(server.port) \(version) -ign_eof -cert client.pem -key client.pem")
        known.console.type("hello\n")
        let output = try known.console.waits(for: "you said hello")
        #expect(output.contains("Acceptable client certificate CA names\nCN = client.example.test"))
        let unknown = try OpenSSLPeer(
            "s_client -connect 127.0.0.1:\(server.port) \(version) -ign_eof -cert other.pem -key other.pem")
        try unknown.console.waits(for: "alert bad certificate")
        let nobody = try OpenSSLPeer("s_client -connect 127.0.0.1:\(server.port) \(version) -ign_eof")
        nobody.console.type("hello\n")
        try nobody.console.waits(for: "you said hello")
        #expect(server.clients == ["CN=client.example.test", "nobody"])
    }

    @Test func `A client may not renegotiate`() async throws {
        let server = try await EchoServer()
        let peer = try OpenSSLPeer("s_client -connect 127.0.0.1:\(server.port) -tls1_2")
        try peer.console.waits(for: "Verify return code")
        peer.console.type("R\n")
        try peer.console.waits(for: "no renegotiation")
    }
}

/// Answers one line with another, and says goodbye.
private final class EchoServer: Sendable {
    private let seen = Mutex<(names: [String], clients: [String])>(([], []))
    private let kept = Mutex<LoopBound<Listener>?>(nil)
    let port: UInt16

    var names: [String] { seen.withLock { $0.names } }
    var clients: [String] { seen.withLock { $0.clients } }

    init(_ certificates: ServerTLSContext.Settings.ClientCertificates = .notRequested) async throws {
        let context = try ServerTLSContext(ServerTLSContext.Settings(clientCertificates: certificates))
        let relay = Mutex<(@Sendable (Int32, EventLoop) -> Void)?>(nil)
        let box = Box(relay)
        let (listener, port) = try await onLoop { loop in
            let listener = try Listener(SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop) { connection in
                box.relay.withLock { $0 }?(connection.descriptor, loop)
            }
            return (LoopBound(listener, to: loop), listener.address.port)
        }
        self.port = port
        kept.withLock { $0 = listener }
        box.relay.withLock {
            $0 = { [weak self] descriptor, loop in
                loop.spawn { await self?.serve(descriptor, context, on: loop) }
            }
        }
    }

    private func serve(_ descriptor: Int32, _ context: ServerTLSContext, on loop: EventLoop) async {
        guard let stream = try? ByteStream(takingOwnership: descriptor, on: loop) else { return }
        stream.wakeup = Wakeup()
        defer { stream.close() }
        do {
            try await stream.accept(as: context, within: 5000) { name in
                self.seen.withLock { $0.names.append(name ?? "-") }
                return identity(TestPEM.server)
            }
            let line = try await stream.hears("\n")
            seen.withLock { $0.clients.append(stream.tls?.clientChain?.leaf.description ?? "nobody") }
            try await stream.say("you said \(line)")
        } catch {}
    }

    private final class Box: Sendable {
        let relay: Mutex<(@Sendable (Int32, EventLoop) -> Void)?>
        init(_ relay: consuming Mutex<(@Sendable (Int32, EventLoop) -> Void)?>) { self.relay = relay }
    }
}
