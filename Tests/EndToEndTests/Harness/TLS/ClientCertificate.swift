import Foundation

/// The certificates of the tests' clients, each made once per run.
enum ClientCertificate {
    static let passphrase = "Op3n-The-Key-5"

    /// Made by `Hierarchy.issuing`; its subject is `CN=…,O=Zoo`.
    static let good = Result { try Hierarchy.shared().issuing.issue(terms("client-good")) }
    static let renewed = Result { try Hierarchy.shared().issuing.issue(terms("client-renewed")) }
    static let rsa = Result {
        try Hierarchy.shared().issuing.issue(terms("client-rsa").with { $0.key = .rsa(bits: 2048) })
    }
    static let expired = Result {
        try Hierarchy.shared().issuing.issue(terms("client-expired").with { $0.days = -60 ... -2 })
    }
    static let elsewhere = Result { try Hierarchy.shared().elsewhereIssuing.issue(terms("client-elsewhere")) }

    private static func terms(_ name: String) -> CertificateTerms { CertificateTerms(name: name, purpose: .client) }

    /// A file with the key of `identity`, encrypted with the passphrase.
    static func encryptedKey(of identity: IssuedCertificate) throws -> String {
        let path = identity.key + ".encrypted"
        try OpenSSLCommand.run("pkey", "-in", identity.key, "-aes256", "-passout", "pass:\(passphrase)", "-out", path)
        return path
    }

    /// A PKCS#12 file with key, certificate and intermediates, under the passphrase.
    static func archive(of identity: IssuedCertificate) throws -> String {
        let path = identity.certificate + ".p12"
        let chain = try IssuedCertificate.bundle(identity.intermediates)
        try OpenSSLCommand.run(
            "pkcs12", "-export", "-in", identity.certificate, "-inkey", identity.key, "-certfile", chain, "-passout",
            "pass:\(passphrase)", "-out", path)
        chmod(path, 0o644)
        return path
    }
}
