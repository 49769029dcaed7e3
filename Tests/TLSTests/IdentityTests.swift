import Crypto
import Foundation
import Testing

@testable import TLS

struct IdentityTests {
    private static let forms: [(String, String?, String?)] = [
        ("leaf.pem", "leaf.key", nil), ("leaf.pem", "ec.key", nil), ("leaf.pem", "parameters.key", nil),
        ("leaf.pem", "encrypted.key", "sesame"), ("leaf.pem", "triple-des.key", "sesame"),
        ("leaf.pem", "rc2.key", "sesame"), ("leaf.pem", "traditional.key", "sesame"),
        ("leaf.pem", "leaf.key", "not needed"), ("mixed.pem", "leaf.key", nil), ("all.pem", nil, nil),
        ("modern.p12", nil, "sesame"), ("legacy.p12", nil, "sesame"), ("triple-des.p12", nil, "sesame"),
        ("open.p12", nil, nil), ("keyless.p12", "leaf.key", nil), ("nomac.p12", nil, "sesame"),
        ("open-nomac.p12", nil, nil), ("line.p12", nil, "sesame"), ("lines.p12", nil, "sesame"),
        ("windows.p12", nil, "sesame"), ("leaf.cer", "leaf.key", nil),
    ]

    private static let chains: [(String, String?, String?)] = [
        ("mixed.pem", "leaf.key", nil), ("modern.p12", nil, "sesame"), ("legacy.p12", nil, "sesame"),
    ]

    private static let failures: [(String, String?, String?, Identity.Failure)] = [
        ("leaf.key", "leaf.key", nil, .noCertificate), ("leaf.pem", nil, nil, .noKey),
        ("leaf.pem", "root.pem", nil, .noKey), ("leaf.pem", "other.key", nil, .keyMismatch),
        ("leaf.pem", "encrypted.key", nil, .passphraseMissing),
        ("leaf.pem", "encrypted.key", "open", .wrongPassphrase), ("leaf.pem", "rc2.key", "open", .wrongPassphrase),
        ("leaf.pem", "rc2.key", nil, .passphraseMissing), ("leaf.pem", "traditional.key", "open", .wrongPassphrase),
        ("leaf.pem", "traditional.key", nil, .passphraseMissing), ("modern.p12", nil, "open", .wrongPassphrase),
        ("modern.p12", nil, nil, .passphraseMissing), ("legacy.p12", nil, "open", .wrongPassphrase),
        ("keyless.p12", nil, nil, .noKey), ("nomac.p12", nil, "open", .wrongPassphrase),
        ("nomac.p12", nil, nil, .passphraseMissing), ("line.p12", nil, "open", .wrongPassphrase),
        ("leaf.cer", nil, nil, .noKey),
    ]

    private var files: IdentityFiles { get throws { try IdentityFiles.shared.get() } }

    @Test(arguments: forms)
    func `a leaf and its key are read in every form`(certificate: String, key: String?, passphrase: String?) throws {
        let identity = try files.identity(certificate, key, passphrase: passphrase)
        #expect(identity.leaf.der == (try files.identity("leaf.pem", "leaf.key").leaf.der))
        // The key is whole, and of the library that the process uses: it can be written out.
        #expect(try identity.key.pem() == files.identity("leaf.pem", "leaf.key").key.pem())
    }

    @Test(arguments: ["rsa.key", "traditional-rsa.key"])
    func `an RSA key may have either form`(key: String) throws {
        #expect(try files.identity("rsa.pem", key).intermediates.isEmpty)
    }

    @Test(arguments: chains)
    func `the chain is sent from the leaf upwards and without its root`(
        certificate: String, key: String?, passphrase: String?
    ) throws {
        let identity = try files.identity(certificate, key, passphrase: passphrase)
        let pem = try files.bytes("middle.pem")
        let middle = try Certificate.all(inPEM: pem.span)
        #expect(identity.intermediates.map(\.der) == middle.map(\.der))
    }

    @Test(arguments: failures)
    func `each kind of file without an identity has its own sentence`(
        certificate: String, key: String?, passphrase: String?, expected: Identity.Failure
    ) throws {
        #expect(throws: expected) { try files.identity(certificate, key, passphrase: passphrase) }
    }

    @Test func `a damaged file is an error and nothing worse`() throws {
        for name in ["all.pem", "modern.p12", "legacy.p12", "nomac.p12", "line.p12"] {
            let whole = try files.bytes(name)
            for step in stride(from: 0, to: whole.count, by: max(1, whole.count / 40)) {
                #expect(throws: Identity.Failure.self) {
                    try Identity(
                        certificate: .content(Secret(whole.span.extracting(first: step))), passphrase: Secret("sesame"))
                }
                var damaged = whole
                damaged[step] ^= 0x55
                // Some places of a file mean nothing.
                _ = try? Identity(certificate: .content(Secret(damaged.span)), passphrase: Secret("sesame"))
            }
        }
    }

    @Test func `a file without end is not read`() {
        let endless = Identity.Material.content(
            Secret(String(repeating: "0", count: Identity.Material.limit + 1)))
        #expect(throws: Identity.Failure.tooLarge(limit: Identity.Material.limit)) {
            try Identity(certificate: endless)
        }
    }

    @Test func `a changed chain is another identity`() throws {
        let alone = try files.identity("leaf.pem", "leaf.key")
        let again = try files.identity("all.pem")
        #expect(alone.fingerprint != again.fingerprint)
        #expect(again.fingerprint == (try files.identity("mixed.pem", "ec.key").fingerprint))
    }

    /// A system has OpenSSL's provider or engine for PKCS#11, or not; none of them has this token.
    @Test func `a token that is not there gives no identity`() throws {
        let uri = "pkcs11:token=ours;object=device"
        let certificate = Identity.Material.content(Secret(try files.text("leaf.pem")))
        for (material, key) in [
            (Identity.Material.token(uri: uri), nil), (certificate, Identity.Material.token(uri: uri)),
        ] {
            let error = #expect(throws: Identity.Failure.self) {
                try Identity(certificate: material, key: key, passphrase: Secret("1234"))
            }
            #expect([.noTokenProvider, .noSuchToken].contains(error))
        }
    }

    /// The default provider's store of files takes the place of a token's.
    @Test func `objects come out of an OpenSSL store`() throws {
        let command = try OpenSSLCommand()
        defer { command.remove() }
        func uri(_ name: String) throws -> String {
            try command.write(files.bytes(name), to: name)
            return "file:\(command.folder.path)/\(name)"
        }
        let key = try TokenObjects.read(storeURI: uri("encrypted.key"), pin: Secret("sesame")).key
        #expect(try key?.pem() == files.identity("all.pem").key.pem())
        #expect(try TokenObjects.read(storeURI: uri("mixed.pem"), pin: nil).certificates.count == 3)
        #expect(throws: Identity.Failure.wrongPassphrase) {
            try TokenObjects.read(storeURI: uri("encrypted.key"), pin: Secret("open"))
        }
        #expect(throws: Identity.Failure.pinMissing) {
            try TokenObjects.read(storeURI: uri("encrypted.key"), pin: nil)
        }
        #expect(throws: Identity.Failure.unreadableToken) {
            try TokenObjects.read(storeURI: "file:/nonexistent", pin: nil)
        }
        // A store that is opened and has no object, as a token without one of that label.
        try command.run("mkdir empty")
        for pin in [nil, Secret("sesame")] {
            #expect(throws: Identity.Failure.noSuchObject) {
                try TokenObjects.read(storeURI: "file:\(command.folder.path)/empty", pin: pin)
            }
        }
    }
}
