import Bytes
import COpenSSL
import Glibc
import Model
import Testing

@testable import TLS

@Suite struct RecordTests {
    @Test(arguments: [TLSVersion.v12, .v13])
    func `One byte at a time comes to the same`(version: TLSVersion) throws {
        let talk = try Conversation(client: ClientTLSContext.Settings(maximum: version), server: plainServer())
        for end in [talk.clientEnd, talk.serverEnd] {
            end.readLimit = 1
            end.capacity = 1
        }
        try talk.shake()
        let text = String(repeating: "0123456789", count: 200)
        #expect(try Conversation.pass(text, from: talk.client, to: talk.server) == text)
        #expect(try Conversation.pass(text, from: talk.server, to: talk.client) == text)
    }

    @Test func `A record costs one read of the transport`() throws {
        let talk = try shaken()
        let outgoing = ByteBuffer(capacity: 16_384)
        for place in 0..<16_384 { outgoing.append(UInt8(truncatingIfNeeded: place)) }
        #expect(talk.server.write(from: outgoing) == .moved(16_384))
        let before = talk.clientEnd.reads
        #expect(Conversation.read(talk.client) == .moved(16_384))
        #expect(talk.clientEnd.reads == before + 1)
    }

    @Test func `What the transport refuses is offered again, and arrives once and in order`() throws {
        let talk = try shaken()
        talk.clientEnd.capacity = 1000
        let outgoing = ByteBuffer(capacity: 100_000)
        for place in 0..<100_000 { outgoing.append(UInt8(truncatingIfNeeded: place &* 31 &+ place >> 8)) }
        let incoming = ByteBuffer(capacity: 200_000)
        #expect(talk.client.write(from: outgoing) == .wouldBlock)
        #expect(outgoing.count == 100_000)
        for _ in 0..<10_000 where incoming.count < 100_000 {
            _ = talk.client.write(from: outgoing, limit: 7000)
            _ = talk.server.read(into: incoming)
        }
        #expect(outgoing.isEmpty)
        #expect(incoming.count == 100_000)
        #expect((0..<100_000).allSatisfy { incoming.readable[$0] == UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    }

    @Test(arguments: [TLSVersion.v12, .v13])
    func `A connection is at its end when all was read that came before`(version: TLSVersion) throws {
        let talk = try shaken(version)
        #expect(!talk.server.isAtEnd)
        let words = ByteBuffer(capacity: 8)
        words.append("last" as StaticString)
        #expect(talk.client.write(from: words) == .moved(4))
        talk.client.shutdownWrite()
        #expect(!talk.server.isAtEnd)
        #expect(Conversation.read(talk.server) == .moved(4))
        #expect(talk.server.isAtEnd)
    }

    @Test(arguments: [TLSVersion.v12, .v13])
    func `An orderly end is told from a broken connection, and leaves the other direction open`(
        version: TLSVersion
    ) throws {
        let talk = try shaken(version)
        talk.client.shutdownWrite()
        talk.clientEnd.end()
        #expect(talk.server.isReadable)
        #expect(Conversation.read(talk.server) == .endOfStream)
        #expect(talk.server.failure == nil)
        #expect(try Conversation.pass("the answer", from: talk.server, to: talk.client) == "the answer")
        let more = ByteBuffer(capacity: 64)
        more.append("more")
        #expect(talk.client.write(from: more) == .failed(errno: EPIPE))
    }

    @Test(arguments: [TLSVersion.v12, .v13])
    func `An end without a farewell is a broken connection`(version: TLSVersion) throws {
        let talk = try shaken(version)
        #expect(try Conversation.pass("half of it", from: talk.server, to: talk.client) == "half of it")
        talk.serverEnd.end()
        #expect(talk.client.isReadable)
        #expect(Conversation.read(talk.client) == .failed(errno: ECONNRESET))
        #expect(talk.client.failure == .truncated)
    }

    @Test func `A changed byte is the peer's fault`() throws {
        let talk = try shaken()
        let outgoing = ByteBuffer(capacity: 64)
        outgoing.append("hello")
        _ = talk.server.write(from: outgoing)
        var record = talk.clientEnd.takeAll()
        record[record.count - 1] ^= 1
        _ = talk.serverEnd.write(record.span.bytes)
        #expect(Conversation.read(talk.client) == .failed(errno: EPROTO))
        #expect(talk.client.failure?.isOfPeer == true)
        #expect(Conversation.read(talk.server) == .failed(errno: EPROTO))
        #expect(talk.server.failure == .alert(TLSAlert(rawValue: 20)))
    }

    @Test func `A session ticket does not make a connection readable`() throws {
        let talk = try Conversation(server: plainServer())
        try talk.shake()
        #expect(talk.serverEnd.unread > 0)
        #expect(!talk.client.isReadable)
        #expect(talk.serverEnd.unread == 0)
        _ = talk.server.write(from: buffer("x"))
        #expect(talk.client.isReadable)
        #expect(Conversation.read(talk.client) == .moved(1))
        #expect(!talk.client.isReadable)
    }

    @Test func `New keys are taken and given, also when the peer asks before we have written`() throws {
        let talk = try shaken()
        #expect(SSL_key_update(talk.server.handle, SSL_KEY_UPDATE_REQUESTED) == 1)
        #expect(try Conversation.pass("new keys", from: talk.server, to: talk.client) == "new keys")
        #expect(try Conversation.pass("from both", from: talk.client, to: talk.server) == "from both")
    }

    @Test func `A peer that asks for new keys and never reads is held up, not remembered`() throws {
        let talk = try shaken()
        talk.clientEnd.capacity = 0
        for _ in 0..<20_000 {
            guard SSL_key_update(talk.server.handle, SSL_KEY_UPDATE_REQUESTED) == 1 else { break }
            _ = talk.server.write(from: buffer("x"))
            _ = Conversation.read(talk.client)
        }
        #expect(talk.client.port.waiting < 70_000)
        talk.clientEnd.capacity = .max
        for _ in 0..<20_000 where talk.serverEnd.unread > 0 { _ = Conversation.read(talk.client) }
        #expect(talk.serverEnd.unread == 0)
        #expect(talk.client.failure == nil)
    }

    @Test func `What the peer said before it stopped listening is still read`() throws {
        let talk = try shaken()
        _ = talk.server.write(from: buffer("no"))
        talk.clientEnd.isBroken = true
        #expect(talk.client.write(from: buffer("a long request")) == .failed(errno: EPIPE))
        #expect(talk.client.failure == .transport(errno: EPIPE))
        #expect(Conversation.read(talk.client) == .moved(2))
    }

    private func buffer(_ text: String) -> ByteBuffer {
        let buffer = ByteBuffer(capacity: 64)
        buffer.append(text)
        return buffer
    }

    private func shaken(_ version: TLSVersion = .v13) throws -> Conversation {
        let talk = try Conversation(client: ClientTLSContext.Settings(maximum: version), server: plainServer())
        try talk.shake()
        // Takes the tickets in.
        #expect(!talk.client.isReadable)
        return talk
    }
}
