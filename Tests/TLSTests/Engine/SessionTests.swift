import Bytes
import COpenSSL
import Model
import Synchronization
import Testing

@testable import TLS

@Suite struct SessionTests {
    @Test(arguments: [TLSVersion.v12, .v13])
    func `A session is resumed with the trust under which it was made, and nothing is asked`(
        version: TLSVersion
    ) throws {
        let settings = ClientTLSContext.Settings(maximum: version)
        let context = try plainServer()
        let slot = SessionCache<String>().slot(for: "server under rule 1")
        let first = try Conversation(client: settings, server: context, sessions: slot)
        while first.client.serverTrust == nil {
            if case .serverTrust(let chain) = try first.client.handshake() {
                first.client.trust(try Conversation.trusting(chain, decision: "rule 1"))
            }
            _ = try first.step(first.server)
        }
        try first.shake()
        // The tickets of TLS 1.3 come with the first bytes.
        _ = try Conversation.pass("hello", from: first.server, to: first.client)

        let second = try Conversation(client: settings, server: context, sessions: slot)
        try second.shake()
        #expect(second.questions == [])
        #expect(second.client.isResumed)
        #expect(second.server.isResumed)
        #expect(second.client.serverTrust?.decision as? String == "rule 1")
        #expect(second.client.serverEndPointBinding == first.client.serverEndPointBinding)
        #expect(try Conversation.pass("again", from: second.client, to: second.server) == "again")
    }

    @Test func `Under another key nothing is resumed`() throws {
        let cache = SessionCache<String>()
        let context = try plainServer()
        _ = try visited(context, cache.slot(for: "one"))
        let second = try Conversation(server: context, sessions: cache.slot(for: "two"))
        try second.shake()
        #expect(!second.client.isResumed)
        #expect(second.questions.count == 2)
    }

    @Test func `A server that has forgotten the session is judged anew`() throws {
        let slot = SessionCache<String>().slot(for: "one")
        _ = try visited(try plainServer(), slot)
        let second = try Conversation(server: plainServer(), sessions: slot)
        try second.shake()
        #expect(!second.client.isResumed)
        #expect(second.questions.count == 2)
    }

