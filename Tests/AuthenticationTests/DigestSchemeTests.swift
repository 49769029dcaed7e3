import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

@Suite struct DigestSchemeTests {
    @Test(arguments: DigestVector.all)
    func `published and computed answers come out`(vector: DigestVector) throws {
        let escaped = vector.realm.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        var challenge = "Digest realm=\"\(escaped)\", nonce=\"\(vector.nonce)\""
        if !vector.qop.isEmpty { challenge += ", qop=\"\(vector.qop)\"" }
        if let algorithm = vector.algorithm { challenge += ", algorithm=\(algorithm)" }
        if vector.userhash != nil { challenge += ", charset=UTF-8, userhash=true" }
        let scheme = DigestScheme(clientNonce: { Array(vector.clientNonce.utf8) })
        let authenticator = try scheme.authenticator(challenge, user: vector.user, password: vector.password)
        let body = authenticator.bodyDigest.map { MessageDigest.digest($0, of: vector.body.utf8Span.span).array }
        #expect((body != nil) == (vector.qop == "auth-int"))
        for _ in 1..<vector.count { _ = try authenticator.answer() }
        let answer = try authenticator.answer(method: vector.method, target: vector.target, bodyDigest: body).value
        #expect(answer.contains("response=\"\(vector.response)\""))
        #expect(answer.contains("realm=\"\(escaped)\""))
        if let userhash = vector.userhash {
            #expect(parameters(answer)["username"] == "\"\(userhash)\"")
            #expect(parameters(answer)["userhash"] == "true")
        }
    }

    @Test func `quotes stand where old devices expect them`() throws {
        let scheme = DigestScheme(clientNonce: { Array("c".utf8) })
        let answer = try scheme.authenticator(
            #"Digest realm="r", nonce="n", qop="auth,auth-int", algorithm=MD5, opaque="o\"p""#
        ).answer(target: "/x?y").value
        #expect(
            answer == #"Digest username="u", realm="r", nonce="n", uri="/x?y", cnonce="c", nc=00000001, qop=auth, "#
                + #"response="\#(parameters(answer)["response"]?.dropFirst().dropLast() ?? "")", opaque="o\"p", "#
                + "algorithm=MD5")
    }

    @Test(arguments: [("", true), (", qop=\"auth\"", true), (", qop=\"auth-int\"", false)])
    func `an answer is for many requests, unless the digest of their content is in it`(
        qop: String, isRepeatable: Bool
    ) throws {
        let authenticator = try DigestScheme().authenticator("Digest realm=\"r\", nonce=\"n\"\(qop)")
        #expect(authenticator.isRepeatable == isRepeatable)
        #expect((authenticator.bodyDigest == nil) == isRepeatable)
    }

    @Test func `without qop and algorithm none is sent back`() throws {
        let answer = try DigestScheme().authenticator(#"Digest realm="r", nonce="n""#).answer().value
        #expect(Set(parameters(answer).keys) == ["username", "realm", "nonce", "uri", "response"])
    }

    @Test(arguments: [
        (#"Digest realm="r", nonce="n", charset=UTF-8"#, "username*", "UTF-8''J%C3%A4s%C3%B8n%20Doe"),
        (#"Digest realm="r", nonce="n""#, "username", "\"Jäsøn Doe\""),
    ])
    func `a name beyond ASCII goes as the server reads it`(challenge: String, name: String, value: String) throws {
        let answer = try DigestScheme().authenticator(challenge, user: "Jäsøn Doe").answer().value
        #expect(parameters(answer)[name] == value)
    }

    @Test func `quotes in a user name are escaped, control characters refused`() throws {
        let answer = try DigestScheme().authenticator(#"Digest realm="r", nonce="n""#, user: #"a"b\c"#).answer().value
        #expect(parameters(answer)["username"] == #""a\"b\\c""#)
        #expect(throws: AuthenticationError.controlCharacter(credential: "test")) {
            try DigestScheme().authenticator(#"Digest realm="r", nonce="n""#, user: "a\r\nb")
        }
    }

    @Test func `an empty target is sent as a slash, a quote in it escaped`() throws {
        let authenticator = try DigestScheme().authenticator(#"Digest realm="r", nonce="n""#)
        #expect(parameters(try authenticator.answer(target: "").value)["uri"] == #""/""#)
        #expect(parameters(try authenticator.answer(target: #"/a"b"#).value)["uri"] == #""/a\"b""#)
    }

    @Test(arguments: [
        #"Digest realm="r", nonce="n", algorithm=SHA-1"#, #"Digest realm="r""#, #"Digest nonce="n""#,
        #"Digest realm="r", nonce="n", qop="token""#, #"Basic realm="r", nonce="n""#, "Digest abc=",
    ])
    func `a challenge that cannot be answered is declined`(challenge: String) throws {
        let parsed = try #require(challenges(challenge).first)
        #expect(DigestScheme().strength(of: parsed) == nil)
        #expect(throws: AuthenticationError.unusableChallenge(method: .digest)) {
            try DigestScheme().authenticator(challenge)
        }
    }

    @Test func `auth-int without the body's digest is an error, not a wrong answer`() throws {
        let authenticator = try DigestScheme().authenticator(#"Digest realm="r", nonce="n", qop="auth-int""#)
        #expect(authenticator.bodyDigest == .md5)
        #expect(throws: AuthenticationError.bodyDigestNeeded) { try authenticator.answer() }
    }

    @Test func `200 tasks on one nonce get 2000 different counts without a gap`() async throws {
        let authenticator = try DigestScheme().authenticator(#"Digest realm="r", nonce="n", qop="auth""#)
        let counts = await withTaskGroup(of: [String].self) { group in
            for _ in 0..<200 {
                group.addTask {
                    (0..<10).compactMap { _ in (try? authenticator.answer()).flatMap { parameters($0.value)["nc"] } }
                }
            }
            return await group.reduce(into: [String]()) { $0 += $1 }
        }
        #expect(
            Set(counts)
                == Set(
                    (1...2000).map { number in
                        let text = String(number, radix: 16)
                        return String(repeating: "0", count: 8 - text.count) + text
                    }))
        #expect(counts.count == 2000)
    }
}
