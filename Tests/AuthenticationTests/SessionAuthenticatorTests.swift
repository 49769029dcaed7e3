import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

@Suite struct SessionAuthenticatorTests {
    private func jar(_ value: String) -> CookieJar {
        var jar = CookieJar(origin: Origin(host: "h", port: 80, protocol: .http))
        jar.take("s=\(value); Path=/".utf8Span.span, at: "/".utf8Span.span, now: 0)
        return jar
    }

    private func refusal(
        of session: SessionAuthenticator, by challenges: [HeaderChallenge] = [.loginPage],
        _ ticket: AuthorizationTicket,
        wasAsked: Bool = false, at target: String = "/x", now: WallTime = 0
    ) -> RepeatedChallenge? {
        session.refused(
            by: challenges, ticket: ticket, wasAsked: wasAsked, at: target.utf8Span.span, now: now)
    }

    private func answer(_ session: SessionAuthenticator) -> (value: String, ticket: AuthorizationTicket?) {
        let value = ByteBuffer(capacity: 64)
        let ticket = session.authorize(target: "/x".utf8Span.span, at: 0, into: value)
        return (value.readable.text, ticket)
    }

    @Test func `nothing is answered before a login`() throws {
        let session = SessionAuthenticator()
        #expect(!session.isOpen)
        #expect(answer(session).ticket == nil)
        session.open(jar("1"))
        #expect(answer(session).value == "s=1")
    }

    @Test func `a session that nobody was let in by is refused`() throws {
        let session = SessionAuthenticator()
        session.open(jar("1"))
        let ticket = try #require(answer(session).ticket)
        #expect(refusal(of: session, by: challenges("Basic realm=x"), ticket) == nil)
        #expect(refusal(of: session, ticket) == .refused)
    }

    @Test func `one that was good has ended, and the next is judged anew`() throws {
        let session = SessionAuthenticator()
        session.open(jar("1"))
        let first = try #require(answer(session).ticket)
        session.accepted(ticket: first, wasAsked: false)
        session.accepted(ticket: first, wasAsked: true)
        #expect(refusal(of: session, first) == .retry)
        #expect(!session.isOpen)
        #expect(refusal(of: session, first) == .retry)
        session.open(jar("2"))
        // A late response to the session before says nothing of this one.
        #expect(refusal(of: session, first) == .retry)
        #expect(session.isOpen)
        let second = try #require(answer(session).ticket)
        #expect(refusal(of: session, second) == .aborted)
        #expect(session.isOpen)
        #expect(refusal(of: session, second, at: "/y") == .refused)
    }

    @Test func `one that is good where the one before was is not refused for a page that its user may not see`() throws
    {
        let session = SessionAuthenticator()
        session.open(jar("1"))
        let first = try #require(answer(session).ticket)
        #expect(session.doubt(ticket: first)?.witness == nil)
        session.accepted(ticket: first, wasAsked: true, at: Array("/a".utf8))
        #expect(refusal(of: session, first) == .retry)
        session.open(jar("2"))
        let second = try #require(answer(session).ticket)
        #expect(session.doubt(ticket: first)?.witness == nil)
        #expect(session.doubt(ticket: second)?.witness == .formerly(Array("/a".utf8)))
        session.trust(ticket: second)
        #expect(session.doubt(ticket: second)?.witness == nil)
        for _ in 0..<2 {
            #expect(refusal(of: session, second, wasAsked: true) == .aborted)
            #expect(session.isOpen)
        }
        // A first challenge may mean that the session has ended.
        #expect(refusal(of: session, second, at: "/y") == .retry)
        #expect(!session.isOpen)
    }

    @Test func `a page that asks in spite of a good session begins another in 30 seconds at most`() throws {
        let session = SessionAuthenticator()
        session.open(jar("1"), landing: [.slash])
        let ticket = try #require(answer(session).ticket)
        session.trust(ticket: ticket)
        #expect(refusal(of: session, ticket, wasAsked: true, at: "/secret?a", now: 1000) == .aborted)
        for now: WallTime in [1000, 30_999] {
            #expect(refusal(of: session, ticket, at: "/secret?b", now: now) == .aborted)
            #expect(session.isOpen)
        }
        #expect(refusal(of: session, ticket, at: "/secret", now: 31_000) == .retry)
        #expect(!session.isOpen)
    }

    @Test func `the first is doubted where its login led to`() throws {
        let session = SessionAuthenticator()
        session.open(jar("1"), landing: [.slash])
        let ticket = try #require(answer(session).ticket)
        #expect(session.doubt(ticket: ticket)?.witness == .landing([.slash]))
        session.trust(ticket: ticket)
        #expect(refusal(of: session, ticket, wasAsked: true) == .aborted)
    }

    @Test func `the server's own changes to the session are kept`() throws {
        let session = SessionAuthenticator()
        session.open(jar("1"))
        let ticket = try #require(answer(session).ticket)
        for field in ["s=2; Path=/", "other=1; Path=/"] {
            let isOwned = session.owns(field.utf8Span.span)
            #expect(isOwned == field.hasPrefix("s"))
            session.take(field.utf8Span.span, at: "/x".utf8Span.span, ticket: ticket, now: 0)
        }
        #expect(answer(session).value == "s=2")
        session.open(jar("3"))
        session.take("s=4; Path=/".utf8Span.span, at: "/x".utf8Span.span, ticket: ticket, now: 0)
        #expect(answer(session).value == "s=3")
    }

    @Test func `a late response about an ended session stays with its own client`() throws {
        let session = SessionAuthenticator()
        session.open(jar("1"))
        let ticket = try #require(answer(session).ticket)
        session.accepted(ticket: ticket, wasAsked: true)
        #expect(refusal(of: session, ticket) == .retry)
        #expect(!session.isOpen)
        let owned = ["s=2; Path=/", "other=1; Path=/"].map { session.owns($0.utf8Span.span) }
        #expect(owned == [true, false])
        session.take("s=2; Path=/".utf8Span.span, at: "/".utf8Span.span, ticket: ticket, now: 0)
        #expect(!session.isOpen)
    }

    @Test func `no field of a response can pretend to be a login page`() {
        let offers = ChallengeOrder().offers(
            in: challenges("login page, html-form, \"login page\" x=1"),
            from: Origin(host: "h", port: 80, protocol: .http))
        #expect(offers.isEmpty)
        let page = ChallengeOrder().offers(in: [.loginPage], from: Origin(host: "h", port: 80, protocol: .http))
        #expect(page.map(\.space.authenticationMethod) == [.htmlForm])
        #expect(page.first?.space.realm == nil)
    }
}
