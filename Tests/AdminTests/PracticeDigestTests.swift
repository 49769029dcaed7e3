import Authentication
import Bytes
import Crypto
import Model
import Testing

@testable import Admin

@Suite struct PracticeDigestTests {
    private let target = "/practice/digest-sha256/a?b=c"

    private func digest(lifetime: Milliseconds = .minutes(1)) throws -> PracticeOrigin.Digest {
        try PracticeOrigin.Digest(.digestSHA256, algorithm: .sha256, nonceLifetime: lifetime)
    }

    private func verify(
        _ digest: PracticeOrigin.Digest, _ parameters: [(name: String, value: String)], method: StaticString = "GET",
        at now: WallTime = 1
    ) throws -> PracticeOrigin.Digest.Verdict {
        digest.verify(Array(field(parameters).utf8), method: method, target: Array(target.utf8), at: now)
    }

    @Test func `the challenge names all that a client needs`() throws {
        let digest = try digest()
        let challenge = try #require(header(digest.challenge(stale: true, at: 1)))
        #expect(challenge.scheme == "digest")
        #expect(challenge.realm == "practice digest-sha256")
        #expect(challenge.text("algorithm") == "SHA-256")
        #expect(challenge.text("qop") == "auth")
        #expect(challenge.text("domain") == "/practice/digest-sha256")
        #expect(challenge.text("stale") == "true")
        #expect(try #require(header(digest.challenge(at: 1)))["stale"] == nil)
    }

    @Test func `right credentials are accepted, and the server proves itself`() throws {
        let digest = try digest()
        let client = try DigestClient(digest.challenge(at: 1))
        let verdict = try verify(digest, try client.credentials(uri: target))
        let proof = try client.proof(uri: target)
        #expect(
            verdict == .accepted(info: "rspauth=\"\(proof)\", qop=auth, cnonce=\"0a4f113b\", nc=00000001"))
    }

    @Test func `the model's own client and this server understand each other`() throws {
        for (space, algorithm) in [(PracticeOrigin.Space.digest, DigestAlgorithm.md5), (.digestSHA256, .sha256)] {
            let digest = try PracticeOrigin.Digest(space, algorithm: algorithm, nonceLifetime: 60_000)
            let challenge = try #require(header(digest.challenge(at: 1)))
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
                let credentials = Array(value.readable.text.utf8)
                let verdict = digest.verify(credentials, method: "GET", target: target, at: 1)
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

    @Test func `a client without the password is refused`() throws {
        let digest = try digest()
        let client = try DigestClient(digest.challenge(at: 1))
        #expect(try verify(digest, try client.credentials(password: "wrong", uri: target)) == .refused)
        #expect(try verify(digest, try client.credentials(user: "somebody", uri: target)) == .refused)
        #expect(try verify(digest, try client.credentials(method: "POST", uri: target)) == .refused)
        for other in ["Basic eA==", "Digestive a=b", "", "Dig"] {
            #expect(digest.verify(Array(other.utf8), method: "GET", target: [], at: 1) == .refused, "\(other)")
        }
    }

    @Test func `a wrong password does not use up a count`() throws {
        let digest = try digest()
        let client = try DigestClient(digest.challenge(at: 1))
        #expect(try verify(digest, try client.credentials(password: "wrong", uri: target)) == .refused)
        guard case .accepted = try verify(digest, try client.credentials(uri: target)) else {
            Issue.record("the first right answer was not accepted")
            return
        }
    }

    @Test func `an answer that is sent again is stale`() throws {
        let digest = try digest()
        let client = try DigestClient(digest.challenge(at: 1))
        let credentials = try client.credentials(uri: target)
        #expect(try verify(digest, credentials) != .stale)
        #expect(try verify(digest, credentials) == .stale)
        #expect(try verify(digest, try client.credentials(uri: target, count: "00000002")) != .stale)
    }

    @Test func `an answer to an old nonce is stale if it is right, and refused if it is not`() throws {
        let digest = try digest(lifetime: 10)
        let client = try DigestClient(digest.challenge(at: 1))
        #expect(try verify(digest, try client.credentials(uri: target), at: 12) == .stale)
        #expect(try verify(digest, try client.credentials(password: "wrong", uri: target), at: 12) == .refused)
    }

    @Test func `an answer to a challenge of a former process is stale`() throws {
        let former = try digest()
        let digest = try digest()
        let client = try DigestClient(former.challenge(at: 1))
        #expect(try verify(digest, try client.credentials(uri: target)) == .stale)
    }

    @Test func `an answer to another space's challenge is refused, so that a challenge follows`() throws {
        let other = try PracticeOrigin.Digest(.digest, algorithm: .md5, nonceLifetime: 60_000)
        let digest = try digest()
        let client = try DigestClient(other.challenge(at: 1))
        #expect(try verify(digest, try client.credentials(uri: target)) == .refused)
    }

    @Test func `credentials of another request are malformed`() throws {
        let digest = try digest()
        let client = try DigestClient(digest.challenge(at: 1))
        #expect(
            try verify(digest, try client.credentials(uri: "/practice/digest-sha256"))
                == .malformed("the uri in the Digest credentials is not the request target"))
    }

    @Test(arguments: ["username", "realm", "nonce", "uri", "response", "cnonce", "qop", "nc"])
    func `credentials without a parameter are malformed`(name: String) throws {
        let digest = try digest()
        let client = try DigestClient(digest.challenge(at: 1))
        let credentials = try client.credentials(uri: target).filter { $0.name != name }
        #expect(try verify(digest, credentials) == .malformed("the Digest credentials lack \(name)"))
    }

    @Test(arguments: [
        ("qop", "auth-int"), ("nc", "1"), ("nc", "+0000001"), ("nc", "000000001"), ("nc", "0000000g"),
        ("response", "xyz"), ("response", "abc"),
    ])
    func `a value that makes no sense is malformed`(name: String, value: String) throws {
        let digest = try digest()
        let client = try DigestClient(digest.challenge(at: 1))
        let credentials = try client.credentials(uri: target).map { $0.name == name ? (name, value) : $0 }
        #expect(
            try verify(digest, credentials)
                == .malformed("the value of \(name) in the Digest credentials is not valid"))
    }

    @Test func `a client nonce that could end the string that echoes it is malformed`() throws {
        let digest = try digest()
        let client = try DigestClient(digest.challenge(at: 1))
        let credentials = try client.credentials(uri: target, clientNonce: "a\"b")
            .map { $0.name == "cnonce" ? ("cnonce", "a\\\"b") : $0 }
        #expect(
            try verify(digest, credentials)
                == .malformed("the value of cnonce in the Digest credentials is not valid"))
    }
}
