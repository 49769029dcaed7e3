import Authentication
import Bytes
import Credentials
import Crypto
import Foundation
import Model
import TLS
import Testing

/// A certificate that signs itself, with its key, as files have it.
private struct Pair {
    let certificate: String
    let key: String

    init(at now: WallTime = WallTime(seconds: 1_800_000_000)) throws {
        let authority = try CertificateAuthority.make(host: "test", at: now)
        let identity = try authority.mint(for: ServerName("device.example"), at: now)
        certificate = identity.leaf.pem
        key = try identity.key.pem().withBytes { String(decoding: $0.array, as: UTF8.self) }
    }
}

@Suite struct IdentityCredentialTests {
    private let now = WallTime(seconds: 1_800_000_000)

    private func credentials(
        _ certificate: TemporaryFile, _ key: TemporaryFile?, passphrase: ValueSource? = nil
    ) -> ConfiguredCredentials {
        let identity: CredentialSource.Identity =
            if let key {
                .pem(certificate: certificate.path, key: key.path, passphrase: passphrase)
            } else {
                .pkcs12(certificate.path, passphrase: passphrase)
            }
        return ConfiguredCredentials(
            [ConfiguredCredential(name: "device", content: .identity(identity))], environment: [:])
    }

    @Test func `a certificate and its key become an identity`() throws {
        let pair = try Pair()
        let files = try [pair.certificate, pair.key, pair.key + pair.certificate].map { try TemporaryFile($0) }
        let both = credentials(files[0], files[1])
        #expect(both.refresh(at: now).changed.map(\.description) == ["credential device"])
        #expect(both.refresh(at: now).changed.isEmpty)
        let credential = try both.credential(named: "device")
        #expect(credential.user == nil)
        let identity = try #require(credential.identity as? Identity)
        #expect(identity.leaf.pem == pair.certificate)
        let one = credentials(files[2], nil)
        one.refresh(at: now)
        #expect(try one.credential(named: "device").version == credential.version)
    }

    @Test func `files that change are a new version, and nothing less than a whole pair is`() throws {
        let (old, new) = try (Pair(), Pair())
        let (certificate, key) = try (TemporaryFile(old.certificate), TemporaryFile(old.key))
        let credentials = credentials(certificate, key)
        credentials.refresh(at: now)
        let first = try credentials.credential(named: "device").version
        try certificate.write(new.certificate)
        let source = "\(certificate.path) with \(key.path)"
        #expect(
            credentials.refresh(at: now).errors
                == [.identity(credential: "device", source: source, .keyMismatch)])
        #expect(try credentials.credential(named: "device").version == first)
        try key.write("")
        #expect(credentials.refresh(at: now).errors == [.empty(credential: "device", path: key.path)])
        #expect(try credentials.credential(named: "device").version == first)
        try key.write(new.key)
        let refresh = credentials.refresh(at: now)
        #expect(refresh.errors.isEmpty)
        #expect(refresh.changed.count == 1)
        #expect(try credentials.credential(named: "device").version != first)
    }

    @Test func `new rules keep the value that a file had, if they state it in the same words`() throws {
        let pair = try Pair()
        let (certificate, key) = try (TemporaryFile(pair.certificate), TemporaryFile(pair.key))
        let older = credentials(certificate, key)
        older.refresh(at: now)
        let version = try older.credential(named: "device").version
        try key.write(try Pair().key)
        let newer = credentials(certificate, key)
        newer.keep(valuesOf: older)
        let refresh = newer.refresh(at: now)
        #expect(refresh.changed.isEmpty)
        #expect(refresh.errors.count == 1)
        #expect(try newer.credential(named: "device").version == version)
        let other = credentials(certificate, key, passphrase: .literal(RedactedText("sesame")))
        other.keep(valuesOf: older)
        other.refresh(at: now)
        #expect(throws: CredentialError.self) { try other.credential(named: "device") }
    }

    @Test func `a problem is one sentence with the credential and its files`() throws {
        let certificate = try TemporaryFile("nothing\n")
        let refresh = credentials(certificate, nil).refresh(at: now)
        #expect(
            refresh.errors.map(\.description) == [
                "credential device: \(certificate.path): there is no certificate in it that can be read"
            ])
        let token = CredentialSource.Identity.pkcs11("pkcs11:object=device", passphrase: .literal(RedactedText("1234")))
        let tokens = ConfiguredCredentials(
            [ConfiguredCredential(name: "device", content: .identity(token))], environment: [:])
        let problems = tokens.refresh(at: now).errors.map(\.description)
        let place = "credential device: pkcs11:object=device: "
        // The first is said where OpenSSL has no PKCS#11, the second where it has, but no token is there.
        let sentences = ["\(place)OpenSSL has no PKCS#11", "\(place)there is no such token"]
        #expect(problems.count == 1 && sentences.contains { problems[0].hasPrefix($0) }, "\(problems)")
    }

    @Test func `a certificate that expires is spoken of and used`() throws {
        let pair = try Pair()
        let (certificate, key) = try (TemporaryFile(pair.certificate), TemporaryFile(pair.key))
        let credentials = credentials(certificate, key)
        func warnings(_ time: WallTime) -> [String] { credentials.refresh(at: time).warnings.map(\.description) }
        #expect(warnings(now) == ["credential device: the certificate expires on 2027-01-17"])
        #expect(warnings(now + .days(3)) == ["credential device: the certificate expired on 2027-01-17"])
        #expect(warnings(now - .days(1)) == ["credential device: the certificate is not valid before 2027-01-15"])
        #expect(throws: Never.self) { try credentials.credential(named: "device") }
    }
}
