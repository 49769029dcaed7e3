import Bytes
import COpenSSL
import Model
import Testing

@testable import TLS

/// A server that wants a certificate only when it has seen the request: Apache's `SSLVerifyClient` in a Location, IIS.
@Suite struct LaterIdentityTests {
    @Test(arguments: [true, false])
    func `Since TLS 1.3 a server may ask after the handshake`(isGiven: Bool) throws {
        let talk = try shaken(.v13, isGiven: isGiven)
        SSL_set_verify(talk.server.handle, SSL_VERIFY_PEER, acceptingAll)
        #expect(SSL_verify_client_post_handshake(talk.server.handle) == 1)
        #expect(SSL_do_handshake(talk.server.handle) == 1)
        #expect(!talk.client.isReadable)
        #expect(talk.client.identityAnswer == (isGiven ? .shown : .declined))
        #expect(try Conversation.pass("hello", from: talk.client, to: talk.server) == "hello")
        #expect(talk.server.clientChain?.leaf.description == (isGiven ? "CN=client.example.test" : nil))
    }

    @Test(arguments: [true, false])
    func `Before, it renegotiates, and the trust that it has stays`(isGiven: Bool) throws {
        let talk = try shaken(.v12, isGiven: isGiven)
        try renegotiate(talk)
        #expect(talk.client.identityAnswer == (isGiven ? .shown : .declined))
        #expect(talk.questions.count == 2)
        #expect(try Conversation.pass("hello", from: talk.client, to: talk.server) == "hello")
        #expect(try Conversation.pass("welcome", from: talk.server, to: talk.client) == "welcome")
        #expect(talk.server.clientChain?.leaf.description == (isGiven ? "CN=client.example.test" : nil))
    }

    @Test func `A server that renegotiates as somebody else is left`() throws {
        let talk = try shaken(.v12, isGiven: true)
        talk.server.setIdentity(try TestIdentity.other())
        #expect(throws: TLSError.serverChanged) { try renegotiate(talk) }
        #expect(talk.client.identityAnswer == .notRequested)
    }

    @Test func `A client may not renegotiate with us`() throws {
        let talk = try shaken(.v12, isGiven: false)
        #expect(SSL_renegotiate(talk.client.handle) == 1)
        SSL_do_handshake(talk.client.handle)
        #expect(Conversation.read(talk.server) == .wouldBlock)
        _ = Conversation.read(talk.client)
        #expect(talk.client.failure == .peer(reason: "no renegotiation"))
    }

    @Test func `A server that insists on a certificate which we do not give says so, and is understood`() throws {
        let talk = try shaken(.v13, isGiven: false)
        SSL_set_verify(talk.server.handle, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, acceptingAll)
        #expect(SSL_verify_client_post_handshake(talk.server.handle) == 1)
        #expect(SSL_do_handshake(talk.server.handle) == 1)
        _ = Conversation.read(talk.client)
        _ = Conversation.read(talk.server)
        _ = Conversation.read(talk.client)
        #expect(talk.client.failure == .identityWanted(.certificateRequired))
    }

    private func shaken(_ version: TLSVersion, isGiven: Bool) throws -> Conversation {
        let talk = try Conversation(client: ClientTLSContext.Settings(maximum: version), server: plainServer()) { _ in
            isGiven ? try? TestIdentity.client() : nil
        }
        try talk.shake()
        return talk
    }

    private func renegotiate(_ talk: Conversation) throws {
        SSL_set_verify(talk.server.handle, SSL_VERIFY_PEER, acceptingAll)
        SSL_clear_options(talk.server.handle, tls_option_no_renegotiation)
        SSL_set_options(talk.server.handle, 1 << 16)  // SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION
        #expect(SSL_renegotiate(talk.server.handle) == 1)
        #expect(SSL_do_handshake(talk.server.handle) == 1)
        for _ in 0..<10 {
            _ = Conversation.read(talk.client)
            _ = Conversation.read(talk.server)
            if let failure = talk.client.failure { throw failure }
        }
        #expect(SSL_renegotiate_pending(talk.server.handle) == 0)
    }
}

/// The verification of a server that has no rule about its clients.
private let acceptingAll: @convention(c) (Int32, OpaquePointer?) -> Int32 = { _, _ in 1 }
