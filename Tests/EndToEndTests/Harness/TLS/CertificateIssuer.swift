import Foundation
import Synchronization

/// An authority of the tests: `openssl ca` with a folder of its own, which also knows what was revoked.
final class CertificateIssuer: Sendable {
    let name: String
    let identity: IssuedCertificate
    private let folder: String
    private let isRoot: Bool
    /// The database of `openssl ca` takes one change at a time.
    private let database = Mutex(())

    var certificate: String { identity.certificate }

    /// A root.
    init(root name: String) throws {
        self.name = name
        folder = try Self.folder(name)
        isRoot = true
        let terms = CertificateTerms(name: name, purpose: .authority(pathLength: nil)).with { $0.days = -400...4_000 }
        identity = try Self.sign(terms, by: nil, in: folder, keyFolder: folder)
    }

    /// An authority below another.
    init(_ terms: CertificateTerms, below parent: CertificateIssuer) throws {
        name = terms.name
        folder = try Self.folder(terms.name)
        isRoot = false
        identity = try parent.issue(terms, in: folder)
    }

    private static func folder(_ name: String) throws -> String {
        let folder = Scratch.folder("issuer")
        mkdir(folder + "/issued", 0o755)
        try Scratch.write("", to: folder + "/index.txt")
        let names = ["organizationName", "commonName"].map { "\($0) = optional\n" }.joined()
        let configuration = """
            [ca]
            default_ca = this
            [this]
            database = \(folder)/index.txt
            new_certs_dir = \(folder)/issued
            rand_serial = yes
            unique_subject = no
            default_md = sha256
            default_crl_days = 30
            policy = names
            [names]
            \(names)
            """
        try Scratch.write(configuration, to: folder + "/ca.conf")
        return folder
    }

    func issue(_ terms: CertificateTerms) throws -> IssuedCertificate {
        try issue(terms, in: Scratch.folder("certificate"))
    }

    private func issue(_ terms: CertificateTerms, in keyFolder: String) throws -> IssuedCertificate {
        try database.withLock { _ in
            try Self.sign(terms, by: (identity, isRoot), in: folder, keyFolder: keyFolder)
        }
    }

    /// A certificate that signed itself.
    static func selfSigned(_ terms: CertificateTerms) throws -> IssuedCertificate {
        try sign(terms, by: nil, in: folder(terms.name), keyFolder: Scratch.folder("certificate"))
    }

    /// - Parameter issuer: nil for a certificate that signs itself.
    private static func sign(
        _ terms: CertificateTerms, by issuer: (identity: IssuedCertificate, isRoot: Bool)?, in folder: String,
        keyFolder: String
    ) throws -> IssuedCertificate {
        let (certificate, key) = (keyFolder + "/certificate.pem", keyFolder + "/key.pem")
        let (request, extensions) = (keyFolder + "/request.pem", keyFolder + "/extensions")
        try Scratch.write("[req]\ndistinguished_name = none\n[none]\n", to: keyFolder + "/request.conf")
        try OpenSSLCommand.run(
            ["req", "-new", "-nodes", "-config", keyFolder + "/request.conf", "-subj", "/O=Zoo/CN=\(terms.name)"]
                + terms.key.options + ["-keyout", key, "-out", request])
        let identifier = issuer == nil ? "" : "authorityKeyIdentifier = keyid\n"
        try Scratch.write(identifier + terms.extensionLines, to: extensions)
        let signer =
            if let issuer {
                ["-cert", issuer.identity.certificate, "-keyfile", issuer.identity.key]
            } else {
                ["-selfsign", "-keyfile", key]
            }
        try OpenSSLCommand.run(
            ["ca", "-batch", "-notext", "-config", folder + "/ca.conf", "-md", terms.digest, "-extfile", extensions]
                + terms.dateOptions + signer + ["-in", request, "-out", certificate])
        // Servers read it after they have given up root.
        chmod(key, 0o644)
        let above = issuer.map { $0.isRoot ? [] : [$0.identity.certificate] + $0.identity.intermediates } ?? []
        return IssuedCertificate(certificate: certificate, key: key, intermediates: above)
    }

    // MARK: Revocation

    private var authority: [String] {
        ["-config", folder + "/ca.conf", "-cert", identity.certificate, "-keyfile", identity.key]
    }

    func revoke(_ revoked: IssuedCertificate) throws {
        try database.withLock { _ in
            _ = try OpenSSLCommand.run(
                ["ca", "-batch", "-revoke", revoked.certificate, "-crl_reason", "keyCompromise"] + authority)
        }
    }

    /// A file with the list of what has been revoked so far.
    func revocationList() throws -> String {
        let path = "\(folder)/\(UUID().uuidString.prefix(8)).crl"
        try database.withLock { _ in _ = try OpenSSLCommand.run(["ca", "-gencrl", "-out", path] + authority) }
        return path
    }

    /// A file with the OCSP response about a certificate, as a server staples it.
    /// - Parameter signer: who signs the response, if it is not the issuer.
    func staple(for subject: IssuedCertificate, signedBy signer: IssuedCertificate? = nil) throws -> String {
        let (request, response) = (subject.certificate + ".ocsp-request", subject.certificate + ".ocsp")
        let signer = signer ?? identity
        try OpenSSLCommand.run(
            "ocsp", "-issuer", certificate, "-cert", subject.certificate, "-no_nonce", "-reqout", request)
        try OpenSSLCommand.run(
            "ocsp", "-index", folder + "/index.txt", "-CA", certificate, "-rsigner", signer.certificate,
            "-rkey", signer.key, "-reqin", request, "-respout", response, "-ndays", "7")
        return response
    }
}
