import Foundation

/// A real vsftpd in the foreground, run by the user who runs the tests. It knows one user, `anonymous`, with the
/// password of the harness.
final class VsftpdServer: Sendable {
    private static let started = Result { try VsftpdServer(as: nil) }

    /// The server without TLS.
    static func shared() throws -> VsftpdServer { try started.get() }

    static let user = "anonymous"

    let port: UInt16
    let root: String
    private let log: String
    private let child: Subprocess

    /// - Parameter identity: what it shows by TLS, which it then wants of everybody.
    init(as identity: IssuedCertificate?) throws {
        let folder = Scratch.folder("vsftpd")
        port = FreePort.take()
        root = folder + "/root"
        log = folder + "/log"
        for name in ["", "/pub", "/pub/<b> & c", "/up"] { mkdir(root + name, 0o755) }
        chmod(root + "/up", 0o777)
        try Scratch.write("hello, ftp\n", to: root + "/pub/hello.txt")
        try Scratch.write("", to: root + "/pub/empty")
        try Scratch.write("odd\n", to: root + "/pub/<b> & c/x:y%.txt")
        try Scratch.write(Account.password + "\n", to: folder + "/passwords")
        var lines = [
            "listen=YES", "listen_address=127.0.0.1", "listen_port=\(port)", "background=NO",
            "run_as_launching_user=YES", "ftp_username=nobody", "seccomp_sandbox=NO", "use_localtime=NO",
            "anonymous_enable=YES", "local_enable=NO", "anon_root=\(root)", "secure_email_list_enable=YES",
            "email_password_file=\(folder)/passwords", "write_enable=YES", "anon_upload_enable=YES",
            "anon_other_write_enable=YES", "anon_umask=022", "xferlog_enable=YES", "xferlog_std_format=NO",
            "log_ftp_protocol=YES", "vsftpd_log_file=\(log)",
        ]
        if let identity {
            lines += [
                "ssl_enable=YES", "ssl_tlsv1=YES", "allow_anon_ssl=YES", "force_anon_logins_ssl=YES",
                "force_anon_data_ssl=YES", "require_ssl_reuse=YES", "ssl_ciphers=HIGH",
                "rsa_cert_file=\(try identity.chain())", "rsa_private_key_file=\(identity.key)",
            ]
        }
        // It reads no settings but those of the user who runs it, each on a line of its own without blanks.
        try Scratch.write(lines.map { $0 + "\n" }.joined(), to: folder + "/vsftpd.conf", mode: 0o600)
        child = try Subprocess("vsftpd", [folder + "/vsftpd.conf"], directory: folder)
        try Socket.awaitListener(on: port, of: child)
    }

    func url(_ path: String, host: String = "127.0.0.1") -> String { "ftp://\(host):\(port)\(path)" }

    /// A rule that logs in with the password of the harness.
    func rule(host: String = "127.0.0.1") -> String {
        """
        credential files { user \(Self.user); password file @/password }
        challenge { protocol ftp; host \(host); port \(port); use files }

        """
    }

    /// How often a line of the log holds all of these.
    func count(of parts: String...) -> Int {
        Scratch.read(log).split(separator: "\n").filter { line in parts.allSatisfy { line.contains($0) } }.count
    }
}
