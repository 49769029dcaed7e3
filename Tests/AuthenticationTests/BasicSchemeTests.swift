import Crypto
import Model
import Testing

@testable import Authentication

@Suite struct BasicSchemeTests {
    @Test(arguments: [
        ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),  // RFC 7617 section 2
        ("test", "123£", "Basic dGVzdDoxMjPCow=="),  // RFC 7617 section 2.1
        ("user", "", "Basic dXNlcjo="),
        ("user", "a:b", "Basic dXNlcjphOmI="),
        ("", "pw", "Basic OnB3"),
        (
            String(repeating: "u", count: 300), String(repeating: "p", count: 300),
            "Basic " + String(repeating: "dXV1", count: 100) + "OnBw" + String(repeating: "cHBw", count: 99) + "cA=="
        ),
    ])
    func `published and computed answers come out`(user: String, password: String, value: String) throws {
        let authenticator = try BasicScheme().authenticator(#"Basic realm="r""#, user: user, password: password)
        #expect(try authenticator.answer().value == value)
        #expect(try authenticator.answer(target: "/other").value == value)
    }

    @Test func `a user name with a colon is refused, since the server would read another`() {
        #expect(throws: AuthenticationError.userContainsColon(credential: "test")) {
            try BasicScheme().authenticator(#"Basic realm="r""#, user: "a:b")
        }
    }

    @Test(arguments: [("a\r\nX: y", "c"), ("a", "b\n"), ("a", "\u{7F}"), ("a\0", "b")])
    func `control characters never reach a header`(user: String, password: String) {
        #expect(throws: AuthenticationError.controlCharacter(credential: "test")) {
            try BasicScheme().authenticator(#"Basic realm="r""#, user: user, password: password)
        }
    }

    @Test func `only the same realm's challenge refuses`() throws {
        let authenticator = try BasicScheme().authenticator(#"Basic realm="r""#)
        let ticket = try authenticator.answer().ticket
        #expect(
            authenticator.refused(by: challenges(#"Digest realm="r", nonce="n", Basic realm="r""#), ticket: ticket)
                == .refused)
        #expect(authenticator.refused(by: challenges(#"Basic realm="other""#), ticket: ticket) == .unrelated)
        #expect(authenticator.accepted(info: nil, ticket: ticket) == .unverified)
    }

    // MARK: - SOCKS

    private static func socks(_ user: String, _ password: String) throws -> any RequestAuthenticator {
        let space = ProtectionSpace(
            origin: Origin(host: "h", port: 1080, protocol: .socks, isProxy: true), realm: nil,
            authenticationMethod: .basic)
        let authenticator = try BasicScheme().authenticator(
            for: .socksPassword, in: space, at: [UInt8]().span,
            with: Credential(name: "test", user: user, password: Secret(password)))
        return try #require(authenticator as? any RequestAuthenticator)
    }

    @Test func `a SOCKS server gets user and password as RFC 1929 writes them, whatever characters they have`() throws {
        let authenticator = try Self.socks("a:", "\nyz")
        #expect(Array(try authenticator.answer().value.utf8) == [1, 2, 0x61, 0x3A, 3, 0x0A, 0x79, 0x7A])
        #expect(authenticator.answers(.socksPassword) && !authenticator.answers(HeaderChallenge(scheme: "basic")))
    }

    @Test func `a user or a password that the message has no room for is not sent cut off`() {
        let long = String(repeating: "x", count: 256)
        for (user, password) in [("", "p"), ("u", "")] {
            #expect(throws: AuthenticationError.empty(credential: "test")) { try Self.socks(user, password) }
        }
        for (user, password) in [(long, "p"), ("u", long)] {
            #expect(throws: AuthenticationError.oversized(credential: "test")) { try Self.socks(user, password) }
        }
    }

    @Test func `a SOCKS server's challenge is no field's, and has an answer beside those of no other scheme`() {
        let origin = Origin(host: "h", port: 1080, protocol: .socks, isProxy: true)
        let order = ChallengeOrder()
        #expect(order.offers(in: [.socksPassword], from: origin).map(\.space.authenticationMethod) == [.basic])
        #expect(order.unknownOffers(in: [.socksPassword], from: origin).isEmpty)
        #expect(challenges("username/password").allSatisfy { $0 != .socksPassword })
    }
}
