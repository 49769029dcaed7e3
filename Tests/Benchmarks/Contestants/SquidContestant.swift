/// squid with ssl-bump: the other proxy that looks into tunnels. Optional, since the distribution's usual squid is built
/// without OpenSSL and the one that has it cannot be installed beside that.
enum SquidContestant {
    /// Nil, with a word on standard error, where there is no squid that can do it.
    /// - Parameter folder: where the package `squid-openssl` is unpacked, or `/`.
    static func bumping(
        _ folder: String, _ certificates: Certificates, in workspace: Workspace
    ) -> Contestant? {
        let (binary, helper) = ("\(folder)/usr/sbin/squid", "\(folder)/usr/lib/squid/security_file_certgen")
        let store = "\(workspace.path)/squid-leaves"
        do {
            try Child.run([binary, "-v"])
            try Child.run([helper, "-c", "-s", store, "-M", "4MB"])
        } catch {
            Bench.note("no squid with ssl-bump in \(folder): nothing is compared with it")
            return nil
        }
        return Contestant(
            name: "squid", route: { .intercepted(proxy: $0) },
            configuration: { port, directory in
                """
                http_port 127.0.0.1:\(port) ssl-bump tls-cert=\(certificates.authorityBundle) \
                generate-host-certificates=on dynamic_cert_mem_cache_size=4MB
                sslcrtd_program \(helper) -s \(store) -M 4MB
                sslcrtd_children 2
                tls_outgoing_options cafile=\(certificates.root)
                acl step1 at_step SslBump1
                ssl_bump peek step1
                ssl_bump bump all
                http_access allow all
                cache deny all
                access_log none
                cache_log \(directory)/squid.log
                cache_store_log none
                pid_filename \(directory)/squid.pid
                coredump_dir \(directory)
                cache_effective_user root
                workers 1
                shutdown_lifetime 1 seconds

                """
            },
            command: { [binary, "-N", "-n", "bench", "-f", $0] })
    }
}
