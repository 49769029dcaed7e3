import Authentication
import Bytes
import Crypto
import Testing

@testable import Admin

@Suite struct PracticeDigestTests {
    private let target = "/practice/digest-sha256/a?b=c"

    private func digest(lifetime: UInt64 = 60_000) throws -> PracticeDigest {
        try PracticeDigest(.digestSHA256, algorithm: .sha256, nonceLifetime: lifetime)
    }

    private func verify(
        _ digest: inout PracticeDigest, _ parameters: [(name: String, value: String)], method: StaticString = "GET",
        now: UInt64 = 0
    ) throws -> PracticeDigest.Verdict {
        let credentials = try #require(header(field(parameters)))
        return digest.verify(credentials, method: method, target: Array(target.utf8), now: now)
    }

    @Test func `the challenge names all that a client needs`() throws {
        var digest = try digest()
        let challenge = try #require(header(digest.challenge(stale: true, now: 0)))
        #expect(challenge.scheme == "digest")
        #expect(challenge.realm == "practice digest-sha256")
        #expect(challenge.text("algorithm") == "SHA-256")
        #expect(challenge.text("qop") == "auth")
        #expect(challenge.text("domain") == "/practice/digest-sha256")
        #expect(challenge.text("stale") == "true")
        #expect(try #require(header(digest.challenge(now: 0)))["stale"] == nil)
    }

