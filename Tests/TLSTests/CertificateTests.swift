import Bytes
import COpenSSL
import Model
import Testing

@testable import TLS

@Suite struct CertificateTests {
    private let authority = TestCertificate.root("Another one")

    private var leaf: Certificate {
        TestCertificate.leaf(by: authority) {
            $0.subject = "C=DE,O=Bücher,CN=www.example.test"
            $0.serial = 0x1234
            $0["subjectAltName"] =
                "DNS:WWW.Example.test,IP:192.0.2.7,IP:2001:db8::7,email:a@example.test,URI:https://a/,dirName:d|d|CN=x"
        }.certificate
    }

    @Test func `A certificate says what stands in it`() {
        let leaf = leaf
        #expect(leaf.subject?.description == "CN=www.example.test,O=Bücher,C=DE")
        #expect(leaf.issuer == authority.certificate.subject)
        #expect(leaf.notBefore == WallTime(seconds: TestCertificate.now - 10 * 86_400))
        #expect(leaf.notAfter == WallTime(seconds: TestCertificate.now + 90 * 86_400))
        #expect(leaf.serialNumber == [0x12, 0x34])
        #expect(
            leaf.subjectAlternativeNames.map(\.description) == [
                "www.example.test", "192.0.2.7", "2001:db8::7", "a@example.test", "https://a/", "CN=x",
            ])
        #expect(leaf.keyDescription == "EC of 256 bits (prime256v1)")
        #expect(leaf.signatureAlgorithm == "ecdsa-with-SHA256")
    }

    @Test func `Bytes and text come back as the same certificate`() throws {
        let leaf = leaf
        #expect(try Certificate(der: leaf.der) == leaf)
        let text = "a comment\n\(leaf.pem)-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n\(leaf.pem)the end"
        #expect(try Certificate.all(inPEM: text.utf8Span.span) == [leaf, leaf])
        #expect(leaf != authority.certificate)
    }

    @Test func `a file has one certificate in DER, or many in PEM`() throws {
        let leaf = leaf
        let whole = leaf.der
        #expect(try Certificate.all(in: whole.span) == [leaf])
        let text = Array((leaf.pem + leaf.pem).utf8)
        #expect(try Certificate.all(in: text.span) == [leaf, leaf])
        let cut = Array(leaf.der.dropLast())
        for damaged in [cut, leaf.der + [0x30], [0x30]] {
            #expect(throws: Certificate.Failure.malformed) { try Certificate.all(in: damaged.span) }
        }
        let nothing: [UInt8] = []
        #expect(throws: Certificate.Failure.none) { try Certificate.all(in: nothing.span) }
    }

    @Test(arguments: [
        ("", Certificate.Failure.none), ("no block", .none),
        ("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", .malformedBlock(1)),
        ("-----BEGIN CERTIFICATE-----\n%%%%\n-----END CERTIFICATE-----\n", .malformedBlock(1)),
        ("-----BEGIN CERTIFICATE-----\nMAA=\n", .malformedBlock(1)),
    ])
    func `Text without a whole certificate is refused`(text: String, error: Certificate.Failure) {
        #expect(throws: error) { try Certificate.all(inPEM: text.utf8Span.span) }
    }

    @Test func `More certificates than the limit are refused`() {
        let text = String(repeating: leaf.pem, count: 3)
        #expect(throws: Certificate.Failure.tooLarge) { try Certificate.all(inPEM: text.utf8Span.span, limit: 2) }
    }

    @Test func `An encrypted block asks nobody for a password`() {
        let text = """
            -----BEGIN CERTIFICATE-----
            Proc-Type: 4,ENCRYPTED
            DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF

            AAAAAAAAAAAAAAAAAAAAAA==
            -----END CERTIFICATE-----
            """
        #expect(throws: Certificate.Failure.malformedBlock(1)) { try Certificate.all(inPEM: text.utf8Span.span) }
    }

    @Test func `A certificate cut off anywhere, or with a byte more, is none`() {
        let der = leaf.der
        for count in 0..<der.count {
            #expect(throws: Certificate.Failure.malformed) { try Certificate(der: Array(der[..<count])) }
        }
        #expect(throws: Certificate.Failure.malformed) { try Certificate(der: der + [0]) }
        #expect(throws: Certificate.Failure.tooLarge) { try Certificate(der: [UInt8](repeating: 0x30, count: 70_000)) }
    }

    @Test func `A certificate whose times cannot be read is never valid`() throws {
        let broken = try TestCertificate.root().altered { der in
            der.replace(Array("270105080000Z".utf8), with: Array("279905080000Z".utf8))
        }
        #expect(broken.certificate.notBefore == .distantFuture)
    }

    @Test func `A pin is the digest of the public key, in Base64`() throws {
        let leaf = leaf
        let pin = try #require(KeyPin(leaf.publicKeyPin.description))
        #expect(pin == leaf.publicKeyPin)
        #expect(pin.description.hasPrefix("sha256/") && pin.description.utf8.count == 51)
        #expect(pin != authority.certificate.publicKeyPin)
        // The key of RFC 8410 section 10.1, and what `openssl pkey -pubin -outform der | sha256sum` makes of it.
        let key = Base64.decode("MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=") ?? []
        #expect(KeyPin(subjectPublicKeyInfo: key.span).description == Self.examplePin)
    }

    private static let examplePin = "sha256/oekVYFTgT6yJmunydRMs3Ael28TqLCrTof/G4NJTaB8="

    @Test(arguments: [
        "", "sha256/", "sha256/AAAA", "sha1/\(String(repeating: "A", count: 43))=",
        "sha256/\(String(repeating: "A", count: 44))",
    ])
    func `Other text is no pin`(text: String) {
        #expect(KeyPin(text) == nil)
    }
}
