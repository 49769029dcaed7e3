import Glibc
import IO

/// squid behind the contestants, as the parent proxy of a company: it asks for a user and a password.
final class SquidParent {
    /// How it asks.
    enum Scheme: String, CaseIterable {
        case basic
        /// One login for each connection. Any answer is accepted, which costs the contestants the same.
        case ntlm
    }

    static let user = "bench"
    static let domain = "BENCH"
    static let password = "secret"

    let port: UInt16
    private let child: Child

    /// Nil where there is no squid, which fails the run.
    init?(_ scheme: Scheme, in setting: Setting) throws(BenchError) {
        let (folder, workspace) = (setting.options.squid, setting.workspace)
        guard Workspace.size(of: "\(folder)/usr/sbin/squid") != nil else {
            setting.miss("squid is not installed: there is no \(folder)/usr/sbin/squid to be a parent")
            return nil
        }
        port = try RunningContestant.freePort()
        let own = "\(workspace.path)/parent-\(scheme.rawValue)"
        try Child.run(["mkdir", own])
        let hash = try Child.run(["openssl", "passwd", "-5", Self.password])
        let users = try workspace.write("\(Self.user):\(hash)", to: "parent-\(scheme.rawValue)/users")
        let file = try workspace.write(
            Self.configuration(scheme, port, own, users, helpers: "\(folder)/usr/lib/squid"),
            to: "parent-\(scheme.rawValue)/squid.conf")
        var command = ["\(folder)/usr/sbin/squid", "-N", "-n", Self.service + scheme.rawValue, "-f", file]
        // squid refuses to be root, and has to read what is in the workspace.
        if getuid() == 0 {
            try Child.run(["chmod", "755", workspace.path])
            try Child.run(["chown", "-R", "nobody", own])
            command = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] + command
        }
        child = try Child(command, log: "\(workspace.path)/parent-\(scheme.rawValue).log")
        if RunningContestant.listens(child, on: port) { return }
        let words = (Workspace.text("\(own)/squid.log") ?? "").suffix(500)
        throw .machine("squid did not start as a parent: \(words)")
    }

    func stop() {
        child.stop()
        _ = try? Child.run(["sh", "-c", "rm -f /dev/shm/\(Self.service)*"])
    }

    /// The name of its shared memory, which it leaves behind, begins with this.
    private static let service = "benchparent\(getpid())"

    private static func configuration(
        _ scheme: Scheme, _ port: UInt16, _ own: String, _ users: String, helpers: String
    ) -> String {
        let demand =
            switch scheme {
            case .basic:
                """
                auth_param basic program \(helpers)/basic_ncsa_auth \(users)
                auth_param basic children 2 startup=1
                auth_param basic realm bench
                """
            case .ntlm:
                """
                auth_param ntlm program \(helpers)/ntlm_fake_auth
                auth_param ntlm children 32 startup=4
                """
            }
        return """
            http_port 127.0.0.1:\(port)
            \(demand)
            acl known proxy_auth REQUIRED
            http_access allow known
            http_access deny all
            cache deny all
            access_log none
            cache_log \(own)/squid.log
            cache_store_log none
            pid_filename none
            netdb_filename none
            coredump_dir \(own)
            pinger_enable off
            client_idle_pconn_timeout 10 minutes
            server_idle_pconn_timeout 10 minutes
            shutdown_lifetime 0 seconds

            """
    }
}
