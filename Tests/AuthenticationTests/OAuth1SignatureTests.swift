import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

@Suite struct OAuth1SignatureTests {
    private func head(_ line: String, host: String, _ more: [String] = []) -> SignedRequest {
        SignedRequest(
            Array((["\(line) HTTP/1.1", "Host: \(host)"] + more).map { $0 + "\r\n" }.joined().utf8).span)
    }

    private func key(
        _ method: SignatureSource.OAuth1Method, _ name: String = "ck", _ secret: String = "cs", token: String? = nil,
        _ tokenSecret: String? = nil, realm: String? = nil
    ) -> SigningKey.OAuth1 {
        SigningKey.OAuth1(
            method: method, consumerKey: name, proof: .secret(Secret(secret)),
            token: token.map { SigningKey.OAuth1.Token(identifier: $0, secret: tokenSecret.map { Secret($0) }) },
            realm: realm)
    }

    private func text(_ secret: Secret?) -> String { secret?.withBytes { $0.text } ?? "" }

    /// RFC 5849 section 3.4.1.1.
    @Test func `the base string of the RFC comes out`() {
        let request = head(
            "POST /request?b5=%3D%253D&a3=a&c%40=&a2=r%20b", host: "example.com",
            ["Content-Type: application/x-www-form-urlencoded"])
        let base = OAuth1Signature.baseString(
            request, isSecure: false, content: .form(Array("c2&a3=2+q".utf8)),
            parameters: [
                ("oauth_consumer_key", "9djdj82h48djs9d2"), ("oauth_token", "kkk9d7dh3k39sjv7"),
                ("oauth_signature_method", "HMAC-SHA1"), ("oauth_timestamp", "137131201"),
                ("oauth_nonce", "7d8f3e4a"),
            ])
        #expect(
            String(decoding: base, as: UTF8.self)
                == "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c"
                + "%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_m"
                + "ethod%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7")
    }

    /// RFC 5849 section 3.4.1.2.
    @Test(arguments: [
        ("GET /r%20v/X?id=123", "EXAMPLE.COM:80", false, "http%3A%2F%2Fexample.com%2Fr%2520v%2FX"),
        ("GET /?q=1", "www.example.net:8080", true, "https%3A%2F%2Fwww.example.net%3A8080%2F"),
        ("GET /", "h:443", true, "https%3A%2F%2Fh%2F"), ("GET /", "h:443", false, "http%3A%2F%2Fh%3A443%2F"),
        ("GET http://a/b?c", "a", false, "http%3A%2F%2Fa%2Fb"), ("GET http://a?c", "a", false, "http%3A%2F%2Fa%2F"),
        ("GET /", "[::1]:80", false, "http%3A%2F%2F%5B%3A%3A1%5D%2F"),
    ])
    func `the URL of the base string has no usual port, no query and small letters`(
        line: String, host: String, isSecure: Bool, expected: String
    ) {
        let base = OAuth1Signature.baseString(
            head(line, host: host), isSecure: isSecure, content: .none, parameters: [])
        #expect(String(decoding: base, as: UTF8.self).split(separator: "&")[1] == expected)
    }

    /// RFC 5849 section 1.2, the request for the photograph.
    @Test func `the signature of the RFC comes out`() {
        let signer = OAuth1Signature(
            key(.hmacSHA1, "dpf43f3p2l4k3l03", "kd94hf93k423kf44", token: "nnch734d00sl2jdk", "pfkkdhi9sl3r4s00"))
        let base = OAuth1Signature.baseString(
            head("GET /photos?file=vacation.jpg&size=original", host: "photos.example.net"), isSecure: false,
            content: .none,
            parameters: [
                ("oauth_consumer_key", "dpf43f3p2l4k3l03"), ("oauth_token", "nnch734d00sl2jdk"),
                ("oauth_signature_method", "HMAC-SHA1"), ("oauth_timestamp", "137131202"), ("oauth_nonce", "chapoH"),
            ])
        #expect(text(signer.signature(of: base)) == "MdpQcU8iPSUjWoN%2FUDMsK2sui9I%3D")
    }

    /// Computed with oauthlib 4.0.1 and Python's `hmac`, for the nonce and the time below: method and target, host,
    /// whether it is secure, form, consumer key and secret, token and secret, HMAC-SHA1, HMAC-SHA256.
    static let computed: [(String, String, Bool, String?, (String, String), (String, String)?, String, String)] = [
        (
            "GET /r/%C3%A9?b=2&a=x%20y&a=%26&empty&plus=1+1", "api.example.com", true, nil,
            ("key one", "se/cr+et"), ("tok%", "ts&é"), "zkMRAXPK7hVxZpwEO/IPPUDcdxw=",
            "r0uqvY4aCS6Zjfn+86b4TjjNN6IRsqhqR2FqB49GfiQ="
        ),
        (
            "POST /path/to%2Fit?x=%E2%82%AC", "EXAMPLE.com:80", false,
            "status=Hello%20Ladies%20%2b%20Gentlemen&a=b%3Dc&&z", ("ck", "cs"), nil,
            "3m8vQmasn3FbhNmAol/q1FZmrvA=", "9IhzhIWCjfXTXHLtoW7Mi4KaOnQ1GSiNvMITVfhOMYU="
        ),
        (
            "PUT /", "example.com:8443", true, nil, ("ck", "cs"), ("t", "ts"), "TX7nIl90lQUGM7ykTMQ5yLmf9Ao=",
            "7H2/Ne/xkC3sGIKCY/RcxlTJidMCUYtyFZjHbIoXGFQ="
        ),
        (
            "post /?q=~-._!*'()", "example.com:443", true, "b=1&a=2&a=1&A=3", ("ck", "cs"), ("t", "ts"),
            "wCCdCqzhdZBqKg2n4KIvwXJsYmk=", "8bw9bIBrgScWiKHlZEVNgwdbGsq/mZkVe/Ik7ZsqcbA="
        ),
    ]

    @Test(arguments: computed.indices, [SignatureSource.OAuth1Method.hmacSHA1, .hmacSHA256])
    func `another implementation comes to the same signature`(index: Int, method: SignatureSource.OAuth1Method) {
        let (line, host, isSecure, form, client, token, sha1, sha256) = Self.computed[index]
        let signer = OAuth1Signature(key(method, client.0, client.1, token: token?.0, token?.1, realm: "R 1"))
        let value = text(
            signer.authorization(
                for: head(line, host: host), isSecure: isSecure,
                content: form.map { .form(Array($0.utf8)) } ?? .none, at: WallTime(seconds: 137_131_201),
                nonce: "7d8f3e4a"))
        let signature = PercentEncoding.encode((method == .hmacSHA1 ? sha1 : sha256).utf8)
        #expect(value.hasSuffix(", oauth_signature=\"\(String(decoding: signature, as: UTF8.self))\""), "\(value)")
        #expect(value.hasPrefix("OAuth realm=\"R 1\", oauth_consumer_key=\""))
        #expect(value.contains("oauth_token=") == (token != nil))
    }

    /// OAuth Request Body Hash 1.0 section 4.3: the hash of its example.
    @Test func `content that is no form is hashed`() {
        let content = Array("Hello World!".utf8)
        for (method, hash) in [(SignatureSource.OAuth1Method.hmacSHA1, DigestAlgorithm.sha1), (.hmacSHA256, .sha256)] {
            let signer = OAuth1Signature(key(method))
            #expect(signer.bodyHash == hash)
            let digest = MessageDigest.digest(hash, of: content.span).array
            let request = head("PUT /resource", host: "www.example.com")
            let value = text(
                signer.authorization(
                    for: request, isSecure: false, content: .digest(digest), at: WallTime(seconds: 1), nonce: "n"))
            let expected =
                method == .hmacSHA1
                ? "Lve95gjOVATpfV8EL5X4nxwjKHE%3D" : "f4OxZX%2Fx%2FFO5LcGBSKHWXfwtSx%2Bj1ncoSt3SABJtkGk%3D"
            #expect(value.contains("oauth_body_hash=\"\(expected)\", "), "\(value)")
        }
        #expect(OAuth1Signature(key(.plaintext)).bodyHash == nil)
    }

    /// RFC 5849 section 3.4.4: both secrets, encoded and joined, and encoded once more for the field.
    @Test func `plaintext sends the secrets`() {
        let signer = OAuth1Signature(key(.plaintext, "ck", "c&s", token: "t", "t s"))
        let value = text(
            signer.authorization(
                for: head("GET /", host: "h"), isSecure: true, content: .none, at: WallTime(seconds: 1), nonce: "n"))
        #expect(value.hasSuffix("oauth_signature=\"c%2526s%26t%2520s\""), "\(value)")
        let alone = OAuth1Signature(key(.plaintext))
        #expect(text(alone.signature(of: [])) == "cs%26")
    }

    @Test func `a key of another kind signs nothing`() {
        final class Mute: AssertionSigner {
            let algorithm = "none"
            let fingerprint: UInt128 = 1
            func signature(of bytes: [UInt8]) -> [UInt8]? { nil }
        }
        let proofs: [(SignatureSource.OAuth1Method, SigningKey.OAuth1.Proof)] = [
            (.rsaSHA1, .secret(Secret("x"))), (.hmacSHA1, .key(Mute())), (.rsaSHA1, .key(Mute())),
            (.plaintext, .key(Mute())),
        ]
        for (method, proof) in proofs {
            let signer = OAuth1Signature(SigningKey.OAuth1(method: method, consumerKey: "c", proof: proof))
            #expect(
                signer.authorization(
                    for: head("GET /", host: "h"), isSecure: true, content: .none, at: WallTime(seconds: 1), nonce: "n")
                    == nil)
        }
    }

    @Test func `each part of a key makes another version`() {
        let keys = [
            key(.hmacSHA1), key(.hmacSHA256), key(.hmacSHA1, "other"), key(.hmacSHA1, "ck", "other"),
            key(.hmacSHA1, token: "t", "ts"), key(.hmacSHA1, token: "t", "other"), key(.hmacSHA1, realm: "r"),
        ]
        let versions = keys.map { Credential(name: "x", signingKey: .oauth1($0)).version }
        #expect(Set(versions).count == keys.count)
        #expect(Credential(name: "x", signingKey: .oauth1(key(.hmacSHA1))).version == versions[0])
    }
}
