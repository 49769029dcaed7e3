import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

/// Credentials that go with every request.
@Suite struct PreemptiveSchemeTests {
    private static let origin = Origin(host: "h", port: 443, protocol: .https)

    private func space(_ method: AuthenticationMethod) -> ProtectionSpace {
        ProtectionSpace(origin: Self.origin, realm: nil, authenticationMethod: method)
    }

    private func placed(
        _ token: String, _ places: CredentialPlacement.Place..., value: [CredentialPlacement.Part] = [.token]
    ) -> Credential {
        Credential(name: "k", token: Secret(token)).placed(in: places.map { CredentialPlacement($0, value: value) })
    }

    private func authenticator(
        _ credential: Credential, _ method: AuthenticationMethod = .default
    ) throws -> PreemptiveAuthenticator {
        try PreemptiveScheme.authenticator(
            in: space(method), with: credential, by: ChallengeOrder().schemes)
    }

    private func text(_ secret: Secret?) -> String? { secret.map { $0.withBytes { $0.text } } }

    @Test func `a token stands where it is said to, and encoded in a query`() throws {
        let credential = placed("a b/&c", .field("X-Key"), .parameter("key"), value: [.text("T="), .token])
        let placement = try #require(try authenticator(credential).placement)
        #expect(placement.fields.map { String(decoding: $0.name, as: UTF8.self) } == ["X-Key"])
        #expect(text(placement.fields.first?.value) == "T=a b/&c")
        #expect(text(placement.parameters.first?.value) == "T%3Da%20b%2F%26c")
    }

    @Test(arguments: ["a\r\nX: 1", "a\nb", "\0", "a\u{7F}", "\tb"])
    func `no value can end its line`(token: String) {
        for place in [CredentialPlacement.Place.field("X-Key"), .parameter("key")] {
            #expect(throws: AuthenticationError.controlCharacter(credential: "k")) {
                try authenticator(placed(token, place))
            }
        }
    }

    @Test func `a value has its limit, and is not empty`() throws {
        let (long, longer) = (String(repeating: "x", count: 4096), String(repeating: "x", count: 16 * 1024))
        _ = try authenticator(placed(long, .parameter("key")))
        _ = try authenticator(placed(longer, .field("X-Key")))
        for (token, place) in [
            (long + "x", CredentialPlacement.Place.parameter("key")), (longer + "x", .field("X-Key")),
        ] {
            #expect(throws: AuthenticationError.oversized(credential: "k")) { try authenticator(placed(token, place)) }
        }
        #expect(throws: AuthenticationError.empty(credential: "k")) { try authenticator(placed("", .field("X-Key"))) }
    }

    @Test func `the same value in another place is another version, and answers no challenge`() {
        let plain = Credential(name: "k", token: Secret("t"))
        let versions = [
            plain, placed("t", .field("X-Key")), placed("t", .parameter("X-Key")), placed("u", .field("X-Key")),
        ]
        #expect(Set(versions.map(\.version)).count == 4)
        #expect(placed("t", .field("X-Key")).version == placed("t", .field("X-Key")).version)
        #expect(plain.canAnswer(space(.bearer)))
        #expect(!placed("t", .field("X-Key")).canAnswer(space(.bearer)))
        #expect(placed("t", .field("X-Key")).with(.none).placements.count == 1)
    }

    @Test func `no description shows the value`() throws {
        let placement = try authenticator(placed("planted", .field("X-Key"))).placement
        var text = "\(String(describing: placement))"
        dump(placement, to: &text)
        #expect(!text.contains("planted") && !text.contains("112"))
    }

    @Test func `a token and a password go as Bearer and Basic would have them`() throws {
        let token = try authenticator(Credential(name: "t", token: Secret("abc")), .bearer)
        let password = try authenticator(Credential(name: "p", user: "u", password: Secret("p")), .basic)
        for (authenticator, expected) in [(token, "Bearer abc"), (password, "Basic dTpw")] {
            let value = ByteBuffer(capacity: 64)
            _ = try authenticator.authorize(
                method: "GET".utf8Span.span, target: "/".utf8Span.span, bodyDigest: nil, into: value)
            #expect(value.readable.text == expected)
            #expect(authenticator.placement == nil)
        }
        #expect(throws: AuthenticationError.self) {
            try authenticator(Credential(name: "t", token: Secret("abc")), .digest)
        }
    }

    @Test func `a challenge that it would be for says that it was sent too early`() throws {
        let authenticator = try authenticator(Credential(name: "t", token: Secret("abc")), .bearer)
        let ticket = AuthorizationTicket()
        #expect(authenticator.refused(by: [HeaderChallenge(scheme: "basic")], ticket: ticket) == .unrelated)
        #expect(authenticator.refused(by: [HeaderChallenge(scheme: "bearer")], ticket: ticket) == .refused)
        #expect(authenticator.refused(by: [.preemptive], ticket: ticket) == .refused)
        let placed = try self.authenticator(placed("t", .field("X-Key")))
        #expect(placed.refused(by: [HeaderChallenge(scheme: "bearer")], ticket: ticket) == .unrelated)
        #expect(placed.refused(by: [.preemptive], ticket: ticket) == .refused)
    }
}
