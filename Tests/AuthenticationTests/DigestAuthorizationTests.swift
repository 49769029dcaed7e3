import Bytes
import Crypto
import Testing

@testable import Authentication

@Suite struct DigestAuthorizationTests {
    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    private static let sha256 = "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"

    /// RFC 7616 section 3.9.1: the field as the client of the example sends it.
    private static func field(_ algorithm: String = "SHA-256", response: String = sha256, more: String = "") -> String {
        """
        username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", algorithm=\(algorithm), \
        nonce="\(nonce)", nc=00000001, cnonce="\(clientNonce)", qop=auth, response="\(response)", \
        opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"\(more)
        """
    }

    private func read(_ text: String) -> Result<DigestAuthorization, DigestAuthorization.Defect> {
        do throws(DigestAuthorization.Defect) {
            return .success(try DigestAuthorization(text.utf8Span.span))
        } catch { return .failure(error) }
    }

    private func proves(_ text: String, password: String = "Circle of Life", method: String = "GET") throws -> Bool {
        let digest = try read(text).get()
        let value = Array(text.utf8)
        let user = ByteBuffer(capacity: 64)
        try digest.appendUser(of: value.span, to: user)
        let (realm, target) = (ByteBuffer(capacity: 64), ByteBuffer(capacity: 64))
        digest.appendRealm(of: value.span, to: realm)
        digest.appendTarget(of: value.span, to: target)
        let key = DigestKey.make(
            digest.algorithm, user: user.readable.text, realm: realm.readable, password: Secret(password))
        return digest.proves(key, value: value.span, method: method.utf8Span.span, target: target.readable)
    }

    @Test(arguments: [("MD5", "8ca523f5e9506fed4657c9700eebdbec"), ("SHA-256", sha256), ("sha-256", sha256)])
    func `the answers of RFC 7616 section 3.9_1 prove that the password is known`(
        algorithm: String, response: String
    ) throws {
        let text = Self.field(algorithm, response: response)
        #expect(try proves(text))
        #expect(try proves(Self.field(algorithm, response: response.uppercased())))
        #expect(try !proves(text, password: "Circle of life"))
        #expect(try !proves(text, method: "POST"))
        for part in ["00000001", "index.html", "Mufasa", "http-auth", Self.nonce, Self.clientNonce] {
            let other = part == "00000001" ? "00000002" : "x" + part.dropFirst()
            #expect(try !proves(text.replacing(part, with: other)), "\(part)")
        }
    }

    /// Computed with Python's hashlib from RFC 7616 section 3.5 for the example of section 3.9.1.
    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec", "9b712497bc9f91499fbcca1dfc5f09a5"),
        ("SHA-256", sha256, "86d3b25618d41854ca5039a5d7e53ff6355d5134a9b1fb088a78ac3c462195a0"),
    ])
    func `the client is proved in turn that its password is known`(
        algorithm: String, response: String, proof: String
    ) throws {
        let value = Array(Self.field(algorithm, response: response).utf8)
        let digest = try DigestAuthorization(value.span)
        let key = DigestKey.make(
            digest.algorithm, user: "Mufasa", realm: "http-auth@example.org".utf8Span.span,
            password: Secret("Circle of Life"))
        let buffer = ByteBuffer(capacity: 64)
        digest.appendProof(key, value: value.span, target: "/dir/index.html".utf8Span.span, to: buffer)
        #expect(
            buffer.readable.text
                == "rspauth=\"\(proof)\", qop=auth, cnonce=\"\(Self.clientNonce)\", nc=00000001")
    }

    @Test func `without an algorithm it is MD5, and counts and names may be quoted`() throws {
        let text = """
            USERNAME=Mufasa ,realm = "http-auth@example.org",, uri="/dir/index.html",nonce="\(Self.nonce)", \
            nc="00000001",cnonce="\(Self.clientNonce)",qop="auth",response="8ca523f5e9506fed4657c9700eebdbec",x="y\\"z"
            """
        #expect(try read(text).get().algorithm == .md5)
        #expect(try proves(text))
    }

    @Test(arguments: [
        (#"username="a\"b\\c", "#, #"a"b\c"#), (#"username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, "#, "Jäsøn Doe"),
        (#"username="Jäsøn", "#, "Jäsøn"), (#"username="", "#, ""),
    ])
    func `a name comes in three forms`(parameter: String, name: String) throws {
        let text = Self.field().replacing(#"username="Mufasa", "#, with: parameter)
        let buffer = ByteBuffer(capacity: 64)
        let value = Array(text.utf8)
        try read(text).get().appendUser(of: value.span, to: buffer)
        #expect(buffer.readable.text == name)
    }

    @Test(
        arguments: [
            ("", .missing("username")), ("username", .syntax), ("username=", .syntax), ("=x", .syntax),
            (#"username="open"#, .syntax), (#"username="open\"#, .syntax), (#"username="a"b"#, .syntax),
            ("username=\"a\u{1}b\"", .syntax), ("username=a b", .syntax), ("@=1", .syntax),
            (field(more: ", nc=00000002"), .repeated("nc")),
            (field(more: ", username*=UTF-8''x"), .repeated("username")),
            (field(more: ", userhash=true"), .malformed("userhash")),
            (field("SHA-512-256"), .malformed("algorithm")), (field("MD5-sess"), .malformed("algorithm")),
            (field("MD5"), .malformed("response")), (field(response: "x" + sha256.dropFirst()), .malformed("response")),
            (field().replacing("00000001", with: "1"), .malformed("nc")),
            (field().replacing("00000001", with: "00000000"), .malformed("nc")),
            (field().replacing("qop=auth,", with: "qop=auth-int,"), .malformed("qop")),
            (field().replacing("qop=auth,", with: ""), .missing("qop")),
            (field().replacing("cnonce=", with: "other="), .missing("cnonce")),
            (field().replacing("uri=", with: "url="), .missing("uri")),
            (field().replacing(nonce, with: #"a\"b"#), .malformed("nonce")),
        ] as [(String, DigestAuthorization.Defect)])
    func `credentials that could not be verified are refused with a reason that shows no value`(
        text: String, defect: DigestAuthorization.Defect
    ) {
        #expect(throws: defect) { try read(text).get() }
        #expect(!"\(defect)".contains("Mufasa"))
    }

    @Test(arguments: ["latin1''x", "UTF-8'x", "UTF-8''%4", "UTF-8''", "UTF-8"])
    func `an extended name in another form is refused`(name: String) throws {
        let text = Self.field().replacing(#"username="Mufasa""#, with: "username*=\(name)")
        let value = Array(text.utf8)
        let digest = try read(text).get()
        #expect(throws: DigestAuthorization.Defect.malformed("username*")) {
            try digest.appendUser(of: value.span, to: ByteBuffer(capacity: 64))
        }
    }

    @Test func `no beginning of a field is more than a refusal`() {
        let text = Array(Self.field(more: #", a="\"""#).utf8)
        for end in 0..<text.count {
            let part = String(decoding: text[..<end], as: UTF8.self)
            if case .success(let digest) = read(part) { #expect(digest.count == 1) }
        }
    }
}
