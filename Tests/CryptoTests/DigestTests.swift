import Bytes
import Crypto
import Testing

@Suite struct DigestTests {
    /// MD5: RFC 1321 A.5. SHA-1, SHA-256 and SHA-512/256: NIST's examples for FIPS 180-4.
    @Test(arguments: [
        (DigestAlgorithm.md5, "", "d41d8cd98f00b204e9800998ecf8427e"),
        (.md5, "abc", "900150983cd24fb0d6963f7d28e17f72"),
        (.sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (.sha512t256, "", "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"),
        (.sha512t256, "abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
    ])
    func `digests agree with the published examples`(algorithm: DigestAlgorithm, text: String, hex: String) {
        let digest = MessageDigest.digest(algorithm, of: text.utf8Span.span)
        #expect(digest.withHexadecimal { $0.text } == hex)
        #expect(Hex.encode(digest.array) == hex)
        #expect(digest.count == algorithm.length)
    }

    @Test(arguments: DigestAlgorithm.allCases)
    func `a digest that is begun may be copied or put aside, and each copy finished`(algorithm: DigestAlgorithm) {
        var begun = MessageDigest(algorithm)
        begun.update("a")
        var first = begun
        first.update("bc")
        begun.update("b")
        begun.update("c".utf8Span.span)
        let again = MessageDigest(resuming: begun.suspended())
        let expected = MessageDigest.digest(algorithm, of: "abc".utf8Span.span).array
        #expect(again.finish().array == expected)
        #expect(first.finish().array == expected)
        #expect(begun.finish().array == expected)
    }

    @Test func `HMAC-SHA-256 agrees with RFC 4231`() {
        let code = MessageAuthenticationCode(key: Secret("Jefe"))
            .code(of: "what do ya want for nothing?".utf8Span.span)
        #expect(
            code.withHexadecimal { $0.text } == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    /// RFC 2202 sections 2 and 3, cases 2 and 6; RFC 4231, case 6.
    @Test(arguments: [
        (
            DigestAlgorithm.md5, Array("Jefe".utf8), "what do ya want for nothing?", "750c783e6ab0b503eaa86e310a5db738"
        ),
        (
            .md5, Array(repeating: 0xAA, count: 80), "Test Using Larger Than Block-Size Key - Hash Key First",
            "6b1ab7fe4bd7bf8f0b62e6ce61b9d0cd"
        ),
        (.sha1, Array("Jefe".utf8), "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        (
            .sha1, Array(repeating: 0xAA, count: 80), "Test Using Larger Than Block-Size Key - Hash Key First",
            "aa4ae5e15272d00e95705637ce8a3b55ed402112"
        ),
        (
            .sha256, Array(repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func `HMAC agrees with the published examples`(
        algorithm: DigestAlgorithm, key: [UInt8], text: String, hex: String
    ) {
        let code = MessageAuthenticationCode(algorithm, key: key.span).code(of: text.utf8Span.span)
        #expect(code.withHexadecimal { $0.text } == hex)
    }

    /// Computed with Python's `hmac` and OpenSSL's SHA-512/256, whose blocks are longer.
    @Test func `HMAC pads to the block of its digest`() {
        let key = Array(repeating: UInt8(0x6B), count: 100)
        let code = MessageAuthenticationCode(.sha512t256, key: key.span).code(of: "text".utf8Span.span)
        #expect(code.withHexadecimal { $0.text } == "c4e91e9586624047e1b836e1cc77b99b7248248d137766364dbd9d314998d478")
    }

    /// RFC 1320 A.5.
    @Test(arguments: [
        ("", "31d6cfe0d16ae931b73c59d7e0c089c0"), ("a", "bde52cb31de33e46245e05fbdbd6fb24"),
        ("abc", "a448017aaf21d8525fc10ae87aa6729d"),
        ("abcdefghijklmnopqrstuvwxyz", "d79e1c308aa5bbcdeea8ed63df412da9"),
    ])
    func `MD4 agrees with RFC 1320`(text: String, hex: String) throws {
        let digest = try MD4.digest(of: text.utf8Span.span)
        #expect(digest.withHexadecimal { $0.text } == hex)
        #expect(digest.count == 16)
    }

    @Test func `random bytes differ`() throws {
        #expect(try RandomBytes.make(16) != RandomBytes.make(16))
        #expect(try RandomBytes.make(16).count == 16)
    }
}
