import Foundation

/// A certificate that an issuer made, with its key: paths of PEM files.
struct IssuedCertificate: Sendable {
    let certificate: String
    let key: String
    /// The certificates that issued it, the nearest first, without the root.
    let intermediates: [String]

    /// A file with these certificates one after another.
    static func bundle(_ certificates: [String]) throws -> String {
        let path = "\(Scratch.root)/bundle.\(UUID().uuidString.prefix(8)).pem"
        try Scratch.write(certificates.map(Scratch.read).joined(), to: path)
        return path
    }

    /// A file with the certificate and what made it, as servers send it.
    func chain() throws -> String { try Self.bundle([certificate] + intermediates) }

    /// The SHA-256 of the public key as a rule says it: `sha256/BASE64`.
    func pin() throws -> String {
        // Tests that ask at the same time do not share the files.
        let publicKey = "\(certificate).\(UUID().uuidString).spki"
        let text = try OpenSSLCommand.run("x509", "-in", certificate, "-noout", "-pubkey")
        try Scratch.write(text, to: publicKey)
        try OpenSSLCommand.run("pkey", "-pubin", "-in", publicKey, "-outform", "DER", "-out", publicKey + ".der")
        try OpenSSLCommand.run("dgst", "-sha256", "-binary", "-out", publicKey + ".hash", publicKey + ".der")
        return "sha256/" + Data(Scratch.bytes(publicKey + ".hash")).base64EncodedString()
    }

    /// The certificate with the last byte of the signature changed.
    func withBrokenSignature() throws -> IssuedCertificate {
        let base64 = Scratch.read(certificate).split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        guard var der = Data(base64Encoded: base64), let last = der.popLast() else {
            throw Spawn.Failure(description: "\(certificate) is no PEM file")
        }
        der.append(last ^ 1)
        let text = der.base64EncodedString(options: .lineLength64Characters).replacing("\r\n", with: "\n")
        let path = certificate + ".broken"
        try Scratch.write("-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n", to: path)
        return IssuedCertificate(certificate: path, key: key, intermediates: intermediates)
    }
}
