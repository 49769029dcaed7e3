import Bytes
import COpenSSL
import Crypto
import Model
import Testing

@testable import TLS

@Suite struct HandshakeTests {
    @Test(arguments: [TLSVersion.v12, .v13])
    func `Both sides agree, and say what they agreed on`(version: TLSVersion) throws {
        let talk = try Conversation(client: ClientTLSContext.Settings(maximum: version), server: plainServer())
        try talk.shake()
        #expect(talk.questions == ["identity server.example.test", "trust CN=server.example.test"])
        for side in [talk.client, talk.server] {
            #expect(side.version == version)
            #expect(side.applicationProtocol == "http/1.1")
            #expect(side.serverName == "server.example.test")
            #expect(!side.isResumed)
        }
        #expect(talk.client.cipher?.contains("AES_128_GCM") == true)
        #expect(try Conversation.pass("hello", from: talk.client, to: talk.server) == "hello")
        #expect(try Conversation.pass("welcome", from: talk.server, to: talk.client) == "welcome")
    }

    @Test func `A server that is an address is given no name`() throws {
        let talk = try Conversation(server: plainServer(), name: .address(IPAddress(v4: 0x7f00_0001)))
        try talk.shake()
        #expect(talk.questions.first == "identity -")
    }

    @Test(arguments: [TLSVersion.v12, .v13])
    func `While the server is judged nothing is sent, and a client certificate is not even chosen`(
        version: TLSVersion
    ) throws {
        var choices = 0
        let context = try ServerTLSContext(
            ServerTLSContext.Settings(clientCertificates: .requested(issuers: [], isTrusted: { _ in true })))
        let talk = try Conversation(client: ClientTLSContext.Settings(maximum: version), server: context) { _ in
            choices += 1
            return try? TestIdentity.client()
        }
        var asked: PresentedChain?
        while asked == nil {
            if case .serverTrust(let chain) = try talk.client.handshake() { asked = chain }
            _ = try talk.step(talk.server)
        }
        let sent = talk.clientEnd.sent.count
        for _ in 0..<3 {
            guard case .serverTrust = try talk.client.handshake() else {
                Issue.record("the handshake went on")
                return
            }
            _ = try talk.step(talk.server)
        }
        #expect(talk.clientEnd.sent.count == sent)
        #expect(choices == 0)
        talk.client.trust(try Conversation.trusting(#require(asked)))
        try talk.shake()
        #expect(choices == 1)
        #expect(talk.client.identityAnswer == .shown)
        #expect(talk.server.clientChain?.leaf.description == "CN=client.example.test")
    }

    @Test(arguments: [TLSVersion.v12, .v13])
    func `A server that is refused hears why`(version: TLSVersion) throws {
        let talk = try Conversation(client: ClientTLSContext.Settings(maximum: version), server: plainServer())
        talk.judges = { _ in nil }
        #expect(throws: TLSError.trustRefused) { try talk.shake() }
        #expect(throws: TLSError.alert(.badCertificate)) {
            while try !talk.step(talk.server) {}
        }
        #expect(throws: TLSError.trustRefused) { try talk.client.handshake() }
        #expect(talk.client.failure == .trustRefused)
        #expect(Conversation.read(talk.client) != .wouldBlock)
    }

    @Test func `A client that speaks only other protocols is refused by an alert`() throws {
        let talk = try Conversation(
            client: ClientTLSContext.Settings(applicationProtocols: ["h2"]), server: plainServer())
        #expect(throws: TLSError.self) { while try !talk.step(talk.client), try !talk.step(talk.server) {} }
        #expect(throws: TLSError.alert(TLSAlert(rawValue: 120))) { while try !talk.step(talk.client) {} }
    }

    @Test func `A name that nobody has a certificate for ends the handshake on both sides`() throws {
        let talk = try Conversation(server: plainServer())
        talk.identity = nil
        #expect(throws: TLSError.noIdentity(serverName: "server.example.test")) { try talk.shake() }
        #expect(throws: TLSError.alert(TLSAlert(rawValue: 80))) { while try !talk.step(talk.client) {} }
    }

    @Test func `A client of an older time is refused by name`() throws {
        let talk = try Conversation(
            client: ClientTLSContext.Settings(minimum: .v10, maximum: .v11), server: plainServer())
        #expect(throws: TLSError.peer(reason: "unsupported protocol")) { try talk.shake() }
        #expect(throws: TLSError.alert(TLSAlert(rawValue: 70))) { while try !talk.step(talk.client) {} }
    }

    @Test func `What is no TLS is called so`() throws {
        let (near, far) = MemoryTransport.pair()
        let server = try TLSConnection(server: plainServer(), over: near)
        _ = far.write(Array("GET / HTTP/1.1\r\n\r\n".utf8).span.bytes)
        #expect(throws: TLSError.peer(reason: "the peer does not speak TLS")) { try server.handshake() }
    }

    @Test(arguments: [TLSVersion.v12, .v13])
    func `A client certificate is judged in the handshake`(version: TLSVersion) throws {
        let issuer = try #require(try TestIdentity.client().leaf.issuer)
        let context = try ServerTLSContext(
            ServerTLSContext.Settings(clientCertificates: .requested(issuers: [issuer], isTrusted: { _ in false })))
        var offered: [DistinguishedName] = []
        let talk = try Conversation(client: ClientTLSContext.Settings(maximum: version), server: context) {
            offered = $0
            return try? TestIdentity.client()
        }
        #expect(throws: TLSError.clientRefused) { try talk.shake() }
        #expect(offered.map(\.description) == ["CN=client.example.test"])
        #expect(throws: TLSError.alert(.badCertificate)) {
            while try !talk.step(talk.client) {}
            _ = Conversation.read(talk.client)
            throw talk.client.failure ?? .truncated
        }
    }