    @Test func `A session of TLS 1.3 is given away once, one of TLS 1.2 again and again`() throws {
        let cache = SessionCache<String>()
        let context = try plainServer()
        let new = cache.slot(for: "new")
        _ = try visited(context, new)
        #expect(new.take() != nil)
        #expect(new.take() == nil)
        let old = cache.slot(for: "old")
        _ = try visited(context, old, version: .v12)
        for _ in 0..<3 { #expect(old.take() != nil) }
    }

    @Test func `A decision is carried on only for so long`() throws {
        let slot = SessionCache<String>(lifetime: 0).slot(for: "one")
        _ = try visited(try plainServer(), slot)
        #expect(slot.take() == nil)
    }

    @Test func `What was not used longest goes first`() throws {
        let cache = SessionCache<Int>(capacity: 4)
        let context = try plainServer()
        for key in 0..<4 {
            _ = try visited(context, cache.slot(for: key), version: .v12)
            #expect(cache.slot(for: 0).take() != nil)
        }
        #expect(cache.slot(for: 1).take() == nil)
        #expect(cache.slot(for: 3).take() != nil)
    }

    @Test func `As many sessions are kept as there were connections at once, and a few in any case`() throws {
        let kept = KeptSession()
        _ = try visited(try plainServer(), kept)
        let session = try #require(kept.take())
        let cache = SessionCache<String>()
        var slots = (0..<9).map { _ in cache.slot(for: "one") }
        for slot in slots + slots { slot.keep(session) }
        slots = []
        // What was once wanted at once may be wanted again.
        let later = cache.slot(for: "one")
        later.keep(session)
        #expect((0..<20).count { _ in later.take() != nil } == 9)
        let single = cache.slot(for: "two")
        for _ in 0..<9 { single.keep(session) }
        #expect((0..<20).count { _ in single.take() != nil } == 4)
    }

    @Test func `Sessions take so many bytes and no more, those of one key a part of them`() throws {
        let context = try plainServer()
        let kept = KeptSession()
        _ = try visited(context, kept)
        let session = try #require(kept.take())
        let chain = Int(i2d_X509(session.trust.chain.leaf.handle, nil))
        #expect(session.size > 2 * chain && session.chainSize == chain)

        let narrow = SessionCache<Int>(byteLimit: 16 * (2 * session.size + 1))
        let slots = (0..<9).map { _ in narrow.slot(for: 0) }
        for slot in slots { slot.keep(session) }
        #expect((0..<9).count { _ in slots[0].take() != nil } == 2)
        for key in 0..<100 { narrow.slot(for: key).keep(session) }
        #expect((0..<100).count { narrow.slot(for: $0).take() != nil } <= 33)
        #expect(narrow.slot(for: 99).take() == nil)

        let tiny = SessionCache<Int>(byteLimit: 16 * (session.size - 1))
        tiny.slot(for: 0).keep(session)
        #expect(tiny.slot(for: 0).take() == nil)
    }

    @Test func `A connection that breaks does not take its session with it`() throws {
        let slot = SessionCache<String>().slot(for: "one")
        let context = try plainServer()
        let first = try visited(context, slot, version: .v12)
        first.serverEnd.end()
        #expect(Conversation.read(first.client) != .endOfStream)
        #expect(first.client.failure == .truncated)
        let second = try Conversation(client: ClientTLSContext.Settings(maximum: .v12), server: context, sessions: slot)
        try second.shake()
        #expect(second.client.isResumed)
    }

    @Test(arguments: [TLSVersion.v12, .v13])
    func `A ticket outlives one change of the server's keys, and not two`(version: TLSVersion) throws {
        let clock = Mutex(WallTime(seconds: 1_000_000))
        let context = try ServerTLSContext(ServerTLSContext.Settings()) { clock.withLock { $0 } }
        let settings = ClientTLSContext.Settings(maximum: version)
        let (one, two) = (KeptSession(), KeptSession())
        for slot in [one, two] { _ = try visited(context, slot, version: version) }
        let name = try #require(KeptSession.ticketName(of: one.take()?.session.pointer))
        clock.withLock { $0 = $0 + .hours(1) }

        let second = try Conversation(client: settings, server: context, sessions: one)
        try second.shake()
        #expect(second.client.isResumed)
        _ = try Conversation.pass("hello", from: second.server, to: second.client)
        // What came with it is sealed with the new key; OpenSSL does not tell of it when it resumes TLS 1.2.
        let renewed = KeptSession.ticketName(of: SSL_get_session(second.client.handle))
        #expect(renewed != nil && renewed != name)

        clock.withLock { $0 = $0 + .hours(1) }
        let third = try Conversation(client: settings, server: context, sessions: two)
        try third.shake()
        #expect(!third.client.isResumed)
        let fourth = try Conversation(client: settings, server: context, sessions: one)
        try fourth.shake()
        #expect(fourth.client.isResumed == (version == .v13))
    }

    @Test func `Keys are changed when their time is over, and not before`() throws {
        var keys = try ServerTLSContext.TicketKeys(lifetime: 100, at: 1000)
        let first = try keys.key(at: 1000).name
        #expect(try keys.key(at: 1099).name == first)
        let second = try keys.key(at: 1100).name
        #expect(second != first)
        #expect(try keys.key(named: first.span, at: 1199)?.isOld == true)
        #expect(try keys.key(named: second.span, at: 1199)?.isOld == false)
        // A long silence: even the last key is too old.
        let third = try keys.key(at: 1300).name
        #expect(try keys.key(named: second.span, at: 1300) == nil)
        // A clock that was set back.
        #expect(try keys.key(at: 1299).name != third)
    }

    /// A connection that has left its sessions.
    private func visited(
        _ context: ServerTLSContext, _ slot: some SessionSlot, version: TLSVersion = .v13
    ) throws -> Conversation {
        let talk = try Conversation(
            client: ClientTLSContext.Settings(maximum: version), server: context, sessions: slot)
        try talk.shake()
        _ = try Conversation.pass("hello", from: talk.server, to: talk.client)
        return talk
    }
}
