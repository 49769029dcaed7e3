import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

@Suite struct SignatureV4Tests {
    /// The AWS Signature Version 4 test suite: name, request line, fields beside Host and date, content, signature.
    static let suite: [(String, String, [String], String, String)] = [
        ("get-vanilla", "GET /", [], "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("post-vanilla", "POST /", [], "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        (
            "get-vanilla-query-order-key-case", "GET /?Param2=value2&Param1=value1", [], "",
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
        ),
        (
            "get-vanilla-query-order-value", "GET /?Param1=value2&Param1=value1", [], "",
            "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694"
        ),
        ("get-utf8", "GET /ሴ", [], "", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
        (
            "get-space", "GET /example space/", [], "",
            "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"
        ),
        (
            "get-unreserved",
            "GET /-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", [], "",
            "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"
        ),
        (
            "get-vanilla-utf8-query", "GET /?ሴ=bar", [], "",
            "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"
        ),
        (
            "get-header-value-trim", "GET /", ["My-Header1: value1", "My-Header2: \"a   b   c\""], "",
            "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"
        ),
        (
            "get-header-key-duplicate", "GET /",
            ["My-Header1:value2", "My-Header1:value2", "My-Header1:value1"], "",
            "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"
        ),
        (
            "post-x-www-form-urlencoded", "POST /", ["Content-Type: application/x-www-form-urlencoded"],
            "Param1=value1", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"
        ),
        ("get-relative", "GET /example/..", [], "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("get-slash", "GET //", [], "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        (
            "get-slash-dot-slash", "GET /./", [], "",
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        ),
    ]

    private func key(_ service: String, access: String = "AKIDEXAMPLE", secret: String, token: String? = nil)
        -> SigningKey.AWS
    {
        SigningKey.AWS(
            region: "us-east-1", service: service, accessKey: access, secretKey: Secret(secret),
            sessionToken: token.map { Secret($0) })
    }

    private func head(_ line: String, _ fields: [String]) -> [UInt8] {
        Array(([line + " HTTP/1.1"] + fields).map { $0 + "\r\n" }.joined().utf8)
    }

    @Test(arguments: suite)
    func `the published test suite's signatures come out`(
        name: String, line: String, fields: [String], content: String, signature: String
    ) {
        let head = head(line, ["Host:example.amazonaws.com", "X-Amz-Date:20150830T123600Z"] + fields)
        let digest = MessageDigest.digest(.sha256, of: content.utf8Span.span).array
        let request = SignatureV4.CanonicalRequest(
            head: head.span, adding: [], payload: Hex.encode(digest), isS3: false, signs: { _ in true })
        let signer = SignatureV4(key("service", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"))
        let authorization = signer.authorization(for: request, date: "20150830T123600Z")
        #expect(
            authorization.hasSuffix(", Signature=\(signature)"), "\(String(decoding: request.bytes, as: UTF8.self))")
        #expect(
            authorization.hasPrefix(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders="))
    }

    /// "Examples: Signature Calculations" in the Amazon S3 API Reference.
    @Test(arguments: [
        (
            "GET /test.txt", ["Range: bytes=0-9"], "",
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        ),
        (
            "PUT /test$file.text", ["Date: Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class: REDUCED_REDUNDANCY"],
            "Welcome to Amazon S3.", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        ),
        ("GET /?lifecycle", [], "", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ("GET /?max-keys=2&prefix=J", [], "", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ])
    func `the published S3 examples come out`(line: String, fields: [String], content: String, signature: String) {
        let digest = Hex.encode(MessageDigest.digest(.sha256, of: content.utf8Span.span).array)
        let signed = [
            "Host: examplebucket.s3.amazonaws.com", "x-amz-content-sha256: \(digest)", "x-amz-date: 20130524T000000Z",
        ]
        let head = head(line, signed + fields)
        let request = SignatureV4.CanonicalRequest(
            head: head.span, adding: [], payload: digest, isS3: true, signs: { _ in true })
        let signer = SignatureV4(
            key("s3", access: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"))
        #expect(signer.authorization(for: request, date: "20130524T000000Z").hasSuffix("Signature=\(signature)"))
    }

    /// "Examples of how to derive a signing key" in the AWS General Reference.
    @Test func `the published signing key comes out`() {
        let key = SigningKey.AWS(
            region: "us-east-1", service: "iam", accessKey: "",
            secretKey: Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"))
        let signing = SignatureV4(key).signingKey(for: "20120215")
        #expect(
            signing.withHexadecimal { $0.text } == "f4780e2d9f65fa895f9c67b32ce1baf0b0d8a43505a000a1a9e090d414db404d")
    }

    @Test func `a request gets date, digest, token and signature, and only what matters is signed`() {
        let signer = SignatureV4(key("s3", secret: "secret", token: "session"))
        let head = head(
            "PUT /a%20b?x=1", ["Host: h", "User-Agent: u", "Content-Type: text/plain", "X-Amz-Acl: private", "Via: v"])
        let fields = signer.fields(
            for: head.span, payload: .digest(Array(repeating: 0xAB, count: 32)), at: 1_440_938_160_000)
        #expect(fields.date == "20150830T123600Z")
        #expect(fields.payload == String(repeating: "ab", count: 32))
        #expect(fields.token == Secret("session"))
        #expect(
            fields.authorization.contains(
                "SignedHeaders=content-type;host;x-amz-acl;x-amz-content-sha256;x-amz-date;x-amz-security-token, "))
    }

    @Test(arguments: [
        ("UNSIGNED-PAYLOAD", true), ("STREAMING-UNSIGNED-PAYLOAD-TRAILER", true),
        ("STREAMING-AWS4-HMAC-SHA256-PAYLOAD", false),
        ("STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER", false),
    ])
    func `a client's word about its content is kept, unless its pieces are signed`(word: String, isKept: Bool) {
        let payload = try? SignatureV4.Payload(word.utf8Span.span)
        #expect(payload?.text == (isKept ? word : nil))
    }

    /// S3 encodes a path once, the others what they find.
    @Test(arguments: [
        ("/a%20b/../c", true, "/a%20b/../c"), ("/a%20b/../c", false, "/c"), ("/a%20b", false, "/a%2520b"),
        ("/a//b/", true, "/a//b/"), ("/a//b/", false, "/a/b/"), ("/%e4+(x)", true, "/%E4%2B%28x%29"), ("", false, "/"),
    ])
    func `a path is made canonical`(path: String, isS3: Bool, canonical: String) {
        let head = head("GET \(path)", ["Host: h"])
        let request = SignatureV4.CanonicalRequest(
            head: head.span, adding: [], payload: "", isS3: isS3, signs: { $0 == "host" })
        #expect(String(decoding: request.bytes, as: UTF8.self) == "GET\n\(canonical)\n\nhost:h\n\nhost\n")
    }

    @Test(arguments: [
        ("b=2&a=1&a", "a=&a=1&b=2"), ("x=a%2fb%7E", "x=a%2Fb~"), ("x=a+b", "x=a%20b"), ("A=1&a=2&%41=0", "A=0&A=1&a=2"),
        ("=&&x==", "=&x=%3D"),
    ])
    func `a query is made canonical`(query: String, canonical: String) {
        let head = head("GET /?\(query)", ["Host: h"])
        let request = SignatureV4.CanonicalRequest(
            head: head.span, adding: [], payload: "", isS3: true, signs: { $0 == "host" })
        #expect(String(decoding: request.bytes, as: UTF8.self) == "GET\n/\n\(canonical)\nhost:h\n\nhost\n")
    }

    @Test(arguments: [
        (0, "19700101T000000Z"), (951_782_400_000, "20000229T000000Z"), (951_868_799_999, "20000229T235959Z"),
        (1_704_067_199_000, "20231231T235959Z"), (4_107_542_400_000, "21000301T000000Z"),
    ])
    func `times are written in the basic format`(time: WallTime, text: String) {
        #expect(SignatureV4.basicFormat(time) == text)
    }

    /// Invariant: no head traps, with any content from a client.
    @Test func `no request traps`() {
        var random = SystemRandomNumberGenerator()
        let whole = head("GET /a/%41%2?b=%&c", ["Host: h", "X-Amz-A:", "X-Amz-B"])
        for _ in 0..<5_000 {
            var bytes = Array(whole.prefix(.random(in: 0...whole.count, using: &random)))
            for _ in 0..<3 where !bytes.isEmpty {
                bytes[.random(in: 0..<bytes.count, using: &random)] = "\r\n %?&=:/.".utf8.randomElement() ?? 0
            }
            for isS3 in [true, false] {
                let signed = SignatureV4.CanonicalRequest(
                    head: bytes.span, adding: [], payload: "", isS3: isS3, signs: { _ in true })
                #expect(!signed.bytes.isEmpty)
            }
        }
    }
}
