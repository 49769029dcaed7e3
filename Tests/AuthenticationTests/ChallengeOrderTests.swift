import Model
import Testing

@testable import Authentication

@Suite struct ChallengeOrderTests {
    static let line =
        #"Basic realm="b", Digest realm="1", nonce="n", Digest realm="2", nonce="n", algorithm=SHA-256, "#
        + #"NTLM, Digest realm="3", nonce="n", algorithm=SHA-512-256, Digest realm="4", nonce="n", algorithm=SHA-9, "#
        + #"Digest realm="5", nonce="n", algorithm=SHA-256-sess"#

    @Test(
        arguments: [
            ([], ["-", "3", "2", "5", "1", "b"]), ([.basic], ["b", "-", "3", "2", "5", "1"]),
            ([.negotiate, .basic, .digest], ["b", "3", "2", "5", "1", "-"]),
            ([.digest, .basic], ["3", "2", "5", "1", "b", "-"]),
        ] as [([AuthenticationMethod], [String])])
    func `the strongest comes first unless a rule orders`(preferred: [AuthenticationMethod], realms: [String]) {
        let offers = ChallengeOrder().offers(
            in: challenges(Self.line), from: Origin(host: "h", port: 80, protocol: .http), preferring: preferred)
        #expect(offers.map { $0.space.realm ?? "-" } == realms)
    }

    @Test func `a scheme that is not known has an offer apart, with its realm, and one that cannot be read has none`() {
        let line =
            #"Concealed realm="a", Digest realm="4", nonce="n", algorithm=SHA-9, "#
            + #"Basic realm="b", html-form, Kerberos"#
        let offers = ChallengeOrder().unknownOffers(
            in: challenges(line), from: Origin(host: "h", port: 80, protocol: .http))
        #expect(offers.map(\.challenge.scheme) == ["concealed", "html-form", "kerberos"])
        #expect(offers.map(\.space.realm) == ["a", nil, nil])
        #expect(offers.allSatisfy { $0.space.authenticationMethod == .other && $0.strength == 0 })
    }

    @Test func `the order of strength is the design's, and no two challenges are equal`() {
        let line =
            #"Basic realm="b", Bearer realm="t", Digest realm="5", nonce="n", algorithm=MD5, "#
            + #"Digest realm="2", nonce="n", algorithm=SHA-256, Digest realm="512", nonce="n", algorithm=SHA-512-256, "#
            + "NTLM, Negotiate"
        let offers = ChallengeOrder().offers(
            in: challenges(line) + [.loginPage], from: Origin(host: "h", port: 80, protocol: .http))
        let names = offers.map { $0.space.realm ?? $0.space.authenticationMethod.rawValue }
        #expect(names == ["negotiate", "ntlm", "512", "2", "5", "t", "html-form", "b"])
        #expect(Set(offers.map(\.strength)).count == offers.count)
        #expect(offers.allSatisfy { $0.strength > 0 })
    }
}
