import Foundation
import TestSupport
import Testing

/// Client certificates whose keys stay in a PKCS#11 token.
@Suite(.serialized, .enabled(if: SoftToken.isInstalled, "SoftHSM or OpenSSL's engine pkcs11 is not installed"))
struct TokenIdentityTests {
    private func rules(_ object: String = "client", of name: String = "vault", pin: String? = SoftToken.pin) -> String {
        let passphrase = pin == nil ? "" : "passphrase file @/pin"
        return """
            credential device { pkcs11 "pkcs11:token=\(name);object=\(object)"; \(passphrase) }
            challenge { host *.example.test; method client-certificate; use device }

            """
    }

    /// The token has no intermediate certificates, so the issuer of its certificate is the root.
    private func identity(_ key: CertificateTerms.Key) throws -> IssuedCertificate {
        let terms = CertificateTerms(name: "client-token", purpose: .client).with { $0.key = key }
        return try Hierarchy.shared().root.issue(terms)
    }

    @Test(arguments: [true, false]) func `a certificate is shown with the key in the token`(isRSA: Bool) throws {
        let token = try SoftToken()
        try token.fill(with: identity(isRSA ? .rsa(bits: 2048) : .p256), as: "client")
        let setting = AttacheProcess.Setting(
            threads: 1, environment: token.environment, files: ["pin": SoftToken.pin + "\n"])
        try AttacheProcess.visitingZoo(rules(), setting: setting) { proxy throws in
            for server in ["client-required", "client-required-tls12"] {
                for _ in 1...2 {
                    let fetched = try proxy.visit(Specimen[server], "/client", by: .upgraded)
                    #expect(fetched.text == "SUCCESS CN=client-token,O=Zoo\n", "\(fetched) \(proxy.errorOutput)")
                }
            }
        }
    }

    @Test(
        arguments: [
            ("client", "vault", nil, "the token wants a PIN: add 'passphrase'"),
            ("client", "vault", "0000", "the token refuses the PIN: correct 'passphrase' first"),
            ("client", "vault", "1", "the token refuses the PIN"),
            ("client", "vault", String(repeating: "1", count: 300), "the token refuses the PIN"),
            ("nothing", "vault", SoftToken.pin, "the token has no such object: list what it has with"),
            ("client", "elsewhere", SoftToken.pin, "there is no such token: list those that are there with"),
        ] as [(String, String, String?, String)])
    func `what is wrong is one sentence, and the proxy does not start without the certificate`(
        object: String, name: String, pin: String?, words: String
    ) throws {
        let token = try SoftToken()
        try token.fill(with: identity(.p256), as: "client")
        let folder = Scratch.folder("token")
        let text = AttacheProcess.ruleFile(
            rules(object, of: name, pin: pin), .init(), port: FreePort.take(), adminPort: FreePort.take(),
            folder: folder)
        try Scratch.write(text, to: folder + "/proxy.conf")
        try Scratch.write((pin ?? "") + "\n", to: folder + "/pin", mode: 0o600)
        let run = try Finished.run(
            AttacheBinary.path, ["run", "--config", folder + "/proxy.conf"], environment: token.environment,
            directory: folder)
        #expect(run.status == 1)
        let lines = run.errorOutput.split(separator: "\n").filter { $0.contains("device") }
        #expect(lines.count == 1, "\(run)")
        let line = "attache: credential device: pkcs11:token=\(name);object=\(object): \(words)"
        #expect(lines.first?.hasPrefix(line) == true, "\(run)")
    }
}
