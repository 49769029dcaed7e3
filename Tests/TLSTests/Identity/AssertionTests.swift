import Bytes
import Crypto
import Foundation
import Testing

@testable import TLS

/// Signatures of RFC 7518, checked by the `openssl` program.
@Suite struct AssertionTests {
    @Test(arguments: [
        ("rsa:2048", "RS256", "sha256", 256), ("ec -pkeyopt ec_paramgen_curve:P-256", "ES256", "sha256", 64),
        ("ec -pkeyopt ec_paramgen_curve:P-384", "ES384", "sha384", 96),
    ])
    func `a signature is what RFC 7518 says`(kind: String, algorithm: String, digest: String, length: Int) throws {
        let command = try OpenSSLCommand()
        defer { command.remove() }
        try command.run("openssl req -x509 -newkey \(kind) -nodes -keyout key.pem -out leaf.pem -subj /CN=client")
        try command.run("openssl pkey -in key.pem -pubout -out public.pem")
        let key = try command.secret(of: "key.pem").withBytes { bytes in try PrivateKey(pem: bytes) }
        #expect(key.assertionAlgorithm == algorithm)
        let signature = try #require(key.assertionSignature(of: Array("head.claims".utf8)))
        #expect(signature.count == length)
        let encoded = algorithm == "RS256" ? signature : Self.sequence(signature)
        try Data(encoded).write(to: command.folder.appending(path: "signature"))
        let said = try command.run(
            "printf head.claims | openssl dgst -\(digest) -verify public.pem -signature signature")
        #expect(said.contains("Verified OK"))
    }

    @Test(arguments: ["rsa:1024", "ed25519", "ec -pkeyopt ec_paramgen_curve:secp521r1"])
    func `a key that token endpoints do not know signs nothing`(kind: String) throws {
        let command = try OpenSSLCommand()
        defer { command.remove() }
        try command.run("openssl req -x509 -newkey \(kind) -nodes -keyout key.pem -out leaf.pem -subj /CN=client")
        let key = try command.secret(of: "key.pem").withBytes { bytes in try PrivateKey(pem: bytes) }
        #expect(key.assertionAlgorithm == nil)
        #expect(key.assertionSignature(of: [1]) == nil)
    }

    /// The two halves as `openssl` wants them: a SEQUENCE of two INTEGERs.
    private static func sequence(_ signature: [UInt8]) -> [UInt8] {
        let half = signature.count / 2
        let integers = [signature[..<half], signature[half...]].flatMap { number -> [UInt8] in
            var digits = Array(number.drop { $0 == 0 })
            if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
            return [2, UInt8(digits.count)] + digits
        }
        return [0x30, UInt8(integers.count)] + integers
    }
}
