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
}
