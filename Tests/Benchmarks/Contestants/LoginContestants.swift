/// The programs whose whole purpose is to answer a parent proxy's 407 for others. Both are optional.
enum LoginContestants {
    /// cntlm: NTLM only, a thread for each connection. Its NTLMv2 wants target information, which squid's helper leaves out;
    /// what it does instead costs no more, and only once for each connection.
    /// - Returns: nil where it is not in `folder`, in which its package is unpacked.
    static func cntlm(_ folder: String, parent: UInt16) -> Contestant? {
        let binary = "\(folder)/usr/sbin/cntlm"
        guard Workspace.size(of: binary) != nil else {
            Bench.note("no cntlm in \(folder): nothing is compared with it")
            return nil
        }
        return Contestant(
            name: "cntlm", route: { .oldForward(proxy: $0) },
            configuration: { port, _ in
                """
                Username \(SquidParent.user)
                Domain \(SquidParent.domain)
                Password \(SquidParent.password)
                Auth NTLM2SR
                Workstation BENCH
                Proxy 127.0.0.1:\(parent)
                Listen 127.0.0.1:\(port)

                """
            },
            command: { [binary, "-f", "-c", $0] })
    }

    /// px: Python over libcurl.
    /// - Returns: nil where it is not in `folder`, into which pip puts it.
    static func px(_ folder: String, _ scheme: SquidParent.Scheme, parent: UInt16) -> Contestant? {
        guard Workspace.size(of: "\(folder)/px/__main__.py") != nil else {
            Bench.note("no px in \(folder): nothing is compared with it")
            return nil
        }
        let user = scheme == .ntlm ? "\(SquidParent.domain)\\\(SquidParent.user)" : SquidParent.user
        return Contestant(
            name: "px", route: { .oldForward(proxy: $0) },
            configuration: { port, _ in
                """
                [proxy]
                server = 127.0.0.1:\(parent)
                listen = 127.0.0.1
                port = \(port)
                auth = \(scheme.rawValue.uppercased())
                username = \(user)

                [settings]
                workers = 1
                threads = 64
                idle = 600
                foreground = 1

                """
            },
            command: { file in
                ["env", "PYTHONPATH=\(folder)", "PX_PASSWORD=\(SquidParent.password)"]
                    + ["python3", "-m", "px", "--config=\(file)"]
            })
    }
}
