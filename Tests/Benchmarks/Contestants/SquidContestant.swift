import Glibc

/// squid with ssl-bump: the other proxy that looks into tunnels. The distribution's usual squid is built without OpenSSL,
/// and the one that has it cannot be installed beside that: it is only unpacked.
enum SquidContestant {
    /// Nil where there is no squid that can do it, which fails the run.
    static func bumping(_ certificates: Certificates, in setting: Setting) -> Contestant? {
        let (folder, workspace) = (setting.options.squid, setting.workspace)
        let (binary, helper) = ("\(folder)/usr/sbin/squid", "\(folder)/usr/lib/squid/security_file_certgen")
        let (own, store) = ("\(workspace.path)/squid", "\(workspace.path)/squid/leaves")
        // squid refuses to be root, and has to read what is in the workspace.
        let isRoot = getuid() == 0
        do {
            try Child.run([binary, "-v"])
            try Child.run(["mkdir", own])
            try Child.run([helper, "-c", "-s", store, "-M", "4MB"])
            if isRoot {
                try Child.run(["chmod", "755", workspace.path])
                try Child.run(["chmod", "644", certificates.authorityBundle, certificates.root])
                try Child.run(["chown", "-R", "nobody", own])
            }
        } catch {
            setting.miss("squid with ssl-bump is not installed in \(folder): \(error)")
            return nil
        }
        let drop = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        return Contestant(
            name: "squid", route: { .intercepted(proxy: $0) },
            configuration: { port, _ in
                """
                http_port 127.0.0.1:\(port) ssl-bump tls-cert=\(certificates.authorityBundle) \
                generate-host-certificates=on dynamic_cert_mem_cache_size=4MB
                sslcrtd_program \(helper) -s \(store) -M 4MB
                sslcrtd_children 2 startup=2
                tls_outgoing_options cafile=\(certificates.root)
                sslproxy_cert_error allow all
                acl step1 at_step SslBump1
                ssl_bump peek step1
                ssl_bump bump all
                http_access allow all
                cache deny all
                access_log none
                cache_log \(own)/squid.log
                cache_store_log none
                pid_filename \(own)/squid.pid
                coredump_dir \(own)
                pinger_enable off
                workers 1
                shutdown_lifetime 1 seconds

                """
            },
            command: { (isRoot ? drop : []) + [binary, "-N", "-n", service, "-f", $0] })
    }

    /// Removes the shared memory that squid leaves behind.
    static func cleanUp() { _ = try? Child.run(["sh", "-c", "rm -f /dev/shm/\(service)-*"]) }

    /// The name of its shared memory begins with this.
    private static let service = "bench\(getpid())"
}
