import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

@Suite struct BearerSchemeTests {
    private func authenticator(
        _ challenge: String = #"Bearer realm="api""#, token: String = "mF_9.B5f-4.1JqM"
    ) throws -> any RequestAuthenticator {
        let parsed = try #require(challenges(challenge).first)
        let space = ProtectionSpace(
            origin: Origin(host: "host", port: 443, protocol: .https), realm: parsed.realm,
            authenticationMethod: .bearer)
        let made = try BearerScheme().authenticator(
            for: parsed, in: space, at: "/".utf8Span.span, with: Credential(name: "test", token: Secret(token)))
        return try #require(made.request)
    }

    /// RFC 6750 section 2.1.
    @Test func `the published answer comes out`() throws {
        #expect(try authenticator().answer().value == "Bearer mF_9.B5f-4.1JqM")
    }

    @Test func `any bearer challenge refuses it, whatever its realm`() throws {
        let authenticator = try authenticator()
        let ticket = try authenticator.answer().ticket
        for challenge in ["Bearer", #"Bearer realm="other", error="invalid_token""#] {
            #expect(authenticator.refused(by: challenges(challenge), ticket: ticket) == .refused)
        }
        #expect(authenticator.refused(by: challenges(#"Basic realm="api""#), ticket: ticket) == .unrelated)
    }

    @Test(arguments: ["a b", "a\r\nX: y", "\u{7F}", "tökén"])
    func `a text that could end a field is no token`(token: String) {
        #expect(throws: AuthenticationError.controlCharacter(credential: "test")) { try authenticator(token: token) }
    }

    @Test func `only a token is one`() {
        #expect(throws: AuthenticationError.unsuitableCredential(credential: "test", method: .bearer)) {
            try authenticator(token: "")
        }
        #expect(throws: AuthenticationError.unsuitableCredential(credential: "test", method: .bearer)) {
            try BearerScheme().authenticator(#"Bearer realm="api""#)
        }
    }
}
