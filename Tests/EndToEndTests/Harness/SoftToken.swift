import Foundation

/// A token of SoftHSM 2 with a folder of its own, used through p11-kit as any other token is.
struct SoftToken {
    static let pin = "7401"
    /// Whether SoftHSM, the tool that fills it, and OpenSSL's way to it are installed.
    static let isInstalled =
        ["softhsm2-util", "p11tool"].allSatisfy { (try? Spawn.executable($0)) != nil }
        && ["engines-3/pkcs11.so", "ossl-modules/pkcs11.so"].contains { name in
            ["x86_64", "aarch64"].contains { access("/usr/lib/\($0)-linux-gnu/\(name)", R_OK) == 0 }
        }

    let folder: String

    init() throws {
        folder = Scratch.folder("softhsm")
        mkdir(folder + "/tokens", 0o700)
        try Scratch.write("directories.tokendir = \(folder)/tokens\nlog.level = ERROR\n", to: folder + "/softhsm2.conf")
    }

    var environment: [String: String] { ["SOFTHSM2_CONF": folder + "/softhsm2.conf"] }

    /// Makes the token `vault`, with the certificate and its key under a label.
    func fill(with identity: IssuedCertificate, as label: String) throws {
        try run("softhsm2-util", "--init-token", "--free", "--label", "vault", "--pin", Self.pin, "--so-pin", "987654")
        for object in ["--load-privkey=\(identity.key)", "--load-certificate=\(identity.certificate)"] {
            try run(
                "p11tool", "--batch", "--login", "--write", object, "--label", label, "--id", "01", "pkcs11:token=vault"
            )
        }
    }

    private func run(_ program: String, _ arguments: String...) throws {
        let run = try Finished.run(
            program, arguments, environment: environment.merging(["GNUTLS_PIN": Self.pin]) { $1 }, directory: folder)
        guard run.succeeded else { throw Spawn.Failure(description: run.description) }
    }
}
