import Foundation

/// OpenSSH's server, which one key of the test's own logs in to, as the user of the run. No service of the machine is touched.
final class SSHServer: Sendable {
    let port = FreePort.take()
    private let folder: String
    private let child: Subprocess

    init() throws {
        folder = Scratch.folder("sshd")
        for name in ["host", "user"] {
            let run = try Finished.run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", "\(folder)/\(name)"])
            guard run.succeeded else { throw Spawn.Failure(description: "\(run)") }
        }
        let key = Scratch.read(folder + "/host.pub").split(separator: " ").prefix(2).joined(separator: " ")
        try Scratch.write("[127.0.0.1]:\(port) \(key)\n", to: folder + "/known")
        try Scratch.write(
            """
            ListenAddress 127.0.0.1
            Port \(port)
            HostKey \(folder)/host
            AuthorizedKeysFile \(folder)/user.pub
            PidFile none
            StrictModes no
            UsePAM no

            """, to: folder + "/sshd_config")
        let words = [try Spawn.executable("sshd"), "-D", "-e", "-f", folder + "/sshd_config"]
        if geteuid() == 0 {
            // For root it wants a folder below /run, which is not made there.
            let script = "mount -t tmpfs none /run && mkdir -m 755 /run/sshd && exec \"$0\" \"$@\""
            child = try Subprocess("unshare", ["-m", "sh", "-c", script] + words, directory: folder)
        } else {
            child = try Subprocess(words[0], Array(words.dropFirst()), directory: folder)
        }
        try Socket.awaitListener(on: port, of: child)
    }

    var errorOutput: String { child.errorOutput }

    /// Runs a command by ssh.
    /// - Parameter proxy: the command by which ssh reaches the server.
    func run(_ command: String, by proxy: String) throws -> Finished {
        try Finished.run(
            "ssh",
            [
                "-F", "none", "-i", folder + "/user", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o",
                "UserKnownHostsFile=\(folder)/known", "-o", "ProxyCommand=\(proxy)", "-p", "\(port)",
                "\(NSUserName())@127.0.0.1", command,
            ])
    }
}