    @Test func `right credentials are accepted, and the server proves itself`() throws {
        var digest = try digest()
        let client = try DigestClient(digest.challenge(now: 0))
        let verdict = try verify(&digest, try client.credentials(uri: target))
        let proof = try client.proof(uri: target)
        #expect(
            verdict == .accepted(info: "rspauth=\"\(proof)\", cnonce=\"0a4f113b\", nc=00000001, qop=auth"))
    }

    @Test func `the model's own client and this server understand each other`() throws {
        for (space, algorithm) in [(PracticeSpace.digest, DigestAlgorithm.md5), (.digestSHA256, .sha256)] {
            var digest = try PracticeDigest(space, algorithm: algorithm, nonceLifetime: 60_000)
            let challenge = try #require(header(digest.challenge(now: 0)))
            let target = Array("/practice/".utf8)
            let made = try DigestScheme().authenticator(
                for: challenge,
                in: ProtectionSpace(
                    origin: Origin(host: "127.0.0.1", port: 3127, protocol: .http), realm: challenge.realm,
                    authenticationMethod: .digest),
                at: target.span,
                with: Credential(
                    name: "practice", user: PracticeCredential.user, password: Secret(PracticeCredential.password)))
            guard case .request(let authenticator) = made.binding else {
                Issue.record("Digest answers requests")
                continue
            }
            for _ in 0..<3 {
                let value = ByteBuffer(capacity: 512)
                let ticket = try authenticator.authorize(
                    method: "GET".utf8Span.span, target: target.span, bodyDigest: nil, into: value)
                let credentials = try #require(header(value.readable.text))
                let verdict = digest.verify(credentials, method: "GET", target: target, now: 0)
                guard case .accepted(let info) = verdict else {
                    Issue.record("\(verdict)")
                    continue
                }
                let acceptance = authenticator.accepted(
                    info.utf8Span.span, ticket: ticket, target: target.span, bodyDigest: nil)
                guard case .verified = acceptance else {
                    Issue.record("the client does not believe \(info)")
                    continue
                }
            }
        }
    }

    @Test func `who knows no password is refused`() throws {
        var digest = try digest()
        let client = try DigestClient(digest.challenge(now: 0))
        #expect(try verify(&digest, try client.credentials(password: "wrong", uri: target)) == .refused)
        #expect(try verify(&digest, try client.credentials(user: "somebody", uri: target)) == .refused)
        #expect(try verify(&digest, try client.credentials(method: "POST", uri: target)) == .refused)
        let basic = HeaderChallenge(scheme: "basic", token68: "eA==")
        let verdict = digest.verify(basic, method: "GET", target: [], now: 0)
        #expect(verdict == .refused)
    }

    @Test func `a wrong password does not use up a count`() throws {
        var digest = try digest()
        let client = try DigestClient(digest.challenge(now: 0))
        #expect(try verify(&digest, try client.credentials(password: "wrong", uri: target)) == .refused)
        guard case .accepted = try verify(&digest, try client.credentials(uri: target)) else {
            Issue.record("the first right answer was not accepted")
            return
        }
    }

    @Test func `an answer that is sent again is stale`() throws {
        var digest = try digest()
        let client = try DigestClient(digest.challenge(now: 0))
        let credentials = try client.credentials(uri: target)
        #expect(try verify(&digest, credentials) != .stale)
        #expect(try verify(&digest, credentials) == .stale)
        #expect(try verify(&digest, try client.credentials(uri: target, count: "00000002")) != .stale)
    }

    @Test func `an answer to an old nonce is stale if it is right, and refused if it is not`() throws {
        var digest = try digest(lifetime: 10)
        let client = try DigestClient(digest.challenge(now: 0))
        #expect(try verify(&digest, try client.credentials(uri: target), now: 11) == .stale)
        #expect(try verify(&digest, try client.credentials(password: "wrong", uri: target), now: 11) == .refused)
    }

    @Test func `an answer to a challenge of a former process is stale`() throws {
        var former = try digest()
        var digest = try digest()
        let client = try DigestClient(former.challenge(now: 0))
        #expect(try verify(&digest, try client.credentials(uri: target)) == .stale)
    }

    @Test func `an answer to another space's challenge is refused, so that a challenge follows`() throws {
        var other = try PracticeDigest(.digest, algorithm: .md5, nonceLifetime: 60_000)
        var digest = try digest()
        let client = try DigestClient(other.challenge(now: 0))
        #expect(try verify(&digest, try client.credentials(uri: target)) == .refused)
    }

    @Test func `credentials of another request are malformed`() throws {
        var digest = try digest()
        let client = try DigestClient(digest.challenge(now: 0))
        #expect(
            try verify(&digest, try client.credentials(uri: "/practice/digest-sha256"))
                == .malformed("the uri in the Digest credentials is not the request target"))
    }

    @Test(arguments: ["username", "realm", "nonce", "uri", "response", "cnonce", "opaque", "qop", "nc"])
    func `credentials without a parameter are malformed`(name: String) throws {
        var digest = try digest()
        let client = try DigestClient(digest.challenge(now: 0))
        let credentials = try client.credentials(uri: target).filter { $0.name != name }
        #expect(try verify(&digest, credentials) == .malformed("the Digest credentials lack \(name)"))
    }

    @Test(arguments: [
        ("qop", "auth-int"), ("nc", "1"), ("nc", "+0000001"), ("nc", "000000001"), ("nc", "0000000g"),
        ("response", "xyz"), ("response", "abc"),
    ])
    func `a value that makes no sense is malformed`(name: String, value: String) throws {
        var digest = try digest()
        let client = try DigestClient(digest.challenge(now: 0))
        let credentials = try client.credentials(uri: target).map { $0.name == name ? (name, value) : $0 }
        #expect(
            try verify(&digest, credentials)
                == .malformed("the value of \(name) in the Digest credentials makes no sense"))
    }

    @Test func `a client nonce cannot end the string that echoes it`() throws {
        var digest = try digest()
        let client = try DigestClient(digest.challenge(now: 0))
        let clientNonce = "a\"b\\c"
        let credentials = try client.credentials(uri: target, clientNonce: clientNonce)
            .map { $0.name == "cnonce" ? ("cnonce", "a\\\"b\\\\c") : $0 }
        guard case .accepted(let info) = try verify(&digest, credentials) else {
            Issue.record("not accepted")
            return
        }
        #expect(info.contains("cnonce=\"a\\\"b\\\\c\", nc="))
    }
}