    @Test func `Bytes that were read to look at them come first`() throws {
        let talk = try Conversation(server: plainServer())
        _ = try talk.step(talk.client)
        let earlier = ByteBuffer(capacity: 64)
        earlier.append(talk.serverEnd.takeAll())
        let server = try TLSConnection(
            server: plainServer(), over: talk.serverEnd, after: earlier, identity: TestIdentity.server())
        #expect(earlier.isEmpty)
        var isDone = false
        for _ in 0..<10 where !isDone {
            let mine = try talk.step(server)
            isDone = try talk.step(talk.client) && mine
        }
        #expect(isDone)
    }

    @Test func `The channel binding is the hash of the server's certificate`() throws {
        let talk = try Conversation(server: plainServer())
        try talk.shake()
        let der = try TestIdentity.server().leaf.der
        let hash = MessageDigest.digest(.sha256, of: der.span)
        #expect(talk.client.serverEndPointBinding == hash.array)
        #expect(talk.server.serverEndPointBinding == hash.array)
    }

    @Test(arguments: [TLSVersion.v12, .v13])
    func `Errors of OpenSSL's that a decision leaves behind are not the connection's`(version: TLSVersion) throws {
        let context = try ServerTLSContext(
            ServerTLSContext.Settings(clientCertificates: .requested(issuers: []) { _ in Self.fail() }))
        let talk = try Conversation(client: ClientTLSContext.Settings(maximum: version), server: context) { _ in
            Self.fail() ? try? TestIdentity.client() : nil
        }
        try talk.shake()
        #expect(try Conversation.pass("hello", from: talk.client, to: talk.server) == "hello")
        #expect(talk.server.clientChain != nil)
    }

    private static func fail() -> Bool { BIO_new_file("/nowhere/at/all", "r") == nil && ERR_peek_error() != 0 }
}

extension TLSConnection {
    /// The protocol agreed on by ALPN.
    fileprivate var applicationProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(handle, &start, &count)
        guard let start, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }
}
