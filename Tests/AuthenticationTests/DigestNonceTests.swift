import Crypto
import Testing

@testable import Authentication

@Suite struct DigestNonceTests {
    let authenticator: any RequestAuthenticator

    init() throws {
        authenticator = try DigestScheme().authenticator(#"Digest realm="r", nonce="one", qop="auth""#)
    }

    @Test func `a refusal of the first answer is believed`() throws {
        let ticket = try authenticator.answer().ticket
        let again = challenges(#"Digest realm="r", nonce="two", qop="auth""#)
        #expect(authenticator.refused(by: again, ticket: ticket) == .refused)
    }

    @Test func `a stale nonce is replaced and its count begins anew`() throws {
        let ticket = try authenticator.answer().ticket
        let stale = challenges(#"Digest realm="r", nonce="two", qop="auth", stale=TRUE"#)
        #expect(authenticator.refused(by: stale, ticket: ticket) == .retry)
        let next = parameters(try authenticator.answer().value)
        #expect(next["nonce"] == "\"two\"")
        #expect(next["nc"] == "00000001")
    }

    @Test func `a late outcome on an old nonce says nothing about the new one`() throws {
        let early = try authenticator.answer().ticket
        let late = try authenticator.answer().ticket
        let stale = challenges(#"Digest realm="r", nonce="two", qop="auth", stale=true"#)
        #expect(authenticator.refused(by: stale, ticket: early) == .retry)
        let plain = challenges(#"Digest realm="r", nonce="three", qop="auth""#)
        #expect(authenticator.refused(by: plain, ticket: late) == .renewed)
        #expect(parameters(try authenticator.answer().value)["nonce"] == "\"two\"")
    }

    @Test func `a nonce that several requests share says nothing, and one that a request has alone is believed`() throws
    {
        let first = try authenticator.answer().ticket
        #expect(authenticator.accepted(info: nil, ticket: first) == .unverified)
        let second = try authenticator.answer().ticket
        let plain = challenges(#"Digest realm="r", nonce="two", qop="auth""#)
        #expect(authenticator.refused(by: plain, ticket: second) == .renewed)
        let own = try #require(authenticator.authenticator(for: plain[0]) as? any RequestAuthenticator)
        let third = try own.answer()
        #expect(parameters(third.value)["nonce"] == "\"two\"" && parameters(third.value)["nc"] == "00000001")
        let shared = try authenticator.answer()
        #expect(parameters(shared.value)["nonce"] == "\"one\"" && parameters(shared.value)["nc"] == "00000003")
        let again = challenges(#"Digest realm="r", nonce="three", qop="auth""#)
        #expect(own.refused(by: again, ticket: third.ticket) == .refused)
    }

    @Test func `a server with one nonce for all is believed when it refuses an answer on that`() throws {
        let first = try authenticator.answer().ticket
        _ = authenticator.accepted(info: nil, ticket: first)
        let same = challenges(#"Digest realm="r", nonce="one", qop="auth""#)
        let own = try #require(authenticator.authenticator(for: same[0]) as? any RequestAuthenticator)
        #expect(own === authenticator)
        let second = try own.answer()
        #expect(parameters(second.value)["nc"] == "00000002")
        #expect(own.refused(by: same, ticket: second.ticket) == .refused)
    }

    @Test func `of servers that take turns behind one name each nonce goes on counting`() throws {
        var present = authenticator
        let counts = try ["two", "one", "two", "one", "three", "one"].map { nonce in
            let challenge = challenges("Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth\"")[0]
            // Proven, it takes the place of the one before.
            present = try #require(present.authenticator(for: challenge) as? any RequestAuthenticator)
            let answer = try present.answer()
            #expect(present.accepted(info: nil, ticket: answer.ticket) == .unverified)
            #expect(parameters(answer.value)["nonce"] == "\"\(nonce)\"")
            return parameters(answer.value)["nc"] ?? ""
        }
        #expect(counts == ["00000001", "00000001", "00000002", "00000002", "00000001", "00000003"])
        let late = challenges(#"Digest realm="r", nonce="two", qop="auth""#)
        let ticket = try present.answer().ticket
        #expect(present.refused(by: late, ticket: ticket) == .renewed, "another server does not know its nonce")
    }

    @Test func `a nonce that comes back goes on counting`() throws {
        for nonce in ["two", "one"] {
            let ticket = try authenticator.answer().ticket
            let stale = challenges("Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth\", stale=true")
            #expect(authenticator.refused(by: stale, ticket: ticket) == .retry)
        }
        let next = parameters(try authenticator.answer().value)
        #expect(next["nonce"] == "\"one\"")
        #expect(next["nc"] == "00000002")
        let two = challenges(#"Digest realm="r", nonce="two", qop="auth""#)
        let own = try #require(authenticator.authenticator(for: two[0]) as? any RequestAuthenticator)
        let back = parameters(try own.answer().value)
        #expect(back["nonce"] == "\"two\"" && back["nc"] == "00000002")
    }

    @Test(arguments: [
        #"Digest realm="other", nonce="two""#, #"Digest realm="r", nonce="two", algorithm=SHA-256"#,
        #"Basic realm="r""#, "",
    ])
    func `another space's challenge is no refusal`(line: String) throws {
        let ticket = try authenticator.answer().ticket
        #expect(authenticator.refused(by: challenges(line), ticket: ticket) == .unrelated)
    }

    @Test func `nextnonce is used from then on, also with a session key`() throws {
        for suffix in ["", "-sess"] {
            let scheme = DigestScheme(clientNonce: { Array("c".utf8) })
            let challenge = "Digest realm=\"r\", nonce=\"one\", qop=\"auth\", algorithm=MD5\(suffix)"
            let authenticator = try scheme.authenticator(challenge)
            let ticket = try authenticator.answer().ticket
            #expect(authenticator.accepted(info: #"nextnonce="two""#, ticket: ticket) == .unverified)
            let next = parameters(try authenticator.answer().value)
            #expect(next["nonce"] == "\"two\"")
            #expect(next["nc"] == "00000001")
        }
    }

    /// Computed from RFC 7616 sections 3.4.1 and 3.5 with an empty method.
    @Test func `the server's proof is checked`() throws {
        let scheme = DigestScheme(clientNonce: { Array("0a4f113b".utf8) })
        let authenticator = try scheme.authenticator(
            #"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", qop="auth""#,
            user: "Mufasa", password: "Circle Of Life")
        let target = "/dir/index.html"
        let ticket = try authenticator.answer(target: target).ticket
        let proof = "376602cfd2f4e8e5e78b948a85263e85"
        let info = { (proof: String) in "rspauth=\"\(proof)\", cnonce=\"0a4f113b\", nc=00000001, qop=auth" }
        #expect(authenticator.accepted(info: info(proof), ticket: ticket, target: target) == .verified)
        #expect(authenticator.accepted(info: info(proof.uppercased()), ticket: ticket, target: target) == .verified)
        let wrong = String(proof.reversed())
        #expect(authenticator.accepted(info: info(wrong), ticket: ticket, target: target) == .mismatch)
        #expect(authenticator.accepted(info: info(""), ticket: ticket, target: target) == .mismatch)
        #expect(authenticator.accepted(info: "rspauth=", ticket: ticket, target: target) == .unverified)
    }

    /// Computed with Python's hashlib from RFC 7616 sections 3.4.1, 3.4.3 and 3.5: a GET without a body, answered with
    /// the content `hello`.
    @Test func `under auth-int the server's proof covers the content`() throws {
        let scheme = DigestScheme(clientNonce: { Array("xyz".utf8) })
        let authenticator = try scheme.authenticator(
            #"Digest realm="r", nonce="n", qop="auth-int", algorithm=SHA-256"#, user: "u", password: "p")
        let ticket = try authenticator.answer(target: "/a", bodyDigest: digest("")).ticket
        let proof = "b6e993debf71ce18fa6d1cdace7e2a7eb1d82a7416cb680a4fffed935fe19c39"
        let info = "rspauth=\"\(proof)\", cnonce=\"xyz\", nc=00000001, qop=auth-int"
        let judge = { (content: String?, info: String) in
            authenticator.accepted(info: info, ticket: ticket, target: "/a", bodyDigest: content.map(digest))
        }
        #expect(judge(nil, info) == .needsBody(.sha256))
        #expect(judge("hello", info) == .verified)
        #expect(judge("hellO", info) == .mismatch)
        #expect(judge(nil, info.replacing("qop=auth-int", with: "qop=auth")) == .unverified)
        #expect(judge(nil, "nextnonce=\"n\"") == .unverified)
    }

    private func digest(_ text: String) -> [UInt8] {
        var digest = MessageDigest(.sha256)
        digest.update(utf8: text)
        return digest.finish().array
    }
}
